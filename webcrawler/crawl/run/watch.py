"""Keeps the processes beside a crawl at work: follower, ranker, refresher, and the vocabulary's builder.

It also discards the finds of searches of the web that have died.
"""

from __future__ import annotations

import logging
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

from webcrawler import pace
from webcrawler.archive import discard_left_over
from webcrawler.background import FOLLOWER, RANKER, VOCABULARY, Companion
from webcrawler.index import follower

logger = logging.getLogger(__name__)

FAILURES = 3  # after which a process is said to fail
PATIENCE_SECONDS = 60.0  # until ranks and vocabulary are made for searches; at its end any crawl has them


class Watch:
    """A thread that starts another process where one has ended or was killed, until `close`.

    Args:
        needed: which companions, and what each reads from its standard input.
        at_once: those that the crawl depends on; the others are started when it has lasted a minute.
        failing: is called from the thread, once for each companion that ends with an error again and again.
        in_hurry: those that are started also where one is at work at a lower priority than this process.
    """

    def __init__(
        self,
        folder: Path,
        needed: Mapping[Companion, bytes],
        at_once: Sequence[Companion],
        failing: Callable[[Companion], object],
        in_hurry: Container[Companion] = (),
    ) -> None:
        self._in_hurry = in_hurry
        self._folder, self._needed, self._at_once, self._failing = folder, needed, at_once, failing
        self._started: dict[Companion, subprocess.Popen[bytes]] = {}
        self._failures: Counter[Companion] = Counter()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> int | None:
        """Starts ranker and vocabulary a last time; blocks. The crawl must still hold its lock.

        Returns:
            How many changes of the catalog the index has still to follow; None where nothing is indexed.
        """
        self._end.set()
        self._thread.join()
        self._start(RANKER, VOCABULARY)
        if FOLLOWER not in self._needed:
            return None
        lag = follower.lag(self._folder)
        logger.info("the index follows with %d changes to go", lag)
        return lag

    def stop(self) -> None:
        """Stops the thread, which starts nothing more."""
        self._end.set()

    def _run(self) -> None:
        patience_ends = time.monotonic() + PATIENCE_SECONDS
        while not self._end.is_set():
            is_long = time.monotonic() >= patience_ends
            self._start(*(self._needed if is_long else self._at_once))
            discard_left_over(self._folder)
            self._end.wait(pace.WATCH_SECONDS)

    def _start(self, *companions: Companion) -> None:
        for companion in companions:
            if companion not in self._needed:
                continue
            self._note_failure(companion)
            try:
                hurry = companion in self._in_hurry
                process = companion.ensure_started(self._folder, self._needed[companion], hurry)
            except OSError as error:  # a full disk: the crawl goes on, and this is tried again
                logger.warning("cannot start the process %s: %s", companion.name, error)
            else:
                if process:
                    self._started[companion] = process

    def _note_failure(self, companion: Companion) -> None:
        process = self._started.get(companion)
        if process is None or process.poll() is None:
            return
        del self._started[companion]
        has_failed = process.returncode > 0  # below 0: somebody has killed it
        self._failures[companion] += has_failed
        if has_failed and self._failures[companion] == FAILURES:
            log = self._folder / f"{companion.name}.log"
            logger.error("the process %s fails again and again: %s says why", companion.name, log)
            self._failing(companion)
