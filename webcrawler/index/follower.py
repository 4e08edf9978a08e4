"""How index and anchors keep up with the catalog, a commit at a time: as views, or in a command that waits.

Anchors are what others call a page: the texts of the links that lead to it (GO 2.2).
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import closing, nullcontext
from pathlib import Path

from webcrawler import clock, metrics
from webcrawler.archive.catalog import LEAST_PAGES, SAMPLED, Catalog
from webcrawler.background import Views, is_crawling
from webcrawler.index.elsewhere import Elsewhere
from webcrawler.index.folder import discard, exchange
from webcrawler.index.schema import anchors_of, indexable
from webcrawler.index.writer import WhooshEngine
from webcrawler.records import Document

BATCH = 500  # documents to a commit (WC: "every few hundred documents")
BACKLOG = 4 * BATCH  # changes, most of which may be of other URLs: from so many on, the next commit begins
ANCHORS_SHARE = 0.1  # of the time while a crawl is alive: the more there is to do, the more of it at once
ANCHOR_PAGES = 5_000  # to a commit
PATIENCE_SECONDS = 5.0  # how long the first waiting change waits for the others
Progress = Callable[[int, int], None]  # applied, last seq
_log = logging.getLogger(__name__)


def _silent(applied: int, last: int) -> None:
    """Show no progress."""


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
        self._elsewhere = Elsewhere(crawl_dir)
        self._round = self._engine.anchors_applied, self._engine.elsewhere_applied
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
        """Commit the next changes, of at most `limit` documents; return how many."""
        changes = self._catalog.changes(self.applied, limit)
        if changes:
            sys.audit("webcrawler.index.read")
            pages = {change.number for change in changes if change.kind != "links"}
            documents = self._commit(pages, changes[-1].seq)
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
            self._begin_round()
        some, self._pages = self._pages[:ANCHOR_PAGES], self._pages[ANCHOR_PAGES:]
        sys.audit("webcrawler.anchors.read")
        applied = self._engine.anchors_applied, self._engine.elsewhere_applied
        anchors = list(anchors_of(self._catalog, some, self._elsewhere))
        self._engine.commit_anchors(some, anchors, *(applied if self._pages else self._round))
        gc.collect()
        ended = time.monotonic()
        self.anchors_due = max(started, self.anchors_due) + (ended - started) / ANCHORS_SHARE
        return True

    def _begin_round(self) -> None:
        """Find the pages of which links say something else, here or in other folders."""
        engine, catalog = self._engine, self._catalog
        self._round = catalog.last_seq(), self._elsewhere.seq
        changed = self._elsewhere.changed(engine.elsewhere_applied, self._round[1])
        numbers = catalog.anchors.changed(engine.anchors_applied, self._round[0])
        self._pages = sorted({*numbers, *catalog.urls.numbers(changed)}) if changed else numbers

    def catch_up(self, progress: Progress = _silent) -> None:
        """Apply all changes."""
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
        engine = self._engine
        is_behind = self._catalog.last_seq() > engine.anchors_applied
        return bool(self._pages) or is_behind or self._elsewhere.seq != engine.elsewhere_applied


def lag(crawl_dir: Path) -> int:
    """Return how many changes of the catalog the index has not applied yet."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last, applied = catalog.last_seq(), WhooshEngine.applied_in(crawl_dir)[0]
    return last - applied if applied <= last else last


def anchors_applied(crawl_dir: Path) -> int:
    """Return the seq of the catalog up to which searches see anchors."""
    return WhooshEngine.applied_in(crawl_dir)[1]


class Following:
    """Index and anchors, as views: they follow the catalog's changes, a commit a step."""

    def __init__(self, crawl_dir: Path) -> None:
        self._crawl_dir = crawl_dir
        self._follower = Follower(crawl_dir)
        # What is there at the start has waited long enough.
        self._waits_since: float | None = time.monotonic() - PATIENCE_SECONDS
        self._is_optimized = False

    def step(self, crawling: bool) -> bool:
        follower, now = self._follower, time.monotonic()
        if follower.is_ahead():  # the catalog was restored from a backup: the next one builds the index again
            follower.close()
            self._follower = follower = Follower(self._crawl_dir)
        if crawling and now >= follower.anchors_due and follower.step_anchors():
            return True
        waiting = follower.waiting()
        self._waits_since = (self._waits_since or now) if waiting else None
        has_waited = self._waits_since is not None and now - self._waits_since >= PATIENCE_SECONDS
        if waiting >= BACKLOG or (waiting and not crawling) or has_waited:
            self._waits_since = None
            return bool(follower.step())
        if not crawling and follower.step_anchors():
            return True
        if not (crawling or self._is_optimized):
            follower.optimize()
        self._is_optimized = not crawling
        return False

    def is_behind(self) -> bool:
        return not (self._follower.is_done() and self._is_optimized)

    def close(self) -> None:
        self._follower.close()


def wait_until_caught_up(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Wait until the index has what the catalog had at the call; follow in this process where nobody does.

    Where nobody follows, the index is opened and checked even if it says that it has everything.
    """
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last, identity = catalog.last_seq(), catalog.identity
        checked = False
        while True:
            applied = WhooshEngine.applied_in(crawl_dir, identity)
            # An index ahead of the catalog is of one that a backup has replaced.
            caught_up = last <= min(applied) <= max(applied) <= catalog.last_seq()
            progress(applied[0], last)
            if checked and caught_up:
                return
            with Views(crawl_dir).lock() or nullcontext() as held:
                if held:
                    _build(crawl_dir, progress)
                elif not caught_up:
                    time.sleep(clock.INDEX_POLL_SECONDS)
            checked = True  # by us, or by the process that is at work


def reindex(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Follow the catalog from the start into a new index; searchers see the old one until it is complete.

    Also where that fails, what was built is removed. A crawl that is alive starts its views again.
    """
    with Views(crawl_dir).take_over():
        discard(crawl_dir, aside=True)
        try:
            _build(crawl_dir, progress, aside=True)
            exchange(crawl_dir)
        finally:
            discard(crawl_dir, aside=True)


def _build(crawl_dir: Path, progress: Progress, aside: bool = False) -> None:
    with closing(Follower(crawl_dir, aside)) as follower:
        follower.catch_up(progress)
        if not is_crawling(crawl_dir):
            follower.optimize()
