"""Retrieval system rank: strategies judged by our own retrieval, without a rule of relevance.

N strategies start from the same seeds and crawl P pages each; what they fetched is pooled and ranked against
the query. Source: EW, "Retrieval system rank", which leaves open what becomes of the ranks. Ours: the mean
place in the pool of what a strategy fetched, and its share of the pool's best pages. Both say how it did
beside those that it was pooled with, and mean nothing across pools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

TOP = 100  # of the pool


class Pooled(NamedTuple):
    """How one strategy did; each page of the pool counts once."""

    mean_place: float  # of its pages, in percent of the pool: 0 is best; chance gives 50
    top_share: float  # of the pool's best 100 pages, those that it fetched; in percent


def pooled(fetched: Mapping[str, Sequence[int]], ranked: Sequence[int]) -> dict[str, Pooled]:
    """By strategy.

    Args:
        fetched: page numbers by strategy.
        ranked: page numbers, best first; pages that it lacks do not answer the query, and share the places
            behind all others.
    """
    pool = set().union(*fetched.values())
    answers = [number for number in ranked if number in pool]
    place = {number: float(at) for at, number in enumerate(answers)}
    behind = (len(answers) + len(pool) - 1) / 2  # the mean of the places that are left
    top = set(answers[:TOP])
    last = max(1, len(pool) - 1)
    return {
        strategy: Pooled(
            100 * fmean(place.get(number, behind) for number in set(pages)) / last if pages else 100.0,
            100 * len(top.intersection(pages)) / max(1, len(top)),
        )
        for strategy, pages in fetched.items()
    }
