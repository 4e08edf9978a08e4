"""Copies of WARC files in a store: put there and read back, listed, looked for, removed."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import SEEK_END, BufferedReader
from pathlib import Path

from webcrawler.archive.pages._listed import LIST, Copy, Listed, listed
from webcrawler.archive.pages._opened import opened_there, store_at
from webcrawler.errors import StoreAway
from webcrawler.files import replaced, sync_folder
from webcrawler.objects import open_store, reached, synced

PART_BYTES = 2**24  # put at a time; S3 takes 10,000 of them
PARTS_AT_ONCE = 2


def put(folder: Path, name: str, address: str) -> None:
    """Put a file that nobody writes any more into a store, read it back, and list it.

    What is listed, and there as long as it was, is not put again. May be repeated.

    Raises:
        StoreAway: the store does not answer or refuses, or has something else afterwards.
        OSError: the list cannot be written.
    """
    if address not in listed(folder):  # so that `remove` knows where files may be
        open_store(address, "PAGES_URL")  # makes a folder
        _list(folder, address, {})
    if known := listed(folder)[address].get(name):
        with suppress(FileNotFoundError), opened_there(address, name) as there:
            if there.seek(0, SEEK_END) == known.bytes:
                return
    with (folder / name).open("rb") as here:
        copy = _read(here)
    with _taking(address):
        store = store_at(address)
        store.put(name, folder / name, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
        synced(store, name)
    with opened_there(address, name) as there:
        if _read(there) != copy:
            raise StoreAway(f"{address} has {name} otherwise than it was put")
    sys.audit("webcrawler.elsewhere.there")
    _list(folder, address, {**listed(folder)[address], name: copy})


def _read(file: BufferedReader) -> Copy:
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Copy(file.tell(), digest)


def remove(folder: Path, name: str) -> None:
    """Delete a file wherever it may be. May be repeated; raises as `put`."""
    for address, copies in listed(folder).items():
        with reached(address), suppress(FileNotFoundError):
            store_at(address).delete(name)
        _list(folder, address, {other: copy for other, copy in copies.items() if other != name})
    (folder / name).unlink(missing_ok=True)
    sync_folder(folder)


def lost_copies(folder: Path) -> Iterator[str]:
    """What stores should have, and have not, or shorter or longer, as address and name. Raises StoreAway."""
    for address, copies in listed(folder).items():
        with reached(address):
            there = {one["path"]: one["size"] for some in store_at(address).list() for one in some}
        yield from (f"{address}/{name}" for name, copy in copies.items() if there.get(name) != copy.bytes)


def _list(folder: Path, address: str, copies: Mapping[str, Copy]) -> None:
    """Say what a store has: there, then here."""
    with _taking(address):
        store = store_at(address)
        store.put(LIST, _written({address: copies}))
        synced(store, LIST)
    sys.audit("webcrawler.elsewhere.listed-there")
    with replaced(folder / LIST) as file:
        file.write(_written({**listed(folder), address: copies}))


def _written(what: Listed) -> bytes:
    return json.dumps(what, indent=0).encode()


@contextmanager
def _taking(address: str) -> Iterator[None]:
    """As `reached`, also where there is no bucket."""
    try:
        with reached(address):
            yield
    except FileNotFoundError as error:
        raise StoreAway(f"{address}: there is no such bucket or folder") from error
