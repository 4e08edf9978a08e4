"""WARC files, opened where they are: a file in a store is read by ranges of bytes."""

from __future__ import annotations

from io import SEEK_SET, BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from webcrawler.archive.pages._listed import listed
from webcrawler.errors import StoreAway
from webcrawler.objects import open_store, reached

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

RECORD_BYTES = 2**17  # asked for at a time by those who read one record; most have some thousands
FILE_BYTES = 2**22  # by those who read all


def opened(folder: Path, name: str, ahead: int = RECORD_BYTES) -> BinaryIO:
    """A WARC file, from here if it is here.

    Args:
        ahead: bytes that are asked for at a time where it is in a store.
    Raises:
        OSError: it is nowhere.
        StoreAway: the store that has it does not answer.
    """
    try:
        return (folder / name).open("rb")
    except FileNotFoundError:
        found = [address for address, copies in listed(folder).items() if name in copies]
        if not found:
            raise
    return opened_there(found[-1], name, ahead)


def opened_there(address: str, name: str, ahead: int = FILE_BYTES) -> BufferedReader:
    """A file of a store; arguments and errors are those of `opened`."""
    return BufferedReader(_Distant(address, name), ahead)


class _Distant(RawIOBase):
    def __init__(self, address: str, name: str) -> None:
        self._address, self._name, self._at = address, name, 0
        self._store = store_at(address)
        try:
            with reached(address):
                self._size = self._store.head(name)["size"]
        except FileNotFoundError:
            raise FileNotFoundError(f"{address} has it no more") from None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        self._at = offset + (0, self._at, self._size)[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        with reached(self._address):
            found = self._store.get_range(self._name, start=self._at, end=end)
        buffer[: len(found)] = memoryview(found)
        self._at += len(found)
        return len(found)


def store_at(address: str) -> LocalStore | S3Store:
    """Raises StoreAway: it is a folder that is not there, as it is not mounted."""
    if "://" not in address and not Path(address).is_dir():
        raise StoreAway(f"{address} is not there now: is it mounted?")
    return open_store(address, "PAGES_URL")
