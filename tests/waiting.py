"""How tests wait for other processes and threads: for what they do, never for a time."""

from __future__ import annotations

import fcntl
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE_SECONDS = 240  # only so that what never comes ends the test with a message
POLL_SECONDS = 0.01


def until(condition: Callable[[], T], what: str, by: subprocess.Popen[str] | None = None) -> T:
    """Return what the condition gives as soon as that is true.

    Args:
        what: is waited for, in the message of the test that fails.
        by: the process that brings it about: once that has ended, nothing more is waited for.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        has_ended = by is not None and by.poll() is not None
        if found := condition():
            return found
        assert not has_ended, f"the process has ended before {what}: {by and by.communicate()}"
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(POLL_SECONDS)


def at_rest(crawl_dir: Path) -> Path:
    """Return the folder when no crawl is alive in it, and no process derives its views or is about to.

    The kernel says so: that process holds its lock from its birth until it has written all it writes.
    """
    for name in ("crawls", "views"):
        with suppress(FileNotFoundError), (crawl_dir / f"{name}.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
    return crawl_dir


def holder(crawl_dir: Path) -> int:
    """The process id of the views that are at work, or that were the last; 0 before any are."""
    lock = crawl_dir / "views.lock"
    return int(lock.read_text() or 0) if lock.exists() else 0
