"""Applying the catalog's changes to documents and anchors of the index, a commit at a time.

Anchors are what others call a page: the texts of the links that lead to it (GO 2.2).
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType

from webcrawler import clock, metrics, pace
from webcrawler.archive.catalog import LEAST_PAGES, SAMPLED, Catalog
from webcrawler.background import is_searched, searched_since
from webcrawler.index.whoosh import Anchored, WhooshEngine, discard
from webcrawler.records import Change, Document

BATCH = 500  # changes to a commit (WC: "every few hundred documents")
PATIENCE_SECONDS = 5.0  # how long the first waiting change waits for the others
SEARCHED_PATIENCE_SECONDS = 0.3  # while a real-time search waits for what it finds
SEARCHED_POLL_SECONDS = 0.1
BACKLOG_BATCH = 100  # changes from before a search to a commit, so that the search's own never wait for long
BACKLOG_SHARE = 0.25  # of the time, while a search goes on
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

    While a real-time search goes on, changes since it began come first, in small commits, which say that they
    were early. Those before them, which a crawl may have left by the thousands, and anchors take their turn.
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
        self._crawl_dir = crawl_dir
        self._pages: list[int] = []  # whose anchors are left to write in this round, ascending
        self._round_seq = self._engine.anchors_applied
        self._anchors_due = self._backlog_due = 0.0  # on the monotonic clock
        self._searched = True  # a search may have ended just before

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
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
        return max(self._engine.newest, self._engine.anchors_applied) > self._catalog.last_seq()

    def is_done(self) -> bool:
        return not self.waiting() and not self._anchors_wait()

    def step(self, limit: int = BATCH) -> int:
        """Commit the next changes, at most `limit`; return how many."""
        changes, early = self._catalog.changes(self.applied, limit), self._engine.early
        if early and not (changes and changes[0].seq <= early[0]):
            self._apply([], early[1], None)  # the turn of the early ones has come
            return self.step(limit)
        if early:
            changes = [change for change in changes if change.seq <= early[0]]
        if changes:
            self._apply(changes, changes[-1].seq, early)
        return len(changes)

    def step_early(self) -> int:
        """Commit the next changes since a search began, at most BATCH; return how many."""
        if not self._engine.early:
            return self.step()
        after, until = self._engine.early
        if changes := self._catalog.changes(until, BATCH):
            self._apply(changes, self.applied, (after, changes[-1].seq))
        return len(changes)

    def step_backlog(self) -> None:
        """Commit the next changes from before a search."""
        started = time.monotonic()
        self.step(BACKLOG_BATCH)
        self._backlog_due = started + (time.monotonic() - started) / BACKLOG_SHARE

    def put_newest_first(self) -> None:
        """Have `step_early` go on from where the search began, if the index is not that far."""
        since = min(searched_since(self._crawl_dir), self._catalog.last_seq())
        if since > self._engine.newest:
            self._engine.early = since, since

    def _apply(self, changes: list[Change], seq: int, early: tuple[int, int] | None) -> None:
        sys.audit("webcrawler.index.read")
        documents = self._commit({change.number for change in changes}, seq, early)
        now = clock.now()
        for document in documents:
            metrics.follower_lag_seconds.observe(max(0.0, now - document.fetched))
        metrics.follower_changes.inc(len(changes))
        sys.audit("webcrawler.index.applied")

    def _commit(
        self, numbers: Collection[int], seq: int, early: tuple[int, int] | None
    ) -> Iterable[Document]:
        """Put documents into the index as the catalog has them; returns those."""
        began = time.perf_counter()
        documents = self._catalog.documents(sorted(numbers))
        shown = [n for n, one in documents.items() if not one.duplicate_of and not one.noindex]
        found = [(documents[number], text) for number, text in sorted(self._catalog.texts(shown).items())]
        servers = {document.server for document, _ in found}
        repeats = {server: self._catalog.blocks.repeats(server) for server in servers}
        self._engine.commit(numbers, found, seq, early, repeats)
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
        ended = time.monotonic()
        self._anchors_due = max(started, self._anchors_due) + (ended - started) / ANCHORS_SHARE
        return True

    def catch_up(
        self,
        progress: Callable[[int, int], None] = lambda applied, last: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Apply all changes, until `stopped`.

        Args:
            progress: called with how many are applied, and with how many there are.
        """
        while not stopped() and self.step():
            progress(self.applied, self.applied + self.waiting())
        while not stopped() and self.step_anchors():
            pass

    def run(
        self,
        alive: Callable[[], bool],
        stopped: Callable[[], bool],
        patience_seconds: float = PATIENCE_SECONDS,
        search_ended: Callable[[], object] = lambda: None,
    ) -> None:
        """Follow the catalog until all is applied while no crawl is `alive`, or until `stopped`.

        Returns as well once the catalog was restored from a backup: a new follower builds the index again.

        Args:
            patience_seconds: how long the first waiting change waits for the others.
            search_ended: called when there is no real-time search any more.
        """
        # What is there at the start has waited long enough.
        waits_since: float | None = time.monotonic() - patience_seconds
        while not stopped() and not self.is_ahead():
            crawling, now = alive(), time.monotonic()
            searched = self._note_search(search_ended)
            waiting = self._catalog.last_seq() - self._engine.newest if searched else self.waiting()
            patience = min(patience_seconds, SEARCHED_PATIENCE_SECONDS) if searched else patience_seconds
            waits_since = (waits_since or now) if waiting else None
            behind = searched and self._engine.early
            if crawling and not behind and now >= self._anchors_due and self.step_anchors():
                continue
            if waiting >= BATCH or (waits_since and (not crawling or now - waits_since >= patience)):
                waits_since = None
                if self.step_early() if searched else self.step():
                    continue
            elif behind and now >= self._backlog_due:
                self.step_backlog()
                continue
            elif not crawling and self.is_done():
                return
            elif not crawling and self.step_anchors():
                continue
            time.sleep(SEARCHED_POLL_SECONDS if searched else pace.INDEX_POLL_SECONDS)

    def _note_search(self, ended: Callable[[], object]) -> bool:
        was, self._searched = self._searched, is_searched(self._crawl_dir)
        if self._searched:
            self.put_newest_first()
        elif was:
            ended()
        return self._searched

    def optimize(self) -> None:
        """Merge segments, after documents are indexed again whose servers are known much better by now."""
        outdated = self.outdated()
        for start in range(0, len(outdated), BATCH):
            self._commit(outdated[start : start + BATCH], self._engine.applied, self._engine.early)
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
