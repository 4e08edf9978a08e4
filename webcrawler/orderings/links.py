"""Orderings by who links to a URL. Source: Cho 1998, section 4 and Figure 2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import BAND, Known, Ordering, Source
from webcrawler.records import Link

DAMPING = 0.9  # Cho 1998, section 6
LEAST = 1 - DAMPING  # the rank of a page that nobody links to
PER_NAT = 2**15  # priorities in a factor of e; 16 of them fit under BAND


def of_rank(rank: float) -> int:
    """The priority of a rank: its logarithm, in 2^19 steps from LEAST to e^16 times that."""
    return min(BAND - 1, max(0, round(PER_NAT * math.log(rank / LEAST))))


def rank_of(priority: int) -> float:
    return LEAST * math.exp(priority / PER_NAT)


class Backlink(Ordering):
    """Most backlinks seen so far, IB', counted by the frontier as pages are completed."""

    on_repeat = "add"

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return 1 if source else 0


class PageRank(Ordering):
    """Highest IR' over the links seen so far; a new URL enters with the share of the page that named it."""

    follows_ranks = True

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return of_rank(LEAST + DAMPING * rank_of(source.priority) / source.links) if source else 0

    def priorities(self, known: Known) -> NDArray[np.int64]:
        return clipped(PER_NAT * np.log(known.ranks / LEAST))


def clipped(priorities: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.clip(np.rint(priorities), 0, BAND - 1), np.int64)
