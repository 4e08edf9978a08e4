"""Which WARC files a data folder has: here, in a store that other machines read, too, or in both.

What is in a store stands in `elsewhere.json` beside the files, and there as well, so that a folder whose disk
is lost is made again of that one file.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from webcrawler.errors import BadInput

LIST = "elsewhere.json"


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
