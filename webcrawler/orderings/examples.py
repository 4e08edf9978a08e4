"""Orderings by example pages: similarity to the seeds, and what the classifier has in common with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from webcrawler.orderings.base import PRIORITY_MAX, UNTOLD, Ordering, Seen, Source
from webcrawler.orderings.topic import Wanted, stems_of
from webcrawler.orderings.words import FULL, cosine, redirected
from webcrawler.records import Lease, Link, Text

KEPT = 1_000  # pages that came before the last seed, to be scored again when it is there


class Examples:
    """The seeds of a crawl and the targets of their redirects."""

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


class SeedSimilarity(Ordering):
    """Links of the page most like all seed pages together first; a URL has the score of its best page.

    Similarity is the cosine of term frequencies, over stems without stop words, which make all English alike.
    Seeds come first. Until the last seed is there, pages are compared with those that are, and scored again
    then. If no seed is known, links inherit the priority of their page.

    Weakness: seeds on several topics, or on none, make a poor query. A long seed outweighs others.

    Source: Mengozzi, "Page importance".

    Args:
        query: further words, each as if it stood in the seeds as often as their most frequent one.
    """

    on_repeat = "raise"
    takes_notes = True
    learns = True

    def __init__(self, query: str = "") -> None:
        self._words = list(Wanted.of(query).shares) if query else []
        self._examples = Examples()
        self._seeds: Counter[str] = Counter()  # the sum of their vectors
        self._wanted = Counter(self._words)
        self._pages: dict[int, ScoredPage] = {}  # by URL id, while there are seeds to come
        self._is_changed = False  # what is wanted, since the last plan

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source:
            return redirected(source) if link.rel == "redirect" else source.note
        if self._examples.add(link.id) and link.id in self._pages:
            self._take(Seen(link.id, link.url), self._pages[link.id].vector)
        return PRIORITY_MAX

    def page_note(self, text: Text | None, lease: Lease) -> int:
        if not (text and self._wanted):
            return max(0, min(lease.priority, FULL))
        score = self._score(Counter(stems_of(text)))
        if lease.id in self._pages:
            self._pages[lease.id].tell_first(score)
        return score

    def learn(self, seen: Sequence[Seen]) -> None:
        for one in seen:
            is_example = one.id in self._examples.ids
            is_wanted = is_example or self._are_to_come
            page = Counter(stems_of(one.text)) if one.text and is_wanted else None
            if is_example:
                self._take(one, page)
            if one.id in self._pages:
                self._pages[one.id].add(one.links)
            elif page and len(self._pages) < KEPT:
                self._pages[one.id] = ScoredPage(page, one.links)

    def plan(self) -> tuple[list[Link], list[int]]:
        """Scores pages that came before the last seed by what is known now."""
        pages = list(self._pages.values()) if self._is_changed else []
        self._is_changed = False
        if not self._are_to_come:
            self._pages.clear()
        return score_again(pages, lambda page: self._score(page.vector), self._examples.ids)

    @property
    def _are_to_come(self) -> bool:
        return bool(self._examples.awaited) or not self._seeds

    def _take(self, one: Seen, page: Counter[str] | None) -> None:
        """Adds a seed's page; each counts once."""
        if self._examples.decided(one) and page:
            self._seeds.update(page)
            often = max(self._seeds.values())
            self._wanted = self._seeds + Counter(dict.fromkeys(self._words, often))
            self._is_changed = True

    def _score(self, page: Counter[str]) -> int:
        return round(cosine(page, self._wanted) * FULL)
