"""Who is at work in a data folder? Locks that the kernel frees however their holder ends.

NAME.lock belongs to a companion (its process id is written in it), `crawls.lock` is shared by all crawls,
`searches.lock` by real-time searches. A companion ends while it holds its own lock and that of the crawls. A
crawl that starts meanwhile waits in `hold_crawl`, some milliseconds, and then finds no companion, never one
that is about to end.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import IO


def hold_crawl(crawl_dir: Path) -> IO[str]:
    """Says that a crawl is alive until the file is closed; taken before any companion is started."""
    lock = (crawl_dir / "crawls.lock").open("a+")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def hold_search(crawl_dir: Path) -> IO[str]:
    """Says that somebody waits for what is crawled, until the file is closed: the follower commits sooner."""
    lock = (crawl_dir / "searches.lock").open("a+")
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def is_searched(crawl_dir: Path) -> bool:
    """Does a real-time search go on?"""
    return is_held(crawl_dir / "searches.lock")


def is_crawling(crawl_dir: Path) -> bool:
    with try_lock(crawl_dir / "crawls.lock") or nullcontext() as free:
        return free is None


def may_end(lock: IO[str], crawl_dir: Path, is_done: Callable[[], bool]) -> bool:
    """Gives a companion's lock up where no crawl is alive and all is done."""
    with try_lock(crawl_dir / "crawls.lock") or nullcontext() as quiet:
        if quiet and is_done():
            lock.close()  # before the other one: see above
            return True
    return False


def is_held(lock: Path) -> bool:
    """Does a process hold it? Only looks: the folder may be one that others write."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def try_lock(path: Path) -> IO[str] | None:
    """The file, locked and emptied; None where somebody else has it."""
    lock = path.open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    lock.truncate(0)
    return lock
