"""Appends records to files."""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from webcrawler import clock
from webcrawler.archive.pages._records import kept, record, warcinfo
from webcrawler.durable import sync_folder
from webcrawler.errors import BadInput, Unavailable
from webcrawler.records import Entry, Place

MAX_FILE_BYTES = 1_000_000_000


class PageStore:
    """Appends to a file of its own in `folder`; not for two threads at the same time.

    Args:
        search: the search of the web whose fetches it stores.
    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(
        self, folder: Path, gzip_level: int = 1, max_file_bytes: int = MAX_FILE_BYTES, search: str = ""
    ) -> None:
        self.folder, self._search = folder, search
        self._level = gzip_level
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
        if self._end >= self._max_file_bytes:
            self.close()
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
        member = zlib.compress(record, self._level, wbits=31)  # 31: with a gzip header
        self._pending.append(member)
        self._end += len(member)
