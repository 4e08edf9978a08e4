"""What the index stores by document, beside its posting lists: read for a few pages at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.whoosh.segment_reader import Segment
from webcrawler.index.whoosh.values import Values
from webcrawler.index.whoosh.vectors import Vector, decode


class Columns:
    """Of the documents of some segments; pages that are not among them, and older segments, have nothing."""

    def __init__(self, segments: Sequence[Segment], size: int) -> None:
        """`size`: above all page numbers."""
        self._segments = segments
        self._first = [0, *accumulate(len(segment.numbers) for segment in segments)]
        # by page number: the place of its document among those of all segments
        self._places: NDArray[np.int32] = np.full(size, -1, np.int32)
        for first, segment in zip(self._first, segments, strict=False):
            alive = np.flatnonzero(segment.alive)
            self._places[segment.numbers[alive]] = first + alive

    def sections(self, pages: Sequence[int]) -> Values:
        return Values.of(self._read("sections", pages))

    def vectors(self, pages: Sequence[int]) -> list[Vector]:
        return [decode(data) for data in self._read("vector", pages)]

    def _read(self, column: str, pages: Sequence[int]) -> list[bytes]:
        found = list[bytes]()
        for place in self._places[np.asarray(pages, np.int64)].tolist():
            at = bisect_right(self._first, place) - 1
            found.append(self._segments[at].bytes_of(column, place - self._first[at]) if place >= 0 else b"")
        return found
