"""Writes WARC files anew with some of their records left out, or changed."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from webcrawler.archive.pages._members import members
from webcrawler.archive.pages._records import framed, warcinfo
from webcrawler.durable import replaced
from webcrawler.errors import Unavailable
from webcrawler.records import Place

LEVEL = 1  # as `PageStore`
_OF_A_REVISIT = ("WARC-Profile", "WARC-Refers-To")
_FRAME = ("WARC-Type", "WARC-Record-ID", "Content-Type", "Content-Length")  # written anew


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
        self._file.write(zlib.compress(record, LEVEL, wbits=31))

    def copy(self, record: Raw) -> None:
        self.write(record.content)


def raw_at(folder: Path, place: Place) -> Raw:
    """The record at a place.

    Raises:
        Unavailable: the file is missing, or the record is torn.
    """
    path = folder / place.file
    try:
        with path.open("rb") as file:
            for offset, _, member in members(file, place.offset):
                if offset == place.offset:
                    return Raw(offset, member)
                break
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error}.") from error
    raise Unavailable(f"{path} has no whole record at {place.offset}.")


def raw_records(path: Path) -> Iterator[Raw]:
    """All records of a file but the first, which is about the file; a torn one ends it. A pipe has none."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for offset, _, member in members(file, 0):
            record = Raw(offset, member)
            if record.field("WARC-Type") != "warcinfo":
                yield record


def rewrite(path: Path, target: Path, change: Callable[[Raw], bytes | None]) -> dict[int, int]:
    """Write a file with the records of another one; it is durable on return.

    Args:
        change: returns what a record is to be instead: b"" the same, None nothing.
    Returns:
        The new offset of each record by the old one.
    Raises:
        OSError: for example, the disk is full; the target is as it was.
    """
    moved: dict[int, int] = {}
    with path.open("rb") as source, replaced(target) as file:
        file.write(zlib.compress(warcinfo(target.name), LEVEL, wbits=31))
        for offset, end, member in members(source, 0):
            record = Raw(offset, member)
            if record.field("WARC-Type") == "warcinfo" or (changed := change(record)) is None:
                continue
            moved[offset] = file.tell()
            same = changed or os.pread(source.fileno(), end - offset, offset)
            file.write(zlib.compress(changed, LEVEL, wbits=31) if changed else same)
    return moved


def successor(name: str) -> str:
    """The name of the file that takes the place of this one: sorted where that was."""
    stem, number = re.fullmatch(r"(.*?)(?:-v(\d+))?\.warc\.gz", name).groups()  # type: ignore[union-attr]
    return f"{stem}-v{int(number or 1) + 1}.warc.gz"
