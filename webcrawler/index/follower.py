"""How index and anchors keep up with the catalog: as views, or in a command that waits for them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

from webcrawler import pace
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, is_crawling
from webcrawler.index.changes import BATCH, Follower
from webcrawler.index.folder import discard, is_outdated
from webcrawler.index.writer import WhooshEngine

PATIENCE_SECONDS = 5.0  # how long the first waiting change waits for the others
Progress = Callable[[int, int], None]  # applied, last seq
_log = logging.getLogger(__name__)


def _silent(applied: int, last: int) -> None:
    """Show no progress."""


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
        if is_outdated(crawl_dir / "index"):
            _log.warning("the index was made by another version, and is built anew")
            _rebuild(crawl_dir)
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
        if waiting >= BATCH or (waiting and not crawling) or has_waited:
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
                    (_rebuild if is_outdated(crawl_dir / "index") else _build)(crawl_dir, progress)
                elif not caught_up:
                    time.sleep(pace.INDEX_POLL_SECONDS)
            checked = True  # by us, or by the process that is at work


def reindex(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Follow the catalog from the start into a new index; searchers see the old one until it is complete.

    Also where that fails, what was built is removed. A crawl that is alive starts its views again.
    """
    with Views(crawl_dir).take_over():
        _rebuild(crawl_dir, progress)


def _rebuild(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Build a new index aside, and put it in place of the old one."""
    discard(crawl_dir, aside=True)
    try:
        _build(crawl_dir, progress, aside=True)
        WhooshEngine.exchange(crawl_dir)
    finally:
        discard(crawl_dir, aside=True)


def _build(crawl_dir: Path, progress: Progress, aside: bool = False) -> None:
    with closing(Follower(crawl_dir, aside)) as follower:
        follower.catch_up(progress)
        if not is_crawling(crawl_dir):
            follower.optimize()
