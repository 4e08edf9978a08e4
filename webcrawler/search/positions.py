"""Where words stand together: phrases and proximity on sorted arrays of (page, position) keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Posted

Keys = NDArray[np.int64]  # page number times _PAGE + position, ascending

_PAGE = 1 << 30  # above any position (28 bits) and any distance


def keys(posted: Posted, pages: NDArray[np.bool_]) -> Keys:
    """All occurrences of a term in one field of some pages."""
    chosen = np.flatnonzero(pages[posted.pages])
    hits = posted.values.some(chosen).flat()
    numbers = np.repeat(posted.pages[chosen].astype(np.int64), np.diff(hits.starts))
    return np.sort(numbers * _PAGE + hits.positions, kind="stable")  # quick where it is in order already


def in_order(occurrences: Sequence[Keys], places: Sequence[int]) -> NDArray[np.int64]:
    """Page numbers where the terms stand at these places of a phrase."""
    starts = [found - place for found, place in zip(occurrences, places, strict=True)]
    starts.sort(key=len)
    left = starts[0]
    for others in starts[1:]:
        left = left[_nearest(others, left) == left]
    return np.unique(left // _PAGE)


def together(occurrences: Sequence[Keys], within: int) -> NDArray[np.int64]:
    """Page numbers where all terms stand within so many words, in any order."""
    first = np.concatenate(occurrences)  # each could be where such a window begins
    for others in sorted(occurrences, key=len):
        first = first[_nearest(others, first) - first <= within]
    return np.unique(first // _PAGE)


def _nearest(among: Keys, wanted: Keys) -> Keys:
    """For each key the same or the next one among others; far away where there is none."""
    last = np.array([np.iinfo(np.int64).max])
    found: Keys = np.append(among, last)[np.searchsorted(among, wanted)]
    return found
