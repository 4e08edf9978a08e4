"""The vocabulary in the data folder: readers have the old one or the new one, never half of either.

It stands in one file, which is never changed but replaced. A list of texts is one text, a line each.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.durable import replaced
from webcrawler.search.vocabulary.completions import Phrases
from webcrawler.search.vocabulary.spelling import Words
from webcrawler.search.vocabulary.vocabulary import Lists, Thesaurus, Vocabulary

NAME = "vocabulary.npz"
VERSION = 1


def store(folder: Path, lists: Lists, seq: int, identity: str) -> None:
    """Put a vocabulary in the place of the one that is there; one writer at a time.

    Raises:
        OSError: the disk is full; the old one stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    head = {"version": np.array(VERSION), "identity": np.array(identity), "seq": np.array(seq)}
    arrays = {
        f"{part}.{name}": _packed(value)
        for part, values in lists._asdict().items()
        for name, value in values._asdict().items()
    }
    with replaced(folder / NAME) as file:
        np.savez(file, allow_pickle=False, **head, **arrays)


def load(folder: Path, identity: str) -> Vocabulary | None:
    """The vocabulary of that catalog; None where there is none that can be read.

    Some 30 ms and 25 MB, once for all threads until it is replaced.
    """
    try:
        stat = (folder / NAME).stat()
        known, vocabulary = _read(folder / NAME, stat.st_ino, stat.st_mtime_ns, stat.st_size)
    except Exception:  # of file, zip, numpy's header or text; what cannot be read is made again
        return None
    return vocabulary if known == identity else None


def stored_seq(folder: Path, identity: str) -> int:
    """The last change of that catalog that its vocabulary knows; 0 where there is none."""
    try:
        with np.load(folder / NAME, allow_pickle=False) as file:
            known = (int(file["version"]), str(file["identity"])) == (VERSION, identity)
            return int(file["seq"]) if known else 0
    except Exception:  # as above
        return 0


@lru_cache(2)
def _read(path: Path, *stamp: int) -> tuple[str, Vocabulary]:
    """The catalog's identity, and what is in the file that has this stamp."""
    with np.load(path, allow_pickle=False) as file:
        if int(file["version"]) != VERSION:
            raise ValueError("of another version of this program")
        words = Words(*_part(file, "words", Words._fields))
        thesaurus = Thesaurus(*_part(file, "thesaurus", Thesaurus._fields))
        phrases = Phrases(*_part(file, "phrases", Phrases._fields))
        return str(file["identity"]), Vocabulary(Lists(words, thesaurus, phrases), int(file["seq"]))


def _part(file: Any, part: str, names: tuple[str, ...]) -> list[Any]:
    return [_unpacked(file[f"{part}.{name}"]) for name in names]


def _packed(value: list[str] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(value, list):
        return np.frombuffer("\n".join(value).encode(), np.uint8)
    return value


def _unpacked(array: NDArray[Any]) -> list[str] | NDArray[Any]:
    if array.dtype != np.uint8:
        return array
    text = array.tobytes().decode()
    return text.split("\n") if text else []
