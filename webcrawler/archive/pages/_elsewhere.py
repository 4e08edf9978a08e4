"""Where is a WARC file of a data folder: here, in a store that other machines read, too, or in both?

All who read one open it by `opened`. What is in a store stands in `elsewhere.json` beside the files, and
there as well, so that a folder whose disk is lost is made again of that one file.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import SEEK_SET, BufferedReader, RawIOBase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from webcrawler.errors import BadInput, StoreAway
from webcrawler.files import replaced, sync_folder
from webcrawler.objects import open_store, reached, synced

if TYPE_CHECKING:
    from obstore.store import LocalStore, S3Store

LIST = "elsewhere.json"
RECORD_BYTES = 2**17  # asked for at a time by those who read one record; most have some thousands
FILE_BYTES = 2**22  # by those who read all
PART_BYTES = 2**24  # put at a time; S3 takes 10,000 of them
PARTS_AT_ONCE = 2


class Copy(NamedTuple):
    """What a file in a store was when it was put."""

    bytes: int
    sha256: str


Listed = Mapping[str, Mapping[str, Copy]]  # by address of a store, by name of a file


def listed(folder: Path) -> Listed:
    """What is known to be in stores.

    Raises:
        BadInput: the list is damaged.
    """
    path = folder / LIST
    try:
        status = path.stat()
    except FileNotFoundError:
        return {}
    return _read(path, status.st_mtime_ns, status.st_ino)


@lru_cache(4)
def _read(path: Path, *_: int) -> Listed:
    try:
        found = json.loads(path.read_text("utf-8"))
        return {address: {name: Copy(*c) for name, c in copies.items()} for address, copies in found.items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{path} is damaged ({error}); another one is beside the files that it lists"
        ) from None


def names(folder: Path) -> list[str]:
    """All WARC files of a data folder, the oldest first."""
    return sorted({path.name for path in folder.glob("*.warc.gz")}.union(*listed(folder).values()))


def is_here(folder: Path, name: str) -> bool:
    return (folder / name).exists()


def is_complete(path: Path) -> bool:
    """Does nobody write it any more? Not known, and so no, on a file system without locks."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return path.is_file() and path.stat().st_size > 0
    except OSError:
        return False


def size_of(folder: Path, name: str) -> int:
    """In bytes; asks no store."""
    with suppress(FileNotFoundError):
        return (folder / name).stat().st_size
    return max(copies[name].bytes for copies in listed(folder).values() if name in copies)


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
    return BufferedReader(_Distant(found[-1], name), ahead)


class _Distant(RawIOBase):
    """A file in a store, read by ranges of bytes."""

    def __init__(self, address: str, name: str) -> None:
        import obstore

        self._address, self._name, self._at = address, name, 0
        self._store = store_at(address)
        try:
            with reached(address):
                self._size = obstore.head(self._store, name)["size"]
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
        import obstore

        end = min(self._at + len(buffer), self._size)
        if self._at >= end:
            return 0
        with reached(self._address):
            found = obstore.get_range(self._store, self._name, start=self._at, end=end)
        buffer[: len(found)] = memoryview(found)
        self._at += len(found)
        return len(found)


def store_at(address: str, *, is_new: bool = False) -> LocalStore | S3Store:
    """Raises StoreAway: it is a folder that is not there, as it is not mounted; what is new is made."""
    if "://" not in address and not (is_new or Path(address).is_dir()):
        raise StoreAway(f"{address} is not there now: is it mounted?")
    return open_store(address, "PAGES_URL")


def put(folder: Path, name: str, address: str) -> None:
    """Put a file that nobody writes any more into a store, unless it is there, and list it.

    It is listed once the store has all of it by length and digest. May be repeated.

    Raises:
        StoreAway: the store does not answer or refuses, or has something else afterwards.
        OSError: the list cannot be written.
    """
    import obstore

    if address not in listed(folder):  # so that `remove` knows where files may be
        store_at(address, is_new=True)
        _list(folder, address, {})
    store = store_at(address)
    copy, tag = _digests(folder / name)
    with _taking(address):
        if not _has(store, name, copy, tag):
            obstore.put(store, name, folder / name, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
            synced(store, name)
            if not _has(store, name, copy, tag):
                raise StoreAway(f"{address} has {name} otherwise than it was put")
    sys.audit("webcrawler.elsewhere.there")
    _list(folder, address, {**listed(folder)[address], name: copy})


@contextmanager
def _taking(address: str) -> Iterator[None]:
    """As `reached`, also where there is no bucket."""
    try:
        with reached(address):
            yield
    except FileNotFoundError as error:
        raise StoreAway(f"{address}: there is no such bucket or folder") from error


def _digests(path: Path) -> tuple[Copy, str]:
    """What a file is, and the tag that stores commonly give it: MD5, or that of the MD5s of its parts."""
    sha256, parts, size = hashlib.sha256(), list[bytes](), path.stat().st_size
    with path.open("rb") as file:
        while part := file.read(PART_BYTES):
            sha256.update(part)
            parts.append(hashlib.md5(part, usedforsecurity=False).digest())
    if len(parts) < 2:
        return Copy(size, sha256.hexdigest()), parts[0].hex() if parts else ""
    of_parts = hashlib.md5(b"".join(parts), usedforsecurity=False).hexdigest()
    return Copy(size, sha256.hexdigest()), f"{of_parts}-{len(parts)}"


def _has(store: LocalStore | S3Store, name: str, copy: Copy, tag: str) -> bool:
    """Is it there as it is here? Reads it where the store's tag is another: it may be made in another way."""
    import obstore

    try:
        found = obstore.head(store, name)
    except FileNotFoundError:
        return False
    if found["size"] != copy.bytes or (found["e_tag"] or "").strip('"') == tag:
        return found["size"] == copy.bytes
    sha256 = hashlib.sha256()
    for chunk in obstore.get(store, name).stream(min_chunk_size=FILE_BYTES):
        sha256.update(chunk)
    return sha256.hexdigest() == copy.sha256


def missing(folder: Path, address: str) -> list[str]:
    """What a store should have, and has not, or shorter or longer. Raises StoreAway."""
    import obstore

    with reached(address):
        there = {one["path"]: one["size"] for one in chain.from_iterable(obstore.list(store_at(address)))}
    return [name for name, copy in listed(folder)[address].items() if there.get(name) != copy.bytes]


def forget(folder: Path, address: str, some: list[str]) -> None:
    """List these files no more, so that they are put again."""
    copies = listed(folder)[address]
    _list(folder, address, {name: copy for name, copy in copies.items() if name not in some})


def remove(folder: Path, name: str) -> None:
    """Delete a file wherever it may be. May be repeated; raises as `put`."""
    for address in listed(folder):
        import obstore

        with reached(address), suppress(FileNotFoundError):
            obstore.delete(store_at(address), name)
        forget(folder, address, [name])
    (folder / name).unlink(missing_ok=True)
    sync_folder(folder)


def sweep(address: str) -> None:
    """Delete what a `put` that was killed has left in a folder, as no other one puts there."""
    if "://" not in address:
        for part in Path(address).glob("*.warc.gz#*"):
            part.unlink()


def _list(folder: Path, address: str, copies: Mapping[str, Copy]) -> None:
    """Say what a store has: there, then here."""
    import obstore

    def written(what: Listed) -> bytes:
        return json.dumps(what, indent=0).encode()

    with _taking(address):
        store = store_at(address)
        obstore.put(store, LIST, written({address: copies}))
        synced(store, LIST)
    sys.audit("webcrawler.elsewhere.listed-there")
    with replaced(folder / LIST) as file:
        file.write(written({**listed(folder), address: copies}))


def lost_copies(folder: Path) -> Iterator[str]:
    """What stores should have and have not, as address and name. Raises StoreAway."""
    for address in listed(folder):
        yield from (f"{address}/{name}" for name in missing(folder, address))
