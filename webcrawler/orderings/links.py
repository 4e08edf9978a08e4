"""Orderings by who links to a URL. Source: Cho 1998, section 4 and Figure 2; `Blend` is our own."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import (
    ALL,
    BAND,
    DAMPING,
    GOLDEN,
    LEAST,
    MIX_1,
    MIX_2,
    Known,
    Ordering,
    Source,
    draw,
    is_vote,
    seed_of,
)
from webcrawler.records import Link

PER_NAT = 2**15  # priorities in a factor of e; 16 of them fit under BAND
# Of `blend`; how they came about: docs/explanation/orderings.md
BACKLINKS = 1.0  # what ln(IB' + 1) counts beside ln(IR')
CHANCE = 3.5  # draws of at least e^-CHANCE come forward by chance; more: rarer
YIELD = 0.1  # what ln(new URLs in a page that the same page named) counts
BLEND_PER_NAT = 2**14  # priorities in a factor of e; 32 of them fit under BAND
LIFT = 4.0  # nats from the lowest priority to a score of 0
BY_CHANCE = 0.2  # the rank of a page that chance brought: not known from its priority, and seldom high


def of_rank(rank: float) -> int:
    """The priority of a rank: its logarithm, in 2^19 steps from LEAST to e^16 times that."""
    return min(BAND - 1, max(0, round(PER_NAT * log(rank / LEAST))))


def rank_of(priority: int) -> float:
    return LEAST * exp(priority / PER_NAT)


class Backlink(Ordering):
    """Most backlinks seen so far, IB', counted by the frontier as pages are completed."""

    on_repeat = "add"

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return 1 if is_vote(link, source) else 0


class PageRank(Ordering):
    """Highest IR' over the links seen so far; a new URL starts with its share of the page that named it."""

    follows_ranks = True

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return of_rank(LEAST + DAMPING * rank_of(source.priority) / source.links) if source else 0

    def priorities(self, known: Known) -> NDArray[np.int64]:
        return clipped(PER_NAT * np.log(known.ranks / LEAST))


def clipped(priorities: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.clip(np.rint(priorities), 0, BAND - 1), np.int64)


def draws(ids: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """`draw` for an array of URL ids."""
    z = ids.astype(np.int64).view(np.uint64) + np.uint64((seed + 1) * GOLDEN & ALL)
    z = (z ^ z >> np.uint64(30)) * np.uint64(MIX_1)
    z = (z ^ z >> np.uint64(27)) * np.uint64(MIX_2)
    return ((z ^ z >> np.uint64(31)) >> np.uint64(12)).astype(np.float64) * 2.0**-52 + 2.0**-53


class Blend(Ordering):
    """The better of importance and chance: max(ln IR' + BACKLINKS · ln(IB' + 1), E - CHANCE) + YIELD · ln y.

    E is drawn once from an exponential distribution, by the URL's id: some URLs come forward whatever is
    known of them, so that the crawl does not stay in one dense cluster, which is the fault of IR' and IB'.
    y is `Known.yields`: it leads away from what is known already. A new URL starts with its share of the
    rank of the page that named it, which is read back from that page's priority.

    Source: our own; docs/explanation/orderings.md.
    """

    follows_ranks = True

    def __init__(self, seed: str = "0") -> None:
        self._seed = seed_of(seed)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        rank = LEAST + DAMPING * self._rank(source) / source.links if source else LEAST
        score = max(log(rank) + BACKLINKS * log(2), self._chance(link.id))
        return min(BAND - 1, max(0, round(BLEND_PER_NAT * (score + LIFT))))

    def priorities(self, known: Known) -> NDArray[np.int64]:
        importance = np.log(known.ranks) + BACKLINKS * np.log(known.backlinks + 1.0)
        chance = -np.log(draws(known.ids, self._seed)) - CHANCE
        return clipped(BLEND_PER_NAT * (np.maximum(importance, chance) + YIELD * np.log(known.yields) + LIFT))

    def _rank(self, source: Source) -> float:
        """About the IR' of the page."""
        score = source.priority / BLEND_PER_NAT - LIFT
        by_chance = score <= self._chance(source.id) + 1 / BLEND_PER_NAT
        return BY_CHANCE if by_chance else exp(score - BACKLINKS * log(2))

    def _chance(self, id: int) -> float:
        return -log(draw(id, self._seed)) - CHANCE


class BlendInTurn(Blend):
    """`Blend` within each server, while servers take turns as in `breadth`: for a web of many servers."""

    servers_take_turns = True
