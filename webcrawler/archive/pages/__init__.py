"""The bytes as they came: WARC files (ISO 28500, WARC 1.1), one gzip member a record.

`PageStore` appends, `record_at`, `records` and `in_order` read, `rewrite` makes a file of another.
A file may be elsewhere, where `put` put it: then it is read there.

A response is kept as a `response` record with its decoded body, a duplicate as a `revisit` record without it,
a failure without an answer as a `metadata` record of JSON. Each says its state and reason (WARC-Crawl-State:
failed/not-found) and what was asked for, so that `in_order` is enough to make a catalog of.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from webcrawler import clock
from webcrawler.archive.pages._copies import lost_copies, put, remove
from webcrawler.archive.pages._listed import is_complete, is_here, listed, names, size_of
from webcrawler.archive.pages._members import members, next_record, whole_record
from webcrawler.archive.pages._opened import FILE_BYTES, opened
from webcrawler.archive.pages._records import (
    KEPT,
    Record,
    Response,
    framed,
    in_order,
    kept,
    record,
    record_at,
    records,
    records_from,
    warcinfo,
)
from webcrawler.errors import BadInput, Unavailable
from webcrawler.files import replaced, sync_folder
from webcrawler.records import Entry, Place

__all__ = [
    "FILE_BYTES",
    "KEPT",
    "PageStore",
    "Raw",
    "Record",
    "Response",
    "WarcFile",
    "in_order",
    "is_complete",
    "is_here",
    "listed",
    "lost_copies",
    "names",
    "next_record",
    "opened",
    "put",
    "raw_at",
    "raw_records",
    "record_at",
    "records",
    "records_from",
    "remove",
    "rewrite",
    "size_of",
    "successor",
    "whole_record",
]

MAX_FILE_BYTES = 1_000_000_000
GZIP_LEVEL = 1
_OF_A_REVISIT = ("WARC-Profile", "WARC-Refers-To")
_FRAME = ("WARC-Type", "WARC-Record-ID", "Content-Type", "Content-Length")  # written anew


class PageStore:
    """Appends to a file of its own in `folder`; not for two threads at the same time.

    It holds a lock on that file until it is closed: nobody else may take it for complete.

    Args:
        search: the search of the web whose fetches it stores.
    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(self, folder: Path, search: str = "", max_file_bytes: int = MAX_FILE_BYTES) -> None:
        self.folder, self._search = folder, search
        self._max_file_bytes = max_file_bytes
        self._file: BinaryIO | None = None
        self._name = ""
        self._end = 0
        self._pending: list[bytes] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"The folder {folder} cannot be written: {error}.") from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise BadInput(f"The folder {folder} cannot be written: no permission.")

    def append(self, entry: Entry) -> Place:
        """Take in the record of one fetch; it stands at its place after the next `sync`.

        Raises:
            Unavailable: as `sync`.
        """
        sys.audit("webcrawler.pages.before-append")
        place = self._append(record(entry, self._search))
        sys.audit("webcrawler.pages.after-append")
        return place

    def keep(self, url: str) -> None:
        """Take in the record that says that a find of the search, fetched by this URL, is kept."""
        self._append(kept(url, self._search))

    def sync(self) -> None:
        """Write what was appended and wait for the disk.

        Raises:
            Unavailable: the disk is full or broken; append anew what was appended since the last sync.
        """
        if self._file is None:
            return
        pending, self._pending = self._pending, []
        try:
            sys.audit("webcrawler.pages.before-write")
            self._file.write(b"".join(pending))
            self._file.flush()
            sys.audit("webcrawler.pages.before-fsync")
            os.fsync(self._file.fileno())
            sys.audit("webcrawler.pages.after-fsync")
        except OSError as error:
            self._leave_file()
            raise Unavailable(f"{self.folder / self._name} cannot be written now: {error}.") from error

    def close(self) -> None:
        self.sync()
        self._leave_file()

    def _append(self, record: bytes) -> Place:
        # Between two batches only: what is closed is in the catalog.
        if self._end >= self._max_file_bytes and not self._pending:
            self._leave_file()
        if self._file is None:
            self._start_file()
        place = Place(self._name, self._end)
        self._put(record)
        return place

    def _start_file(self) -> None:
        name = f"{datetime.fromtimestamp(clock.now(), UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}.warc.gz"
        path = self.folder / name
        try:
            file = path.open("xb")
            try:
                with suppress(OSError):  # where there are no locks, nothing is put elsewhere
                    fcntl.flock(file, fcntl.LOCK_EX)
                sys.audit("webcrawler.pages.new-file")
                sync_folder(self.folder)
            except OSError:  # its name may not last, so nothing is written to it
                file.close()
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise Unavailable(f"{path} cannot be written now: {error}.") from error
        self._file, self._name, self._end = file, name, 0
        self._put(warcinfo(name))

    def _leave_file(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # bytes that a full disk did not take
                self._file.close()
        self._file, self._pending, self._end = None, [], 0

    def _put(self, record: bytes) -> None:
        member = _packed(record)
        self._pending.append(member)
        self._end += len(member)


class Raw:
    """A record as its bytes, for those who copy it: reading a header field costs a microsecond."""

    def __init__(self, offset: int, member: bytes) -> None:
        self.offset, self.content = offset, member
        head = member[: member.index(b"\r\n\r\n")].decode("utf-8", "replace")
        self._fields = [line.partition(": ")[::2] for line in head.split("\r\n")[1:]]

    def field(self, name: str) -> str:
        return dict(self._fields).get(name, "")

    def as_response(self, body: bytes) -> bytes:
        """This revisit record as the response that it stands for."""
        left_out = (*_OF_A_REVISIT, *_FRAME)
        fields = [(name, value) for name, value in self._fields if not name.startswith(left_out)]
        http = self.content.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n\r\n")
        return framed("response", fields, "application/http; msgtype=response", http, body)


class WarcFile:
    """Writes records to an open file, gzip member by gzip member."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self.write(warcinfo(name))

    def write(self, record: bytes) -> None:
        self._file.write(_packed(record))

    def copy(self, record: Raw) -> None:
        self.write(record.content)


def raw_at(folder: Path, place: Place) -> Raw:
    """The record at a place.

    Raises:
        Unavailable: the file is missing, or the record is torn.
    """
    path = folder / place.file
    try:
        with opened(folder, place.file) as file:
            for offset, _, member in members(file, place.offset):
                if offset == place.offset:
                    return Raw(offset, member)
                break
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error
    raise Unavailable(f"{path} has no whole record at {place.offset}.")


def raw_records(folder: Path, name: str) -> Iterator[Raw]:
    """All records of a file but the first, which is about the file; a torn one ends it. A pipe has none."""
    if is_here(folder, name) and not (folder / name).is_file():
        return
    with opened(folder, name, FILE_BYTES) as file:
        for offset, _, member in members(file, 0):
            record = Raw(offset, member)
            if record.field("WARC-Type") != "warcinfo":
                yield record


def rewrite(folder: Path, name: str, new: str, change: Callable[[Raw], bytes | None]) -> dict[int, int]:
    """Write a file with the records of another one of the folder; it is durable on return.

    Args:
        change: returns what a record is to be instead: b"" the same, None nothing.
    Returns:
        The new offset of each record by the old one.
    Raises:
        OSError: for example, the disk is full; the target is as it was.
    """
    moved: dict[int, int] = {}
    with opened(folder, name, FILE_BYTES) as source, replaced(folder / new) as file:
        file.write(_packed(warcinfo(new)))
        for offset, end, member in members(source, 0):
            record = Raw(offset, member)
            if record.field("WARC-Type") == "warcinfo" or (changed := change(record)) is None:
                continue
            moved[offset] = file.tell()
            source.seek(offset)
            file.write(_packed(changed) if changed else source.read(end - offset))
    return moved


def successor(name: str) -> str:
    """The name of the file that takes the place of this one: sorted where that was."""
    stem, number = re.fullmatch(r"(.*?)(?:-v(\d+))?\.warc\.gz", name).groups()  # type: ignore[union-attr]
    return f"{stem}-v{int(number or 1) + 1}.warc.gz"


def _packed(record: bytes) -> bytes:
    return zlib.compress(record, GZIP_LEVEL, wbits=31)  # 31: with a gzip header
