"""Where words stand: phrases, windows of words and nearest pairs, by arithmetic on sorted positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Posted

Integers = NDArray[np.int64]
Keys = NDArray[np.int64]  # page number times PAGE + position, ascending

PAGE = 1 << 30  # above any position (28 bits) and any distance
_FAR = np.iinfo(np.int64).max

# GO: "binned into 10 different values ranging from a phrase match to not even close". The most words in
# between for each bin but the last, which has pairs of two anchor texts: those are 32 words or more apart.
FARTHEST = (0, 1, 2, 3, 5, 8, 12, 20, 31)
BINS = len(FARTHEST) + 1


def keys(posted: Posted, pages: NDArray[np.bool_]) -> Keys:
    """Return all occurrences of a term in one field of some pages."""
    chosen = np.flatnonzero(pages[posted.pages])
    hits = posted.values.some(chosen).flat()
    numbers = np.repeat(posted.pages[chosen].astype(np.int64), np.diff(hits.starts))
    return np.sort(numbers * PAGE + hits.positions, kind="stable")  # quick where it is in order already


def in_order(occurrences: Sequence[Keys]) -> Integers:
    """Return the page numbers where the terms stand next to each other."""
    starts = [found - place for place, found in enumerate(occurrences)]
    starts.sort(key=len)
    left = starts[0]
    for others in starts[1:]:
        left = left[following(others, left) == left]
    return np.unique(left // PAGE)


def together(occurrences: Sequence[Keys], within: int) -> Integers:
    """Return the page numbers where all terms stand within so many words, in any order."""
    first = np.concatenate(occurrences)  # each could be where such a window begins
    for others in sorted(occurrences, key=len):
        first = first[following(others, first) - first <= within]
    return np.unique(first // PAGE)


def following(among: Keys, wanted: Keys) -> Keys:
    """Return for each key the same or the next one of others; far away where there is none."""
    found: Keys = np.append(among, _FAR)[np.searchsorted(among, wanted)]
    return found


class Occurrences(NamedTuple):
    """Where a word stands in one field of some pages; all arrays have one entry an occurrence."""

    rows: Integers  # which of the pages, ascending
    positions: Integers  # in words from the start of the field, ascending within a page
    kinds: Integers  # type of hit


class Pairs(NamedTuple):
    """Occurrences of two words, each of one with the nearest of the other."""

    rows: Integers
    bins: Integers  # 0: next to each other in the order typed … 9: not even close
    kinds: Integers  # the lesser of the two types


def nearest(first: Occurrences, second: Occurrences) -> Pairs:
    """Return each occurrence of the rarer word with the nearest of the other in the same page.

    Two words in the order that was not typed count as one word further apart.
    """
    rarer, other, direction = (first, second, 1)
    if len(first.rows) > len(second.rows):
        rarer, other, direction = (second, first, -1)
    if not len(rarer.rows):
        return Pairs(*[np.zeros(0, np.int64)] * 3)
    stride = 1 + max(int(rarer.positions.max()), int(other.positions.max()))
    wanted, among = (one.rows * stride + one.positions for one in (rarer, other))
    after = np.searchsorted(among, wanted)
    best, distance = np.zeros(len(wanted), np.int64), np.full(len(wanted), _FAR)
    for candidate in (np.minimum(after, len(among) - 1), np.maximum(after - 1, 0)):
        steps = (among[candidate] - wanted) * direction
        apart = np.where(steps > 0, steps - 1, -steps)  # words in between
        nearer = (apart < distance) & (other.rows[candidate] == rarer.rows)
        best[nearer], distance[nearer] = candidate[nearer], apart[nearer]
    found = distance < _FAR
    kinds = np.minimum(rarer.kinds, other.kinds[best])
    return Pairs(rarer.rows[found], np.searchsorted(FARTHEST, distance[found]), kinds[found])
