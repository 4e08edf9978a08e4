"""Keeps the process at work that derives views beside a crawl; see `webcrawler.views`.

It also discards the finds of searches of the web that have died.
"""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from webcrawler import clock
from webcrawler.archive import discard_left_over
from webcrawler.background import Views
from webcrawler.index import follower

logger = logging.getLogger(__name__)

FAILURES = 3  # after which it is said to fail


class Watch:
    """A thread that starts another process where one has ended or was killed, until `close`.

    Args:
        settings: what it reads from its standard input.
        anew: start one with these settings where one is at work, too.
        failing: is called from the thread, once, when it ends with an error again and again.
    """

    def __init__(self, folder: Path, settings: bytes, anew: bool, failing: Callable[[], object]) -> None:
        self._folder, self._views, self._settings = folder, Views(folder), settings
        self._anew, self._failing, self._failures = anew, failing, 0
        self._started: subprocess.Popen[bytes] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> int:
        """Start the process a last time; blocks. The crawl must still hold its lock.

        Returns:
            How many changes of the catalog the index has still to follow.
        """
        self._end.set()
        self._thread.join()
        self._start()
        lag = follower.lag(self._folder)
        logger.info("the index follows with %d changes to go", lag)
        return lag

    def stop(self) -> None:
        """Stop the thread, which starts nothing more."""
        self._end.set()

    def _run(self) -> None:
        while not self._end.is_set():
            self._start()
            discard_left_over(self._folder)
            self._end.wait(clock.WATCH_SECONDS)

    def _start(self) -> None:
        self._note_failure()
        try:
            if self._anew:
                self._started, self._anew = self._views.start_anew(self._settings), False
            else:
                self._started = self._views.ensure_started(self._settings) or self._started
        except OSError as error:  # a full disk: the crawl goes on, and this is tried again
            logger.warning("cannot start the process that derives views: %s", error)

    def _note_failure(self) -> None:
        if self._started is None or self._started.poll() is None:
            return
        has_failed = self._started.returncode > 0  # below 0: somebody has killed it
        self._started = None
        self._failures += has_failed
        if has_failed and self._failures == FAILURES:
            log = self._folder / "views.log"
            logger.error("the process that derives views fails again and again: %s says why", log)
            self._failing()
