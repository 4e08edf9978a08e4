"""The vocabulary of a data folder: what may be asked of it, and how it is stored.

Which words may be meant by one that is misspelled is told by the words of the crawl and of general English.

It is one file, which is never changed but replaced, so readers have the old one or the new one. A list of
texts is stored as one text, a line each.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property, lru_cache
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from webcrawler.files import READING, replaced
from webcrawler.search.vocabulary.completions import Completions, Phrases
from webcrawler.search.vocabulary.thesaurus import Thesaurus
from webcrawler.text import analysis

NAME = "vocabulary.npz"
VERSION = 3
SHORTEST = 4  # characters: nearly all shorter words are near to each other
TWO_EDITS = 6  # characters: in shorter words only one edit is corrected
COMMON = 10_000  # a word of more than one document in so many is hardly wrong
RARER = 100  # how many times as frequent the correction of a known word has to be,
RARER_COMMON = 250  # and that of a common word
EDIT = 6.0  # what an edit costs, beside the logarithm of documents
FIRST = 1.5  # what it costs more at the first letter, where people seldom err
CORRECTIONS = 3  # of a word, at most


class Words(NamedTuple):
    """What is known of each word, as it is stored."""

    spelled: list[str]  # lower case, ascending
    documents: NDArray[np.int32]  # of the crawl that have it
    english: NDArray[np.bool_]  # does general English know it?


class Correction(NamedTuple):
    word: str
    cost: float  # of its edits: what it takes from the logarithm of the documents with it
    documents: int


class Lists(NamedTuple):
    """All that is stored."""

    words: Words
    thesaurus: Thesaurus
    phrases: Phrases


class Vocabulary:
    """The words of a crawl; any number of threads may ask."""

    def __init__(self, lists: Lists, seq: int) -> None:
        self.seq = seq  # the catalog's last change that is in it
        self._words, self._documents, self._english = lists.words
        self._common = max(1, int(self._documents.max(initial=0)) // COMMON)
        self._thesaurus = lists.thesaurus
        self.completions = Completions(lists.phrases).of

    def frequency(self, word: str) -> int:
        """Return how many documents have the word, apart from capitals; an estimate in large crawls."""
        place = self._place(analysis.lower_case(word))
        return 0 if place is None else int(self._documents[place])

    def corrections(self, word: str) -> list[Correction]:
        """Return up to three words at most two edits away, the likeliest first; none for one that is right.

        Takes up to 10 ms.
        """
        word = analysis.lower_case(word)
        if not self._may_be_wrong(word):
            return []
        choices, documents, ends = self._choices
        some = slice(ends[len(word) - 3], ends[len(word) + 2])
        choices, documents = choices[some], documents[some]
        if not choices:
            return []
        known = self.frequency(word)
        is_common = known > self._common
        edits = 2 if len(word) >= TWO_EDITS and not is_common else 1
        distances = process.cdist([word], choices, scorer=OSA.distance, score_cutoff=edits, dtype=np.uint8)[0]
        rarer = RARER_COMMON if is_common else RARER
        near = np.flatnonzero((distances <= edits) & (distances > 0) & (documents >= known * rarer))
        other_first = np.array([choices[place][0] != word[0] for place in near], bool)
        if known:  # "wvalue" is hardly a misspelled "value"
            near, other_first = near[~other_first], other_first[~other_first]
        costs = EDIT * distances[near] + FIRST * other_first
        found: dict[tuple[str, ...], Correction] = {}  # by their terms: plural and singular are one
        for place in np.argsort(costs - np.log(documents[near]), kind="stable"):
            spelled = choices[near[place]]
            stems = tuple(analysis.terms(spelled))
            found.setdefault(stems, Correction(spelled, float(costs[place]), int(documents[near[place]])))
            if len(found) == CORRECTIONS:
                break
        # where the likeliest finds what the word finds, there is nothing to correct
        return [] if tuple(analysis.terms(word)) in list(found)[:1] else list(found.values())

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

    def _may_be_wrong(self, word: str) -> bool:
        """Tell whether it is no number, identifier, word of general English or plural of one.

        Nor is a word wrong that the crawl has with other accents.
        """
        if not (word.isalpha() and SHORTEST <= len(word) <= analysis.MAX_TERM_CHARACTERS):
            return False
        for one in (word, word.removesuffix("s")):
            place = self._place(one)
            if place is not None and self._english[place]:
                return False
        if analysis.unaccented(word) in self._bare:
            return False
        return len(word) >= TWO_EDITS or self.frequency(word) <= self._common

    @cached_property
    def _bare(self) -> frozenset[str]:
        """The words of the crawl without their accents, where that is no word of it."""
        often = compress(self._words, self._documents > self._common)
        return frozenset(map(analysis.unaccented, often)).difference(self._words)

    @cached_property
    def _choices(self) -> tuple[list[str], NDArray[np.int32], NDArray[np.intp]]:
        """What a correction may be, sorted by length; their documents; how many are at most so long."""
        lengths = np.fromiter(map(len, self._words), int, len(self._words))
        good = np.fromiter(map(str.isalpha, self._words), bool, len(self._words))
        good &= (lengths >= SHORTEST - 1) & (self._documents >= np.where(self._english, 1, self._common + 1))
        chosen = np.flatnonzero(good)
        chosen = chosen[np.argsort(lengths[chosen], kind="stable")]
        ends = np.cumsum(np.bincount(lengths[chosen], minlength=analysis.MAX_TERM_CHARACTERS + 3))
        return [self._words[place] for place in chosen], self._documents[chosen], ends

    def _place(self, word: str) -> int | None:
        place = bisect_left(self._words, word)
        return place if self._words[place : place + 1] == [word] else None


def store(folder: Path, lists: Lists, seq: int, identity: str) -> None:
    """Put a vocabulary in the place of the one that is there; one writer at a time.

    Raises:
        OSError: the disk is full; the old one stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    head = {"of": np.array(f"{VERSION} {identity}"), "seq": np.array(seq)}
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
    return vocabulary if known == f"{VERSION} {identity}" else None


def stored_seq(folder: Path, identity: str) -> int:
    """Return the last change of that catalog that its vocabulary knows; 0 where there is none."""
    try:
        with READING, np.load(folder / NAME, allow_pickle=False) as file:
            return int(file["seq"]) if str(file["of"]) == f"{VERSION} {identity}" else 0
    except Exception:  # as above
        return 0


@lru_cache(2)
def _read(path: Path, *stamp: int) -> tuple[str, Vocabulary]:
    """Return version and catalog, and what is in the file that has this stamp."""
    with READING, np.load(path, allow_pickle=False) as file:
        known = str(file["of"])  # first: one of another version has none
        words, thesaurus, phrases = (
            [_unpacked(file[f"{part}.{name}"]) for name in kind._fields]
            for part, kind in (("words", Words), ("thesaurus", Thesaurus), ("phrases", Phrases))
        )
        lists = Lists(Words(*words), Thesaurus(*thesaurus), Phrases(*phrases))
        return known, Vocabulary(lists, int(file["seq"]))


def _packed(value: list[str] | NDArray[Any]) -> NDArray[Any]:
    if isinstance(value, list):
        return np.frombuffer("\n".join(value).encode(), np.uint8)
    return value


def _unpacked(array: NDArray[Any]) -> Any:
    if array.dtype != np.uint8:
        return array
    text = array.tobytes().decode()
    return text.split("\n") if text else []
