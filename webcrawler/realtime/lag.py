"""How far behind the catalog is the index?"""

from __future__ import annotations

import logging
import time
from contextlib import closing
from pathlib import Path
from threading import Event

from webcrawler.archive.catalog import Catalog
from webcrawler.index import applied_seq

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.05


class Lag:
    """Counted in changes of the catalog. For one thread, except `stop_waiting`."""

    def __init__(self, crawl_dir: Path) -> None:
        self._crawl_dir = crawl_dir
        self._stopped = Event()
        self._last_at_rest: int | None = None  # the last change when the crawl came to rest

    def applied(self) -> int:
        """The last change that searchers can see."""
        return applied_seq(self._crawl_dir / "index")

    def covers(self, seq: int, is_at_rest: bool) -> bool:
        """Is that change as new as the last one of this crawl?

        Args:
            is_at_rest: has this crawl nothing left to do? Changes by other crawls from then on do not count.
        """
        if not is_at_rest:
            self._last_at_rest = None
        elif self._last_at_rest is None:
            self._last_at_rest = self._last()
        return self._last_at_rest is not None and seq >= self._last_at_rest

    def wait(self, seconds: float) -> None:
        """Waits, that many seconds at most, until the index has what the catalog has now."""
        last, deadline = self._last(), time.monotonic() + seconds
        if self.applied() < last:
            logger.info("the last list waits for the index, up to %.0f s", seconds)
        while self.applied() < last and time.monotonic() < deadline and not self._stopped.wait(POLL_SECONDS):
            pass

    def stop_waiting(self) -> None:
        """Has `wait` return at once, now and later; for any thread."""
        self._stopped.set()

    def _last(self) -> int:
        path = self._crawl_dir / "catalog.sqlite"
        if not path.exists():
            return 0
        with closing(Catalog(path, readonly=True)) as catalog:
            return catalog.last_seq()
