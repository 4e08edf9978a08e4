"""Keeps the processes beside a crawl at work: follower, ranker, and the one that makes the vocabulary."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from webcrawler.background import FOLLOWER, RANKER, VOCABULARY
from webcrawler.index import follower

logger = logging.getLogger(__name__)

WATCH_SECONDS = 5.0
PATIENCE_SECONDS = 60.0  # where only searches want ranks and vocabulary, a short crawl has them at its end


class Watch:
    """A thread that starts another process where one has ended or was killed, until `close`.

    Args:
        is_indexed: False: nothing is indexed, so neither follower nor vocabulary are needed.
        ranker_input: what a ranker reads from its standard input; None: none is needed.
        ranks_at_once: does the order of the crawl depend on ranks?
    """

    def __init__(
        self, folder: Path, is_indexed: bool, ranker_input: bytes | None, ranks_at_once: bool
    ) -> None:
        self._folder, self._is_indexed, self._ranker_input = folder, is_indexed, ranker_input
        self._ranks_at_once = ranks_at_once
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> int | None:
        """Has the processes make all that the crawl leaves to be made; returns how far the index is behind.

        Blocks; the crawl has still to hold its lock, as they end where no crawl is alive. Returns changes
        of the catalog, None where nothing is indexed.
        """
        self._end.set()
        self._thread.join()
        self._start_ranker()
        self._start_vocabulary()
        if not self._is_indexed:
            return None
        lag = follower.lag(self._folder)
        logger.info("the index follows with %d changes to go", lag)
        return lag

    def stop(self) -> None:
        """Has the thread end, and starts nothing more."""
        self._end.set()

    def _run(self) -> None:
        patience_ends = time.monotonic() + PATIENCE_SECONDS
        while not self._end.is_set():
            is_late = time.monotonic() >= patience_ends
            self._start_follower()
            if is_late or self._ranks_at_once:
                self._start_ranker()
            if is_late:
                self._start_vocabulary()
            self._end.wait(WATCH_SECONDS)

    def _start_follower(self) -> None:
        if self._is_indexed:
            _try("follower", FOLLOWER.ensure_started, self._folder)

    def _start_ranker(self) -> None:
        if self._ranker_input is not None:
            _try("ranker", RANKER.ensure_started, self._folder, self._ranker_input)

    def _start_vocabulary(self) -> None:
        if self._is_indexed:
            _try("vocabulary", VOCABULARY.ensure_started, self._folder)


def _try(name: str, start: Callable[..., None], *arguments: object) -> None:
    try:
        start(*arguments)
    except OSError as error:  # a full disk: the crawl goes on, and this is tried again
        logger.warning("no %s: %s", name, error)
