"""Documents as rows of features, for the classifier.

A feature is a hashed stem, weighted by its frequency and by how rare it is in general English. Such a fixed
weight does better than idf over what was seen (average precision on docweb .47 against .43), and a row never
changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.topic import stems_of, weight
from webcrawler.records import Text
from webcrawler.text import english, terms

FEATURES = 2**15
BACKGROUND = 20  # documents of
COMMON = 5_000  # words


class Row(NamedTuple):
    """Features of a document: two columns. The weights have length 1; a place may occur twice."""

    places: NDArray[np.int32]
    weights: NDArray[np.float64]


def row_of(text: Text) -> Row:
    """The row of a page. Cost: about a millisecond for 5,000 words."""
    return row(Counter(stems_of(text)))


def row(counts: Mapping[str, int]) -> Row:
    features = [_feature(stem) for stem in counts]
    places = np.array([place for place, _ in features], np.int32)
    weights = np.log1p(np.fromiter(counts.values(), np.float64)) * np.array([one for _, one in features])
    length = np.linalg.norm(weights)
    return Row(places, weights / length if length else weights)


@cache
def background() -> list[Row]:
    """General English as documents about nothing, to learn from before other pages were seen."""
    import wordfreq  # takes 0.2 s

    words = wordfreq.top_n_list("en", COMMON, "small")
    stems = sorted(
        {stem for word in words for stem in terms(word)}, key=lambda s: (-english().frequency(s), s)
    )
    return [row(Counter(stems[start::BACKGROUND])) for start in range(BACKGROUND)]


@lru_cache(maxsize=200_000)
def _feature(stem: str) -> tuple[int, float]:
    return crc32(stem.encode()) % FEATURES, weight(stem)
