"""The follower as a process: one for each data folder, until all is applied and no crawl is alive.

Locks, both freed by the kernel however their holder ends: `index.lock` is the follower's (its process id
stands in it), `crawls.lock` is shared by all crawls. The follower ends holding both, so a crawl that starts
meanwhile waits those milliseconds in `hold_crawl` and then finds no follower, never one about to end.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import IO

from webcrawler import failpoints
from webcrawler.catalog import Catalog
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


def hold_crawl(crawl_dir: Path) -> IO[str]:
    """Says that a crawl is alive until the file is closed; taken before `start`."""
    lock = (crawl_dir / "crawls.lock").open("a+")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def start(crawl_dir: Path) -> None:
    """Starts a follower in a session of its own; where one is there already, the new one ends at once."""
    command = [sys.executable, "-m", "webcrawler.index.follower", str(crawl_dir.absolute())]
    # The crawl may have been imported from a zipped egg that only sys.path knows of.
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    with (crawl_dir / "index.log").open("ab") as log:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": path},
        )


def ensure_started(crawl_dir: Path) -> None:
    """Starts a follower where none is at work; cheap enough to ask every few seconds."""
    lock = _try_lock(crawl_dir / "index.lock")
    if lock is not None:
        lock.close()
        start(crawl_dir)


def lag(crawl_dir: Path) -> int:
    """How many changes of the catalog the index has not applied yet."""
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        return max(0, catalog.last_seq() - applied_seq(crawl_dir / "index"))


def follow(crawl_dir: Path, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Follows in this process until all is applied and no crawl is alive.

    Returns:
        False where another follower is at work.
    """
    lock = _try_lock(crawl_dir / "index.lock")
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
        if lock := _try_lock(crawl_dir / "index.lock"):
            with lock:
                _build(crawl_dir, folder, progress)
        else:
            time.sleep(POLL_SECONDS)
    progress(applied, last)


def reindex(crawl_dir: Path, progress: Progress = lambda applied, last: None) -> None:
    """Follows the catalog from the start into a new index; searchers see the old one until it is complete."""
    aside, folder = crawl_dir / "index.new", crawl_dir / "index"
    with _take_over(crawl_dir / "index.lock"):
        shutil.rmtree(aside, ignore_errors=True)
        _build(crawl_dir, aside, progress)
        exchange(aside, folder)
    if _crawling(crawl_dir):
        start(crawl_dir)


def main(arguments: list[str]) -> int:
    """python -m webcrawler.index.follower CRAWL_DIR [--once]; SIGTERM ends it after the current commit."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s follower %(process)d: %(message)s")
    stops: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: stops.append(number))
    os.nice(10)  # the crawl goes first
    failpoints.arm(os.environ)
    crawl_dir = Path(arguments[0])
    if "--once" in arguments:
        wait_until_caught_up(crawl_dir)
    elif not follow(crawl_dir, lambda: bool(stops)):
        _log.info("another follower is at work")
    return 0


def _opened(crawl_dir: Path, stopped: Callable[[], bool]) -> Follower | None:
    """Waits until a crawl has made its catalog."""
    while not stopped():
        try:
            return Follower(crawl_dir / "catalog.sqlite", crawl_dir / "index")
        except BadInput as error:
            if not _crawling(crawl_dir):
                _log.warning("%s", error)
                return None
        time.sleep(POLL_SECONDS)
    return None


def _follow(follower: Follower, crawl_dir: Path, lock: IO[str], stopped: Callable[[], bool]) -> None:
    while True:
        follower.run(lambda: _crawling(crawl_dir), stopped)
        if stopped():
            return
        follower.optimize()
        with _try_lock(crawl_dir / "crawls.lock") or nullcontext() as quiet:
            if quiet and not follower.waiting():
                lock.close()  # before the other one: see above
                return


def _build(crawl_dir: Path, folder: Path, progress: Progress) -> None:
    with Follower(crawl_dir / "catalog.sqlite", folder) as follower:
        while follower.step():
            progress(follower.applied, follower.applied + follower.waiting())
        if not _crawling(crawl_dir):
            follower.optimize()


def _crawling(crawl_dir: Path) -> bool:
    with _try_lock(crawl_dir / "crawls.lock") or nullcontext() as free:
        return free is None


def _try_lock(path: Path) -> IO[str] | None:
    lock = path.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    lock.truncate(0)
    return lock


def _take_over(path: Path) -> IO[str]:
    """Waits for the follower's lock; a follower that runs as long as a crawl does is told to end."""
    while (lock := _try_lock(path)) is None:
        with suppress(ValueError, ProcessLookupError):  # it has just taken the lock, or just ended
            os.kill(int(path.read_text()), signal.SIGTERM)
        time.sleep(POLL_SECONDS)
    return lock


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
