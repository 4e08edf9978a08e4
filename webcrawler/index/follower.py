"""The follower as a process: one for each data folder, until all is applied and no crawl is alive."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from webcrawler import metrics, pace
from webcrawler.archive.catalog import Catalog
from webcrawler.background import (
    FOLLOWER,
    MayEnd,
    is_crawling,
    is_searched,
    lower_priority,
    prepare,
    wait_for,
)
from webcrawler.index.changes import Follower
from webcrawler.index.whoosh import WhooshEngine, discard, is_outdated

LOWEST = 19  # niceness
Progress = Callable[[int, int], None]  # applied, last seq
_log = logging.getLogger(__name__)


def _silent(applied: int, last: int) -> None:
    """Show no progress."""


def _never() -> bool:
    return False


def lag(crawl_dir: Path) -> int:
    """Return how many changes of the catalog the index has not applied yet."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last, applied = catalog.last_seq(), WhooshEngine.applied_in(crawl_dir)[0]
    return last - applied if applied <= last else last


def follow(
    crawl_dir: Path,
    stopped: Callable[[], bool] = _never,
    search_ended: Callable[[], object] = lambda: None,
) -> bool:
    """Follow in this process until all is applied and no crawl is alive.

    Args:
        search_ended: called when there is no real-time search any more.
    Returns:
        False where another follower is at work.
    """
    with FOLLOWER.at_work(crawl_dir) as may_end:
        if may_end is None:
            return False
        sys.audit("webcrawler.index.locked")
        if is_outdated(crawl_dir / "index"):
            _log.warning("the index was made by another version, and is built anew")
            wait_for(lambda: _rebuild(crawl_dir, stopped=stopped), crawl_dir, stopped)
        with metrics.kept(crawl_dir):
            while follower := wait_for(lambda: Follower(crawl_dir), crawl_dir, stopped):
                with follower:
                    if _follow(follower, crawl_dir, may_end, stopped, search_ended):
                        break
    return True


def wait_until_caught_up(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Wait until the index has what the catalog had at the call; follow in this process where nobody does.

    Once no crawl is alive, it does so in place of a follower of lower priority, too, which everything else on
    the machine comes before. Where nobody follows, the index is opened and checked even if it says that it
    has everything.
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
            if lock := FOLLOWER.lock(crawl_dir):
                with lock:
                    (_rebuild if is_outdated(crawl_dir / "index") else _build)(crawl_dir, progress)
            elif not caught_up:
                if not is_crawling(crawl_dir):
                    FOLLOWER.displace(crawl_dir)
                time.sleep(pace.INDEX_POLL_SECONDS)
            checked = True  # by us, or by the follower that is at work


def reindex(crawl_dir: Path, progress: Progress = _silent) -> None:
    """Follow the catalog from the start into a new index; searchers see the old one until it is complete.

    Also where that fails, what was built is removed, and a crawl that is alive has a follower again.
    """
    try:
        with FOLLOWER.take_over(crawl_dir):
            _rebuild(crawl_dir, progress)
    finally:
        if is_crawling(crawl_dir):
            FOLLOWER.ensure_started(crawl_dir)


def main(arguments: list[str]) -> int:
    """python -m webcrawler.index.follower CRAWL_DIR [--once]; SIGTERM ends it."""
    crawl_dir = Path(arguments[0])
    is_for_search = is_searched(crawl_dir)
    stopped = prepare("follower", below_crawl=not is_for_search)
    if "--once" in arguments:
        wait_until_caught_up(crawl_dir)
    elif not follow(crawl_dir, stopped, lambda: lower_priority(LOWEST if is_for_search else 0)):
        _log.info("another follower is at work")
    return 0


def _follow(
    follower: Follower,
    crawl_dir: Path,
    may_end: MayEnd,
    stopped: Callable[[], bool],
    search_ended: Callable[[], object],
) -> bool:
    """Return False where the catalog was restored from a backup, and another follower has to go on."""
    while True:
        follower.run(lambda: is_crawling(crawl_dir), stopped, search_ended=search_ended)
        if stopped():
            return True
        if follower.is_ahead():
            return False
        follower.optimize()
        if may_end(follower.is_done):
            return True


def _rebuild(crawl_dir: Path, progress: Progress = _silent, stopped: Callable[[], bool] = _never) -> None:
    """Build a new index aside, and put it in place of the old one unless `stopped` before it is complete."""
    discard(crawl_dir, aside=True)
    try:
        _build(crawl_dir, progress, aside=True, stopped=stopped)
        if not stopped():
            WhooshEngine.exchange(crawl_dir)
    finally:
        discard(crawl_dir, aside=True)


def _build(
    crawl_dir: Path, progress: Progress, aside: bool = False, stopped: Callable[[], bool] = _never
) -> None:
    with Follower(crawl_dir, aside) as follower:
        follower.catch_up(progress, stopped)
        if not is_crawling(crawl_dir) and not stopped():
            follower.optimize()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
