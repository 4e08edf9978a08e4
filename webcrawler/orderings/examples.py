"""Pages to compare others with, and pages that are scored again when more is known."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from webcrawler.orderings.base import UNTOLD, Seen
from webcrawler.records import Link


class Examples:
    """The seeds of a crawl and the targets of their redirects.

    A process that goes on with a crawl knows only those seeds that it is given again.
    """

    def __init__(self) -> None:
        self.ids: set[int] = set()  # URL ids
        self.awaited: set[int] = set()  # those whose text is still to come

    def add(self, id: int) -> bool:
        """Adds one; returns whether it is new."""
        is_new = id not in self.ids
        if is_new:
            self.ids.add(id)
            self.awaited.add(id)
        return is_new

    def decided(self, one: Seen) -> bool:
        """Stops waiting for a page; waits for the target if it redirects.

        Returns:
            Was it waited for?
        """
        for link in one.links if one.id in self.ids else ():
            if link.rel == "redirect":
                self.add(link.id)
        was_awaited = one.id in self.awaited
        self.awaited.discard(one.id)
        return was_awaited


@dataclass(slots=True)
class ScoredPage:
    vector: Any
    links: Sequence[Link]
    told: int = UNTOLD  # the priority that it gave its links

    def add(self, links: Sequence[Link]) -> None:
        """Adds links; none is taken away, as a page told again may come with some of them only."""
        known = {link.id for link in self.links}
        self.links = [*self.links, *(link for link in links if link.id not in known)]

    def tell_first(self, priority: int) -> None:
        """Keeps the first priority told: links that wait are not raised when their page is told again."""
        if self.told == UNTOLD:
            self.told = priority


def score_again(
    pages: Iterable[ScoredPage], score: Callable[[Any], int], but: Container[int]
) -> tuple[list[Link], list[int]]:
    """Scores pages again; returns the links whose priority changed, and their new priorities.

    Args:
        score: the priority that a page gives its links now; the best page of a link counts.
        but: ids of URLs that keep their priority.
    """
    pages = list(pages)
    links = {link.id: link for page in pages for link in page.links}
    before = _best(pages)
    for page in pages:
        page.told = score(page)
    now = _best(pages)
    changes = [id for id in links if now[id] != before[id] and id not in but]
    return [links[id] for id in changes], [now[id] for id in changes]


def _best(pages: Iterable[ScoredPage]) -> dict[int, int]:
    best: dict[int, int] = {}
    for page in pages:
        for link in page.links:
            best[link.id] = max(best.get(link.id, UNTOLD), page.told)
    return best
