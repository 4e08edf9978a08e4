"""Chance that can be repeated: drawn from a URL's id and a seed (splitmix64, Steele 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL = 2**64 - 1


def draw(id: int, seed: int) -> float:
    """Above 0 and below 1, for one URL."""
    z = (id + (seed + 1) * GOLDEN) & ALL
    z = ((z ^ z >> 30) * MIX_1) & ALL
    z = ((z ^ z >> 27) * MIX_2) & ALL
    return float((z ^ z >> 31) >> 12) * 2.0**-52 + 2.0**-53


def draws(ids: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """The same for URLs side by side."""
    z = ids.astype(np.int64).view(np.uint64) + np.uint64((seed + 1) * GOLDEN & ALL)
    z = (z ^ z >> np.uint64(30)) * np.uint64(MIX_1)
    z = (z ^ z >> np.uint64(27)) * np.uint64(MIX_2)
    return ((z ^ z >> np.uint64(31)) >> np.uint64(12)).astype(np.float64) * 2.0**-52 + 2.0**-53
