"""What the importance of a page adds to its score, whatever was asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, Part

HALF = 3.0  # PageRank (mean 1) that gives half of the weight: navigational queries, explanation/ranking.md


def importance(ranks: NDArray[np.floating], weight: float) -> NDArray[np.float64]:
    """0 to `weight`, growing with PageRank and levelling off: no page is first for its links alone.

    Source: Craswell, Robertson, Zaragoza, Taylor 2005, "Relevance Weighting for Query Independent Evidence",
    the saturating transformation.
    """
    found = ranks.astype(np.float64)
    return weight * found / (found + HALF)


def part(matches: Matches, weight: float, place: int) -> Part:
    """The row of an explanation."""
    rank = matches.ranks()[place : place + 1]
    return Part("importance", f"PageRank {rank[0]:.2f}", float(importance(rank, weight)[0]))
