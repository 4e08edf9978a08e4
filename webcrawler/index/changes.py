"""Applying the catalog's changes to documents and anchors of the index, a commit at a time.

Anchors are what others call a page: the texts of the links that lead to it (GO 2.2).
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from webcrawler import clock, metrics
from webcrawler.archive.catalog import LEAST_PAGES, SAMPLED, Catalog, Repeats
from webcrawler.index.folder import discard
from webcrawler.index.schema import Anchored, Indexable
from webcrawler.index.writer import WhooshEngine
from webcrawler.records import Document

BATCH = 500  # changes to a commit (WC: "every few hundred documents")
ANCHORS_SHARE = 0.1  # of the time while a crawl is alive: the more there is to do, the more of it at once
ANCHOR_PAGES = 5_000  # to a commit
MAX_TEXTS = 200  # different ones of a page, those of the most servers first
MAX_CHARACTERS = 200  # of a text
_log = logging.getLogger(__name__)


class Follower:
    """Applies changes in their order, and commits the seq of the last one with them.

    A crash can therefore only repeat what no commit has, and what is repeated replaces documents of the same
    number. Documents that are no longer to be found (gone, duplicates, noindex, without text) are removed.

    A changed page changes the anchors of all pages it links to or linked to, so anchors of pages with many
    in-links would be written again and again. Their changes are therefore collected into rounds; the seq is
    committed with the last pages of a round.
    """

    def __init__(self, crawl_dir: Path, aside: bool = False) -> None:
        """Open index and catalog.

        Args:
            aside: build a new index beside the one that is searched.
        """
        self._catalog = Catalog(crawl_dir / "catalog.sqlite", readonly=True)
        self._engine = WhooshEngine(crawl_dir, self._catalog.identity, aside)
        if self.is_ahead():
            self._engine.close()
            _log.warning("index and anchors know more than the catalog, as of a backup: they are rebuilt")
            discard(crawl_dir, aside)
            self._engine = WhooshEngine(crawl_dir, self._catalog.identity, aside)
        self._pages: list[int] = []  # whose anchors are left to write in this round, ascending
        self._round_seq = self._engine.anchors_applied
        self.anchors_due = 0.0  # on the monotonic clock

    def close(self) -> None:
        self._engine.close()
        self._catalog.close()

    @property
    def applied(self) -> int:
        return self._engine.applied

    def waiting(self) -> int:
        """Return how many changes no commit of documents has yet, at most."""
        return self._catalog.last_seq() - self.applied

    def is_ahead(self) -> bool:
        """Tell whether index or anchors know more than the catalog: it was restored from a backup."""
        return max(self._engine.applied, self._engine.anchors_applied) > self._catalog.last_seq()

    def is_done(self) -> bool:
        return not self.waiting() and not self._anchors_wait()

    def step(self, limit: int = BATCH) -> int:
        """Commit the next changes, at most `limit`; return how many."""
        changes = self._catalog.changes(self.applied, limit)
        if changes:
            sys.audit("webcrawler.index.read")
            documents = self._commit({change.number for change in changes}, changes[-1].seq)
            now = clock.now()
            for document in documents:
                metrics.follower_lag_seconds.observe(max(0.0, now - document.fetched))
            metrics.follower_changes.inc(len(changes))
            sys.audit("webcrawler.index.applied")
        return len(changes)

    def _commit(self, numbers: Collection[int], seq: int) -> Iterable[Document]:
        """Put documents into the index as the catalog has them; returns those."""
        began = time.perf_counter()
        documents = self._catalog.documents(sorted(numbers))
        self._engine.commit(numbers, indexable(self._catalog, documents), seq)
        # Whoosh's readers stand in cycles and keep merged segments mapped: 1.3 GB after 33,000 documents.
        gc.collect()
        metrics.follower_commit_seconds.observe(time.perf_counter() - began)
        return documents.values()

    def step_anchors(self) -> bool:
        """Commit the anchors of the next pages; return whether there were any to do."""
        if not self._anchors_wait():
            return False
        started = time.monotonic()
        if not self._pages:
            self._round_seq = self._catalog.last_seq()
            self._pages = self._catalog.anchors.changed(self._engine.anchors_applied, self._round_seq)
        some, self._pages = self._pages[:ANCHOR_PAGES], self._pages[ANCHOR_PAGES:]
        sys.audit("webcrawler.anchors.read")
        seq = self._engine.anchors_applied if self._pages else self._round_seq
        self._engine.commit_anchors(some, list(_anchors_of(self._catalog, some)), seq)
        gc.collect()
        ended = time.monotonic()
        self.anchors_due = max(started, self.anchors_due) + (ended - started) / ANCHORS_SHARE
        return True

    def catch_up(
        self,
        progress: Callable[[int, int], None] = lambda applied, last: None,
    ) -> None:
        """Apply all changes.

        Args:
            progress: called with how many are applied, and with how many there are.
        """
        while self.step():
            progress(self.applied, self.applied + self.waiting())
        while self.step_anchors():
            pass

    def optimize(self) -> None:
        """Merge segments, after documents are indexed again whose servers are known much better by now."""
        outdated = self.outdated()
        for start in range(0, len(outdated), BATCH):
            self._commit(outdated[start : start + BATCH], self._engine.applied)
        self._engine.optimize()

    def outdated(self) -> list[int]:
        """Return the documents that twice as many pages tell now what repeats over their servers."""
        numbers, sampled = self._engine.sampled()
        pages = dict(zip(numbers.tolist(), sampled.tolist(), strict=True))
        found, known = list[int](), dict[str, int]()
        some = [number for number, told in pages.items() if 2 * told <= SAMPLED]
        for start in range(0, len(some), ANCHOR_PAGES):
            for number, server in self._catalog.urls.servers_of(some[start : start + ANCHOR_PAGES]).items():
                if server not in known:
                    known[server] = self._catalog.blocks.pages(server)
                if known[server] >= max(LEAST_PAGES, 2 * pages[number]):
                    found.append(number)
        return found

    def _anchors_wait(self) -> bool:
        return bool(self._pages) or self._catalog.last_seq() > self._engine.anchors_applied


def indexable(catalog: Catalog, documents: Mapping[int, Document]) -> list[Indexable]:
    """Return those of the documents that searches may find, with what repeats over their servers."""
    shown = [n for n, document in documents.items() if not document.duplicate_of and not document.noindex]
    repeats: dict[str, Repeats] = {}
    indexables = []
    for number, text in sorted(catalog.texts(shown).items()):
        server = documents[number].server
        if server not in repeats:
            repeats[server] = catalog.blocks.repeats(server)
        indexables.append(Indexable(documents[number], text, repeats[server]))
    return indexables


def _anchors_of(catalog: Catalog, numbers: list[int]) -> Iterator[Anchored]:
    """Yield the anchors of those pages that have any, by ascending number.

    All links of the page's own server count as one: navigation that stands on each page would outweigh what
    others say.
    """
    named = {page.number: page for page in catalog.anchors.findable(numbers)}
    for number, links in groupby(catalog.anchors.of(list(named)), key=itemgetter(0)):
        page = named[number]
        votes, others = Counter[str](), Counter[str]()
        for _, anchor, server in links:
            text = " ".join(anchor[:MAX_CHARACTERS].split())
            if server == page.server_number:
                votes[text] = 1
            else:
                others[text] += 1
        yield Anchored(number, page.url, page.server, _tapered(votes + others), _tapered(others))


def _tapered(votes: Counter[str]) -> tuple[tuple[str, int], ...]:
    """Count a text 1 + floor(log2(n)) times (GO 4.5.1: count-weights taper off quickly)."""
    best = sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:MAX_TEXTS]
    return tuple((text, n.bit_length()) for text, n in best)
