"""IS: how much is a page about a query? Vectors of words, by Cho 1998, 2 (1)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

TITLE_WEIGHT = 5  # occurrences in the text that one in the title is worth; the paper names no figure

Vector = Mapping[str, float]


class Collection:
    """How often words occur in the pages that were added: in all of them for IS, so far for IS'.

    Memory: some 100 bytes a different word.
    """

    def __init__(self, occurrences: Mapping[str, int] | None = None) -> None:
        """Begin with those of a reference, counted at some other time."""
        self._occurrences = Counter(occurrences or {})

    def add(self, words: Iterable[str]) -> None:
        """A page has these words, repeats included."""
        self._occurrences.update(words)

    def idf(self, word: str) -> float:
        """1 / occurrences in all pages, not the usual logarithm of pages; 1 for a word never seen."""
        return 1 / max(self._occurrences[word], 1)


def vector(
    text: Iterable[str], title: Iterable[str], idf: Callable[[str], float] = lambda word: 1.0
) -> Vector:
    """tf · idf of each word; without `idf` the frequency alone, which needs no knowledge of other pages."""
    frequency = Counter(text)
    for word in title:
        frequency[word] += TITLE_WEIGHT
    return {word: n * idf(word) for word, n in frequency.items()}


def inner_product(page: Vector, query: Vector) -> float:
    return math.fsum(weight * query[word] for word, weight in page.items() if word in query)


def cosine(page: Vector, query: Vector) -> float:
    """The inner product of the normalised vectors, 0 … 1; 0 where one is empty."""
    norms = math.hypot(*page.values()) * math.hypot(*query.values())
    return inner_product(page, query) / norms if norms else 0.0


def combined(
    similarity: ArrayLike, backlinks: ArrayLike, k1: float = 1.0, k2: float = 1.0
) -> NDArray[np.float64]:
    """IC = k1 · IS + k2 · IB, over pages in the same order."""
    return k1 * np.asarray(similarity, np.float64) + k2 * np.asarray(backlinks, np.float64)
