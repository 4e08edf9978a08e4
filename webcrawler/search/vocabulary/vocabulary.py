"""What the words of a crawl are asked for."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.vocabulary.completions import Completions, Phrases
from webcrawler.search.vocabulary.spelling import Spelling, Words, spelled


class Thesaurus(NamedTuple):
    """Which stems go with which; stored as it is."""

    stems: list[str]  # ascending
    spellings: list[str]  # the most frequent word of each
    starts: NDArray[np.int32]  # where in `related` those of each begin; one more for the end
    related: NDArray[np.int32]  # stems by number, the strongest first
    strengths: NDArray[np.float32]  # up to 1


class Lists(NamedTuple):
    """All that is stored."""

    words: Words
    thesaurus: Thesaurus
    phrases: Phrases


class Vocabulary:
    """The words of a crawl; any number of threads may ask."""

    def __init__(self, lists: Lists, seq: int) -> None:
        self.seq = seq  # the catalog's last change that is in it
        self._lists = lists

    def frequency(self, word: str) -> int:
        """How many documents have the word so spelled, apart from capitals; of large crawls an estimate."""
        return self._spelling.frequency(spelled(word))

    def correction(self, word: str) -> str:
        """A better spelled word, or "". Up to 10 ms."""
        return self._spelling.correction(spelled(word))

    def related(self, stem: str, limit: int = 5) -> list[tuple[str, str, float]]:
        """(stem, how it is mostly spelled, strength up to 1) of what goes with it, strongest first."""
        stems, spellings, starts, others, strengths = self._lists.thesaurus
        place = bisect_left(stems, stem)
        if stems[place : place + 1] != [stem]:
            return []
        start, end = starts[place : place + 2].tolist()
        some = slice(start, min(end, start + max(limit, 0)))
        pairs = zip(others[some].tolist(), strengths[some].tolist(), strict=True)
        return [(stems[other], spellings[other], strength) for other, strength in pairs]

    def completions(self, text: str, limit: int = 8) -> list[str]:
        """Whole queries that somebody who typed so much may want, likely ones first. Up to 5 ms."""
        return self._completions.of(text, limit)

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(self._lists.words)

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self._lists.phrases)
