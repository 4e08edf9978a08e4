"""Orderings that give a URL its priority once: by discovery, by chance, by what a spider asks for."""

from __future__ import annotations

import json
from math import log

from webcrawler.orderings.base import BAND, PRIORITY_MAX, Ordering, Source, seed_of
from webcrawler.records import Link

# Constants of splitmix64 (Steele 2014).
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL = 2**64 - 1


class Breadth(Ordering):
    """Servers first, then documents.

    A server without a document comes before all others, first found first; when there is none, all
    servers take turns, least recently accessed first; within a server first found first.

    Source: Pinkerton 1994, "The Search Engine", indexing mode.
    """

    servers_take_turns = True


class Fifo(Ordering):
    """First found first, over all servers. Source: Cho 1998, Figure 2 without reordering."""


class Random(Ordering):
    """Any known URL, each with the same chance at every step.

    A URL's time is that of the page that named it plus a draw from an exponential distribution; the
    earliest time is next. Such clocks have no memory: of the URLs known, each is equally likely to ring
    first. The draw comes from the URL's id, so that a crawl can be repeated.

    Source: Cho 1998, section 4, the random crawler.
    """

    PER_UNIT = 2**13  # a crawl of 300,000 pages ends at about 38 units, and there are 64

    def __init__(self, seed: str = "0") -> None:
        self._seed = seed_of(seed)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return max(0, (source.priority if source else BAND - 1) - self._pause(link.id))

    def out_of_turn(self, source: Source) -> Source:
        """Its clock has not rung yet, so the time is about that at which it was named."""
        return source._replace(priority=source.priority + self._pause(source.id))

    def _pause(self, id: int) -> int:
        return round(-log(draw(id, self._seed)) * self.PER_UNIT)


class Priority(Ordering):
    """Highest Scrapy priority first: for spiders whose requests have one."""

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if not link.request.startswith('{"priority":'):
            return 0
        wanted = int(json.loads(link.request)["priority"])
        return max(-PRIORITY_MAX, min(wanted, PRIORITY_MAX))


def draw(id: int, seed: int) -> float:
    """A number above 0 and below 1, always the same for one URL id and one seed."""
    z = (id + (seed + 1) * GOLDEN) & ALL
    z = ((z ^ z >> 30) * MIX_1) & ALL
    z = ((z ^ z >> 27) * MIX_2) & ALL
    return float((z ^ z >> 31) >> 12) * 2.0**-52 + 2.0**-53
