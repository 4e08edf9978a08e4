"""The follower as a process: one for each data folder, until all is applied and no crawl is alive."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from webcrawler import failpoints
from webcrawler.catalog import Catalog
from webcrawler.companions import FOLLOWER, hold_crawl, is_crawling, may_end, settle_in
from webcrawler.errors import BadInput
from webcrawler.index.folder import applied_seq, exchange
from webcrawler.index.following import POLL_SECONDS, Follower

__all__ = [
    "Follower",
    "applied_seq",
    "ensure_started",
    "follow",
    "hold_crawl",
    "lag",
    "reindex",
    "start",
    "wait_until_caught_up",
]

Progress = Callable[[int, int], None]  # applied, last seq
_log = logging.getLogger(__name__)

start, ensure_started = FOLLOWER.start, FOLLOWER.ensure_started


def lag(crawl_dir: Path) -> int:
    """How many changes of the catalog the index has not applied yet."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        return max(0, catalog.last_seq() - applied_seq(crawl_dir / "index"))


def follow(crawl_dir: Path, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Follows in this process until all is applied and no crawl is alive.

    Returns:
        False where another follower is at work.
    """
    lock = FOLLOWER.lock(crawl_dir)
    if lock is None:
        return False
    with lock:
        print(os.getpid(), file=lock, flush=True)
        failpoints.reach("index.locked")
        if follower := _opened(crawl_dir, stopped):
            with follower:
                _follow(follower, crawl_dir, lock, stopped)
    return True


def wait_until_caught_up(crawl_dir: Path, progress: Progress = lambda applied, last: None) -> None:
    """Returns when the index holds what the catalog held at the call; follows itself where nobody does."""
    folder = crawl_dir / "index"
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last, identity = catalog.last_seq(), catalog.identity
    while (applied := applied_seq(folder, identity)) < last:
        progress(applied, last)
        if lock := FOLLOWER.lock(crawl_dir):
            with lock:
                _build(crawl_dir, folder, progress)
        else:
            time.sleep(POLL_SECONDS)
    progress(applied, last)


def reindex(crawl_dir: Path, progress: Progress = lambda applied, last: None) -> None:
    """Follows the catalog from the start into a new index; searchers see the old one until it is complete."""
    aside, folder = crawl_dir / "index.new", crawl_dir / "index"
    with _take_over(crawl_dir):
        shutil.rmtree(aside, ignore_errors=True)
        _build(crawl_dir, aside, progress)
        exchange(aside, folder)
    if is_crawling(crawl_dir):
        start(crawl_dir)


def main(arguments: list[str]) -> int:
    """python -m webcrawler.index.follower CRAWL_DIR [--once]; SIGTERM ends it after the current commit."""
    stopped = settle_in("follower")
    crawl_dir = Path(arguments[0])
    if "--once" in arguments:
        wait_until_caught_up(crawl_dir)
    elif not follow(crawl_dir, stopped):
        _log.info("another follower is at work")
    return 0


def _opened(crawl_dir: Path, stopped: Callable[[], bool]) -> Follower | None:
    """Waits until a crawl has made its catalog."""
    while not stopped():
        try:
            return Follower(crawl_dir / "catalog.sqlite", crawl_dir / "index")
        except BadInput as error:
            if not is_crawling(crawl_dir):
                _log.warning("%s", error)
                return None
        time.sleep(POLL_SECONDS)
    return None


def _follow(follower: Follower, crawl_dir: Path, lock: IO[str], stopped: Callable[[], bool]) -> None:
    while True:
        follower.run(lambda: is_crawling(crawl_dir), stopped)
        if stopped():
            return
        follower.optimize()
        if may_end(lock, crawl_dir, lambda: not follower.waiting()):
            return


def _build(crawl_dir: Path, folder: Path, progress: Progress) -> None:
    with Follower(crawl_dir / "catalog.sqlite", folder) as follower:
        while follower.step():
            progress(follower.applied, follower.applied + follower.waiting())
        if not is_crawling(crawl_dir):
            follower.optimize()


def _take_over(crawl_dir: Path) -> IO[str]:
    """Waits for the follower's lock; a follower that runs as long as a crawl does is told to end."""
    while (lock := FOLLOWER.lock(crawl_dir)) is None:
        with suppress(ValueError, ProcessLookupError):  # it has just taken the lock, or just ended
            os.kill(int((crawl_dir / "index.lock").read_text()), signal.SIGTERM)
        time.sleep(POLL_SECONDS)
    return lock


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
