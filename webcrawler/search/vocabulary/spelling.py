"""Is a word misspelled, and what was meant? By the words of a crawl and of general English."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from webcrawler.text import analysis

SHORTEST = 4  # characters: nearly all shorter words are near to each other
TWO_EDITS = 6  # characters: in shorter words only one edit is corrected
COMMON = 10_000  # a word of more than one document in so many is hardly wrong
RARER = 100  # how many times as frequent the correction of a known word has to be,
RARER_COMMON = 250  # and that of a common word
EDIT = 6.0  # what an edit costs, beside the logarithm of documents
FIRST = 1.5  # what it costs more at the first letter, where people seldom err


class Words(NamedTuple):
    """What is known of each word, as it is stored."""

    spelled: list[str]  # lower case, ascending
    documents: NDArray[np.int32]  # of the crawl that have it
    english: NDArray[np.bool_]  # does general English know it?


class Correction(NamedTuple):
    word: str
    cost: float  # of its edits: what it takes from the logarithm of the documents with it
    documents: int


class Spelling:
    def __init__(self, words: Words) -> None:
        self._words, self._documents, self._english = words
        self._common = max(1, int(self._documents.max(initial=0)) // COMMON)

    def frequency(self, word: str) -> int:
        place = self._place(word)
        return 0 if place is None else int(self._documents[place])

    def corrections(self, word: str, limit: int = 3) -> list[Correction]:
        """Return words of the crawl at most two edits away, the likeliest first; none where it is right."""
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
            if len(found) == limit:
                break
        # where the likeliest finds what the word finds, there is nothing to correct
        return [] if tuple(analysis.terms(word)) in list(found)[:1] else list(found.values())

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
