"""An array that grows."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

ROOM = 1024  # of a new one


class Growable(Generic[Scalar]):
    """Appending costs amortised O(what is appended): the room doubles when it is used up."""

    def __init__(self, dtype: type[Scalar]) -> None:
        self._room: NDArray[Scalar] = np.empty(ROOM, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Scalar]:
        """A view that can be written to; it is of no use after the next growth."""
        return self._room[: self._size]

    def append(self, values: NDArray[Scalar]) -> None:
        start = self._size
        self._reserve(start + len(values))
        self._room[start : self._size] = values

    def extend_to(self, size: int, fill: float) -> None:
        """At least this long; new places hold `fill`."""
        start = self._size
        if size > start:
            self._reserve(size)
            self._room[start:size] = fill

    def _reserve(self, size: int) -> None:
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._size = size
