"""The ordering that finds important pages soonest. How it came about: docs/explanation/orderings.md."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import BAND, Known, Ordering, Source
from webcrawler.orderings.chance import draw, draws
from webcrawler.orderings.links import DAMPING, LEAST, clipped
from webcrawler.orderings.plain import seed_of
from webcrawler.records import Link

BACKLINKS = 1.0  # what ln(IB' + 1) counts beside ln(IR')
CHANCE = 3.5  # draws of at least e^-CHANCE come forward by chance; more: rarer
YIELD = 0.1  # what ln(new URLs in a page that the same page named) counts
PER_NAT = 2**14  # priorities in a factor of e; 32 of them fit under BAND
LIFT = 4.0  # nats from the lowest priority to a score of 0
BY_CHANCE = 0.2  # the rank of a page that chance brought: not known from its priority, and seldom high


class Blend(Ordering):
    """The better of importance and chance: max(ln IR' + BACKLINKS · ln(IB' + 1), E - CHANCE) + YIELD · ln y.

    E is drawn once from an exponential distribution, by the URL's id: some URLs come forward whatever is
    known of them, so that the crawl does not dig in one dense cluster, the fault of IR' and IB'. y is what
    `Known.yields` says: it leads away from what is known already. A new URL enters with the share of the
    page that named it, whose rank is read back from its priority.
    """

    follows_ranks = True

    def __init__(self, seed: str = "0") -> None:
        self._seed = seed_of(seed)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        rank = LEAST + DAMPING * self._rank(source) / source.links if source else LEAST
        score = max(log(rank) + BACKLINKS * log(2), self._chance(link.id))
        return min(BAND - 1, max(0, round(PER_NAT * (score + LIFT))))

    def priorities(self, known: Known) -> NDArray[np.int64]:
        importance = np.log(known.ranks) + BACKLINKS * np.log(known.backlinks + 1.0)
        chance = -np.log(draws(known.ids, self._seed)) - CHANCE
        return clipped(PER_NAT * (np.maximum(importance, chance) + YIELD * np.log(known.yields) + LIFT))

    def _rank(self, source: Source) -> float:
        """About what IR' the page has."""
        score = source.priority / PER_NAT - LIFT
        return exp(score - BACKLINKS * log(2)) if score > self._chance(source.id) + 1 / PER_NAT else BY_CHANCE

    def _chance(self, id: int) -> float:
        return -log(draw(id, self._seed)) - CHANCE


class BlendInTurn(Blend):
    """The same within each server, while servers take turns, as in `breadth`: for a web of many servers."""

    servers_take_turns = True
