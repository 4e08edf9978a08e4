"""Many small numbers in one object: it pickles to few bytes, can be iterated, becomes an array at once."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = "bytes | tuple[int, ...] | array[int]"

_FEW = 32  # the pickle of an array costs some 60 bytes more than the numbers do


def packed(numbers: Sequence[int]) -> Numbers:
    """Numbers of 0 to 2^32 - 1, each in as few bytes as the highest needs."""
    highest = max(numbers)
    if highest < 1 << 8:
        return bytes(numbers)
    if len(numbers) < _FEW:
        return tuple(numbers)
    return array("H" if highest < 1 << 16 else "I", numbers)


def unpacked(numbers: Numbers) -> NDArray[np.int64]:
    match numbers:
        case bytes():
            return np.frombuffer(numbers, np.uint8).astype(np.int64)
        case tuple():
            return np.array(numbers, np.int64)
        case _:
            return np.frombuffer(numbers, numbers.typecode).astype(np.int64)
