"""How near the words of a query stand to each other (GO, The Ranking Function)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# GO: "binned into 10 different values ranging from a phrase match to not even close". The most words in
# between for each bin but the last, which takes in pairs of two anchor texts: a gap of 32 words parts those.
FARTHEST = (0, 1, 2, 3, 5, 8, 12, 20, 31)
BINS = len(FARTHEST) + 1

Integers = NDArray[np.int64]


class Occurrences(NamedTuple):
    """Where a word stands in one field of some pages; all arrays have one entry an occurrence."""

    rows: Integers  # which of the pages, ascending
    positions: Integers  # in words from the start of the field, ascending within a page
    kinds: Integers  # type of hit


class Pairs(NamedTuple):
    """Occurrences of two words, matched up."""

    rows: Integers
    bins: Integers  # 0 the one right before the other as they were typed … 9 not even close
    kinds: Integers  # the lesser of the two types


def nearest(first: Occurrences, second: Occurrences) -> Pairs:
    """Each occurrence of the rarer word with the nearest of the other in the same page.

    The order they were typed in is one word nearer than the other order.
    """
    if len(first.rows) > len(second.rows):
        return _matched(second, first, -1)
    return _matched(first, second, 1)


def _matched(rarer: Occurrences, other: Occurrences, direction: int) -> Pairs:
    if not len(rarer.rows) or not len(other.rows):
        nothing = np.zeros(0, np.int64)
        return Pairs(nothing, nothing, nothing)
    place = _places(rarer, other)
    after = np.searchsorted(place[1], place[0])
    last = len(other.rows) - 1
    best, distance = np.zeros(len(place[0]), np.int64), np.full(len(place[0]), np.iinfo(np.int64).max)
    for candidate in (np.minimum(after, last), np.maximum(after - 1, 0)):
        apart = _distance((place[1][candidate] - place[0]) * direction)
        nearer = (apart < distance) & (other.rows[candidate] == rarer.rows)
        best[nearer], distance[nearer] = candidate[nearer], apart[nearer]
    found = distance < np.iinfo(np.int64).max
    kinds = np.minimum(rarer.kinds, other.kinds[best])
    return Pairs(rarer.rows[found], np.searchsorted(FARTHEST, distance[found]), kinds[found])


def _places(*occurrences: Occurrences) -> list[Integers]:
    """One ascending number for page and position."""
    stride = 1 + max(int(one.positions.max()) for one in occurrences)
    return [one.rows * stride + one.positions for one in occurrences]


def _distance(steps: Integers) -> Integers:
    """Words in between; one more in the order that nobody typed."""
    return np.where(steps > 0, steps - 1, -steps)
