"""The vocabulary of a data folder: what may be asked of it, and how it is stored.

It is one file, which is never changed but replaced, so readers have the old one or the new one. A list of
texts is stored as one text, a line each.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.arrays import READING
from webcrawler.durable import replaced
from webcrawler.search.vocabulary.completions import Completions, Phrases
from webcrawler.search.vocabulary.spelling import Correction, Spelling, Words
from webcrawler.search.vocabulary.thesaurus import Thesaurus
from webcrawler.text import analysis

NAME = "vocabulary.npz"
VERSION = 2


class Lists(NamedTuple):
    """All that is stored."""

    words: Words
    thesaurus: Thesaurus
    phrases: Phrases


class Vocabulary:
    """The words of a crawl; any number of threads may ask."""

    def __init__(self, lists: Lists, seq: int) -> None:
        self.seq = seq  # the catalog's last change that is in it
        self._thesaurus = lists.thesaurus
        self._spelling, self._completions = Spelling(lists.words), Completions(lists.phrases)

    def frequency(self, word: str) -> int:
        """Return how many documents have the word, apart from capitals; an estimate in large crawls."""
        return self._spelling.frequency(analysis.lower_case(word))

    def corrections(self, word: str) -> list[Correction]:
        """Return up to three words that may be meant, the likeliest first; none for a word that is right.

        Takes up to 10 ms.
        """
        return self._spelling.corrections(analysis.lower_case(word))

    def related(self, stem: str, limit: int = 5) -> list[tuple[str, str, float]]:
        """Return (stem, how it is mostly spelled, strength up to 1) of what goes with it, strongest first."""
        stems, spellings, starts, others, strengths = self._thesaurus
        place = bisect_left(stems, stem)
        if stems[place : place + 1] != [stem]:
            return []
        start, end = starts[place : place + 2].tolist()
        some = slice(start, min(end, start + max(limit, 0)))
        pairs = zip(others[some].tolist(), strengths[some].tolist(), strict=True)
        return [(stems[other], spellings[other], strength) for other, strength in pairs]

    def completions(self, text: str, limit: int = 8) -> list[str]:
        """Return whole queries that may be meant by what was typed, likely ones first. Takes up to 5 ms."""
        return self._completions.of(text, limit)


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
    """Return the vocabulary of that catalog; None where there is none that can be read.

    Takes 30 ms and 25 MB, once for all threads until it is replaced.
    """
    try:
        stat = (folder / NAME).stat()
        known, vocabulary = _read(folder / NAME, stat.st_ino, stat.st_mtime_ns, stat.st_size)
    except Exception:  # of file, zip, numpy's header or text; what cannot be read is made again
        return None
    return vocabulary if known == identity else None


def stored_seq(folder: Path, identity: str) -> int:
    """Return the last change of that catalog that its vocabulary knows; 0 where there is none."""
    try:
        with READING, np.load(folder / NAME, allow_pickle=False) as file:
            known = (int(file["version"]), str(file["identity"])) == (VERSION, identity)
            return int(file["seq"]) if known else 0
    except Exception:  # as above
        return 0


@lru_cache(2)
def _read(path: Path, *stamp: int) -> tuple[str, Vocabulary]:
    """Return the catalog's identity, and what is in the file that has this stamp."""
    with READING, np.load(path, allow_pickle=False) as file:
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
