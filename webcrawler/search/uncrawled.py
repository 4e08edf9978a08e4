"""Pages that were never fetched, of which only links say something: when are they hits?"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from webcrawler.text.query import Is, Query
from webcrawler.text.query import leaves as leaves_of

FEW = "few"  # pages that were never fetched are hits where few others are, below these
CRAWLED = 10  # hits that were fetched; where there are as many, nobody misses the others

Flags = NDArray[np.bool_]


def ask_for_uncrawled(queries: Iterable[Query]) -> bool:
    """Tell whether one of the queries says is:uncrawled."""
    return any(leaf == Is("uncrawled") for one in queries for leaf, wanted in leaves_of(one.root) if wanted)


def below(scores: NDArray[np.float64], crawled: Flags) -> NDArray[np.float64]:
    """Return the scores with those of uncrawled pages at most half of that of any crawled one."""
    if crawled.all() or not crawled.any():
        return scores
    most = max(float(scores[~crawled].max()), 0.0)
    floor = max(float(scores[crawled].min()), 0.0) / 2
    return np.where(crawled, scores, scores * floor / most) if most > floor else scores
