"""Reports how a search of the web stands to the main index, where people watch and stop it (SV: agents)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from webcrawler import pace
from webcrawler.errors import WebcrawlerError
from webcrawler.repository.sender import SEARCH_SECONDS, MainIndex

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0  # for a report that the next one replaces


class Reporter:
    """Sends journals one after the other in a thread of its own; a search goes on without, too.

    Args:
        stop: asks the search to end; called in the thread.
    """

    def __init__(self, index: MainIndex, stop: Callable[[], None]) -> None:
        self._index, self._stop = index, stop
        self._thread = ThreadPoolExecutor(1, "reports")
        self._sent: Future[None] | None = None
        self._began = 0.0  # the last report
        self._is_heard = True

    def tell(self, journal: Mapping[str, object]) -> None:
        """For the event loop. That of a search that is over is always sent; the process waits for that."""
        is_over, now = journal["state"] == "finished", time.monotonic()
        is_due = now - self._began >= pace.REPORT_SECONDS and (self._sent is None or self._sent.done())
        if is_over or is_due:
            self._began = now
            self._sent = self._thread.submit(self._send, dict(journal), is_over)
        if is_over:
            self._thread.shutdown(wait=False)

    def _send(self, journal: Mapping[str, object], is_over: bool) -> None:
        ends = time.monotonic() + (SEARCH_SECONDS if is_over else ANSWER_SECONDS)
        try:
            if self._index.report(journal, ends) and not is_over:
                self._stop()
            self._is_heard = True
        except WebcrawlerError as error:
            if self._is_heard or is_over:
                logger.warning("the main index does not know how this search stands: %s", error)
            self._is_heard = False
