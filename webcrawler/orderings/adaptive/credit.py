"""Credit for the steps that led to a wanted page, as reinforcement learning gives it."""

from __future__ import annotations

from collections.abc import Sequence

from webcrawler.orderings.adaptive.adaptive import Adaptive
from webcrawler.orderings.base import Ordering, Seen, Source
from webcrawler.records import Link


class Credit(Ordering):
    """Follows links like those from which wanted pages were reached, though it took more than one step.

    It is `adaptive` with another reward: where that learns which score the page of a link had, this learns
    the discounted return (`Returns`), so that a page off the topic is worth a visit if pages like it have
    led to the topic. Rennie and McCallum learn from a complete crawl, by a classifier of link texts; here it
    is learnt as the crawl goes on, as means over what links have in common.

    Weakness: a page that was followed but not read to its end has a return that is too low.

    Source: Rennie, McCallum 1999, "Using Reinforcement Learning to Spider the Web Efficiently"; the survey of
    crawler types, "Focused Crawler".

    Args:
        query, also: as for `Adaptive`.
        gamma: what a score counts one link before its page, as a share; 0: `adaptive`.
    Raises:
        BadInput: the query has no word to look for; gamma is not from 0 to below 1.
    """

    learns = True

    def __init__(self, query: str = "", also: str = "", gamma: str = "0.6") -> None:
        self._adaptive = Adaptive(query, also, gamma)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return self._adaptive.first_priority(link, source)

    def learn(self, seen: Sequence[Seen]) -> None:
        self._adaptive.learn(seen)

    def plan(self) -> tuple[list[Link], list[int]]:
        return self._adaptive.plan()
