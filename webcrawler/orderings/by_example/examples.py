"""Which pages are the examples? The seeds of a crawl, and what these redirect to."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from webcrawler.orderings import Seen
from webcrawler.records import Link


class Examples:
    """Known by their ids. What was discovered without a source is one.

    A process that goes on with a crawl knows those seeds only that it is given again.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._awaited: set[int] = set()

    def __contains__(self, id: object) -> bool:
        return id in self._known

    @property
    def awaited(self) -> bool:
        """Is the text of one still to come?"""
        return bool(self._awaited)

    def add(self, id: int) -> bool:
        """Returns whether it is a new one."""
        if id in self._known:
            return False
        self._known.add(id)
        self._awaited.add(id)
        return True

    def decided(self, one: Seen) -> bool:
        """Nothing is awaited of it any more, but the page that it redirects to. Returns whether it was."""
        for link in one.links if one.id in self._known else ():
            if link.rel == "redirect":
                self.add(link.id)
        was_awaited = one.id in self._awaited
        self._awaited.discard(one.id)
        return was_awaited


UNTOLD = -(2**20)  # no priority


@dataclass(slots=True)
class Judged:
    vector: Any
    links: Sequence[Link]
    told: int = UNTOLD  # the priority that it gave its links

    def add(self, links: Sequence[Link]) -> None:
        """None is taken away: who tells of a page again may know of some of its links only."""
        known = {link.id for link in self.links}
        self.links = [*self.links, *(link for link in links if link.id not in known)]

    def tell_first(self, priority: int) -> None:
        """Links that wait are not raised when their page is taken in again: they have the first one still."""
        if self.told == UNTOLD:
            self.told = priority


def judge_again(
    pages: Iterable[Judged], judge: Callable[[Any], int], but: Container[int]
) -> tuple[list[Link], list[int]]:
    """Links whose best page gives them another priority than before, as an ordering plans them.

    Args:
        judge: what priority a page gives its links now.
        but: ids of URLs that keep what they have.
    """
    pages = list(pages)
    links = {link.id: link for page in pages for link in page.links}
    before = _best(pages)
    for page in pages:
        page.told = judge(page)
    now = _best(pages)
    changes = [id for id in links if now[id] != before[id] and id not in but]
    return [links[id] for id in changes], [now[id] for id in changes]


def _best(pages: Iterable[Judged]) -> dict[int, int]:
    best: dict[int, int] = {}
    for page in pages:
        for link in page.links:
            best[link.id] = max(best.get(link.id, UNTOLD), page.told)
    return best
