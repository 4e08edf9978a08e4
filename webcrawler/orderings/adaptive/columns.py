"""Columns of numbers that grow, and running means in them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIRST = 1_024  # rows at the start; doubled when they are full
FLOATS = np.dtype(np.float32)


class Column:
    """An array with a value for each row; rows that were never set hold `fill`."""

    def __init__(self, fill: float = 0, dtype: Any = FLOATS, width: int = 0) -> None:
        self._fill = fill
        self.rows: NDArray[Any] = np.full((FIRST, width) if width else FIRST, fill, dtype)

    def reach(self, row: int) -> None:
        """Makes sure that there is such a row."""
        if row >= len(self.rows):
            more = np.full_like(self.rows, self._fill, shape=(row + 1, *self.rows.shape[1:]))
            self.rows = np.concatenate([self.rows, more])

    def keep(self, rows: NDArray[Any]) -> None:
        """Keeps only these rows, which become rows 0, 1, …"""
        kept = np.full_like(self.rows, self._fill)
        kept[: len(rows)] = self.rows[rows]
        self.rows = kept


class Numbers:
    """Numbers keys from 1 to a limit; all keys that come later have number 0."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._numbers: dict[Hashable, int] = {}

    def of(self, key: Hashable) -> int:
        found = self._numbers.get(key)
        if found is None:
            if len(self._numbers) >= self._limit:
                return 0
            found = self._numbers[key] = len(self._numbers) + 1
        return found


class Means:
    """Means of values by number, drawn towards an expected value while there are few."""

    def __init__(self) -> None:
        self.counts, self.sums = Column(), Column()

    def reach(self, number: int) -> None:
        self.counts.reach(number)
        self.sums.reach(number)

    def add(self, number: int, value: float) -> None:
        self.counts.rows[number] += 1
        self.sums.rows[number] += value

    def of(self, numbers: NDArray[Any], expected: Any, strength: float) -> NDArray[Any]:
        """The means, as if `strength` values of `expected` had come before."""
        counts, sums = self.counts.rows[numbers], self.sums.rows[numbers]
        return np.asarray((sums + strength * expected) / (counts + strength))
