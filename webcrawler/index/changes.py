"""Applying the catalog's changes to the index, a commit at a time."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from webcrawler.archive.catalog import Catalog
from webcrawler.background import is_searched
from webcrawler.index.anchors import AnchorsFollower
from webcrawler.index.whoosh import WhooshEngine, discard
from webcrawler.records import Document

BATCH = 500  # changes to a commit (WC: "every few hundred documents")
PATIENCE_SECONDS = 5.0  # how long the first waiting change waits for the others
POLL_SECONDS = 0.5
SEARCHED_PATIENCE_SECONDS = 0.3  # while a real-time search waits for what it finds
SEARCHED_POLL_SECONDS = 0.1
ANCHORS_SHARE = 0.1  # of the time while a crawl is alive: the more there is to do, the more of it at once
_log = logging.getLogger(__name__)


class Follower:
    """Applies changes in their order and remembers the last one in the same commit.

    So a crash at any moment can only repeat what no commit holds; what is repeated replaces by number.
    Changes of documents that are no longer to be found (gone, duplicates, noindex, without text) remove them.
    """

    def __init__(self, crawl_dir: Path, aside: bool = False) -> None:
        self._catalog = Catalog(crawl_dir / "catalog.sqlite", readonly=True)
        self._engine = WhooshEngine(crawl_dir, self._catalog.identity, aside)
        if self.is_ahead():
            self._engine.close()
            _log.warning("index and anchors know more than the catalog, as of a backup: they are rebuilt")
            discard(crawl_dir, aside)
            self._engine = WhooshEngine(crawl_dir, self._catalog.identity, aside)
        self._anchors = AnchorsFollower(self._catalog, self._engine)
        self._crawl_dir = crawl_dir
        self._anchors_due = 0.0  # on the monotonic clock

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._engine.close()
        self._catalog.close()

    @property
    def applied(self) -> int:
        return self._engine.applied

    def waiting(self) -> int:
        """How many changes no commit of documents holds yet, at most."""
        return self._catalog.last_seq() - self.applied

    def is_ahead(self) -> bool:
        """Whether the views know more than the catalog: it was restored, and they have to be built again."""
        return max(self._engine.applied, self._engine.anchors_applied) > self._catalog.last_seq()

    def is_done(self) -> bool:
        return not self.waiting() and not self._anchors.waiting()

    def step(self) -> int:
        """Commits the next changes, at most BATCH; returns how many."""
        changes = self._catalog.changes(self.applied, BATCH)
        if changes:
            self._commit({change.number for change in changes}, changes[-1].seq)
        return len(changes)

    def step_anchors(self) -> bool:
        """Commits the next anchors; returns whether there were any to do."""
        if not self._anchors.waiting():
            return False
        started = time.monotonic()
        self._anchors.step()
        ended = time.monotonic()
        self._anchors_due = max(started, self._anchors_due) + (ended - started) / ANCHORS_SHARE
        return True

    def catch_up(self, progress: Callable[[int, int], None] = lambda applied, last: None) -> None:
        while self.step():
            progress(self.applied, self.applied + self.waiting())
        while self.step_anchors():
            pass

    def run(
        self,
        alive: Callable[[], bool],
        stopped: Callable[[], bool],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Follows until all is applied while nothing is `alive`, or until it is `stopped` between commits.

        Returns, too, once the catalog was restored from a backup: a new follower makes the views anew.
        """
        # What is there at the start has waited long enough.
        waits_since: float | None = time.monotonic() - patience_seconds
        while not stopped() and not self.is_ahead():
            crawling, waiting, now = alive(), self.waiting(), time.monotonic()
            searched = is_searched(self._crawl_dir)
            patience = min(patience_seconds, SEARCHED_PATIENCE_SECONDS) if searched else patience_seconds
            waits_since = (waits_since or now) if waiting else None
            if crawling and now >= self._anchors_due and self.step_anchors():
                continue
            if waiting >= BATCH or (waits_since and (not crawling or now - waits_since >= patience)):
                waits_since = None
                if self.step():
                    continue
            elif not crawling and self.is_done():
                return
            elif not crawling and self.step_anchors():
                continue
            time.sleep(SEARCHED_POLL_SECONDS if searched else POLL_SECONDS)

    def optimize(self) -> None:
        self._engine.optimize()

    def _commit(self, numbers: set[int], seq: int) -> None:
        sys.audit("webcrawler.index.read")
        documents = self._catalog.documents(sorted(numbers))
        texts = self._catalog.texts([number for number in documents if _indexable(documents[number])])
        found = [(documents[number], text) for number, text in sorted(texts.items())]
        self._engine.commit(numbers, found, seq)
        sys.audit("webcrawler.index.applied")


def _indexable(document: Document) -> bool:
    return not document.duplicate_of and not document.noindex
