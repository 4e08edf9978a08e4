"""Is a word misspelled, and what was meant? By the words of a crawl and of general English."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from webcrawler.text import analysis

SHORTEST = 4  # characters: of shorter words nearly all are near to each other
TWO_EDITS = 6  # characters: in shorter words only one edit is mended
COMMON = 10_000  # a word that more than one document in so many has is hardly wrong
RARER = 100  # times as frequent must the correction of a word be that is there,
RARER_COMMON = 250  # and of one that is common
EDIT = 6.0  # what an edit costs, beside the logarithm of documents
FIRST = 1.5  # what it costs more at the first letter, where people seldom err


class Words(NamedTuple):
    """What is known of each word; stored as it is."""

    spelled: list[str]  # lower case, ascending
    documents: NDArray[np.int32]  # of the crawl that have it
    english: NDArray[np.bool_]  # does general English know it?


class Spelling:
    def __init__(self, words: Words) -> None:
        self._words, self._documents, self._english = words
        self._common = max(1, int(self._documents.max(initial=0)) // COMMON)

    def frequency(self, word: str) -> int:
        place = self._place(word)
        return 0 if place is None else int(self._documents[place])

    def correction(self, word: str) -> str:
        """A word of the crawl at most two edits away; "" where it is right."""
        if not self._may_be_wrong(word):
            return ""
        choices, documents = self._near_in_length(len(word))
        if not choices:
            return ""
        known = self.frequency(word)
        is_common = known > self._common
        edits = 2 if len(word) >= TWO_EDITS and not is_common else 1
        distances = process.cdist([word], choices, scorer=OSA.distance, score_cutoff=edits, dtype=np.uint8)[0]
        rarer = RARER_COMMON if is_common else RARER
        near = np.flatnonzero((distances <= edits) & (distances > 0) & (documents >= known * rarer))
        if known:  # "wvalue" is hardly a misspelled "value"
            near = np.array([place for place in near if choices[place][0] == word[0]], int)
        return self._best(word, [choices[place] for place in near], documents[near], distances[near])

    def _may_be_wrong(self, word: str) -> bool:
        """Not a number, an identifier, a word of general English, nor the plural of one."""
        if not (word.isalpha() and SHORTEST <= len(word) <= analysis.MAX_TERM_CHARACTERS):
            return False
        return not any(self._is_english(one) for one in (word, word.removesuffix("s"))) and (
            len(word) >= TWO_EDITS or self.frequency(word) <= self._common
        )

    def _is_english(self, word: str) -> bool:
        place = self._place(word)
        return place is not None and bool(self._english[place])

    def _best(
        self,
        word: str,
        choices: list[str],
        documents: NDArray[np.int32],
        distances: NDArray[np.uint8],
    ) -> str:
        if not choices:
            return ""
        first = np.array([choice[0] != word[0] for choice in choices])
        likely = np.log(documents) - EDIT * distances - FIRST * first
        best = choices[int(likely.argmax())]
        return "" if analysis.terms(best) == analysis.terms(word) else best

    def _near_in_length(self, length: int) -> tuple[list[str], NDArray[np.int32]]:
        choices, documents, ends = self._choices
        low, high = (int(ends[min(max(end, 0), len(ends) - 1)]) for end in (length - 3, length + 2))
        return choices[low:high], documents[low:high]

    @cached_property
    def _choices(self) -> tuple[list[str], NDArray[np.int32], NDArray[np.intp]]:
        """Words that a correction may be, by length; how many are at most so long."""
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


def spelled(text: str) -> str:
    """Lower case, as the analysis writes it."""
    return normalize("NFKC", text.lower()).replace("’", "'")
