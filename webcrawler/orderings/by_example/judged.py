"""Pages that were judged by what was known, and are judged again when more is."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from webcrawler.records import Link

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
