"""What others call a page: the anchor texts of its in-links, of which a view is kept (GO 2.2)."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from webcrawler.archive.catalog import Catalog
from webcrawler.index.whoosh import Anchored, WhooshEngine

MAX_TEXTS = 200  # different ones of a page, those of the most servers first
MAX_CHARACTERS = 200  # of a text
PAGES = 5_000  # to a commit


class AnchorsFollower:
    """Applies the catalog's changes to the anchors, some pages to a commit.

    A change of a page is one of all pages it links to or linked to, so what many link to would be written
    over and over: whoever calls lets changes gather. The seq is committed with the last pages of a round:
    what a crash cuts off is done again.
    """

    def __init__(self, catalog: Catalog, engine: WhooshEngine) -> None:
        self._catalog, self._engine = catalog, engine
        self._left: list[int] = []  # pages of this round, ascending
        self._until = engine.anchors_applied

    def waiting(self) -> bool:
        return bool(self._left) or self._catalog.last_seq() > self._engine.anchors_applied

    def step(self) -> None:
        """Commits the next pages of the round, or the first of a new one."""
        if not self._left:
            self._until = self._catalog.last_seq()
            self._left = self._catalog.anchors.changed(self._engine.anchors_applied, self._until)
        some, self._left = self._left[:PAGES], self._left[PAGES:]
        sys.audit("webcrawler.anchors.read")
        seq = self._engine.anchors_applied if self._left else self._until
        self._engine.commit_anchors(some, list(anchors_of(self._catalog, some)), seq)


def anchors_of(catalog: Catalog, numbers: list[int]) -> Iterator[Anchored]:
    """Of those pages that have any, ascending."""
    named = {page.number: page for page in catalog.anchors.findable(numbers)}
    for number, links in groupby(catalog.anchors.of(list(named)), key=itemgetter(0)):
        page = named[number]
        votes, others = _votes(links, page.server_number)
        yield Anchored(number, page.url, page.server, _tapered(votes), _tapered(others))


def _votes(links: Iterable[tuple[int, str, int]], own: int) -> tuple[Counter[str], Counter[str]]:
    """How many links have each text, and how many of those are on other servers.

    All of the page's own server are one: navigation that stands on each page would outdo what others say.
    """
    others: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for _, anchor, server in links:
        text = " ".join(anchor[:MAX_CHARACTERS].split())
        if server == own:
            inside[text] = 1
        else:
            others[text] += 1
    return others + inside, others


def _tapered(votes: Counter[str]) -> tuple[tuple[str, int], ...]:
    """A text counts 1 + floor(log2(n)) times (GO 4.5.1: count-weights taper off quickly)."""
    best = sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:MAX_TEXTS]
    return tuple((text, n.bit_length()) for text, n in best)
