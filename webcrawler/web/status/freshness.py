"""How fresh the collection is, as `scrapy freshness` says: seconds of work, so seldom and in a thread."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import Any

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import WebcrawlerError
from webcrawler.refresh import report
from webcrawler.web.config import Config

LEAST_SECONDS = 60.0  # between two reports
SHARE = 20  # a slow report is followed by a pause this many times as long
FIRST_SECONDS = 1.0  # that somebody waits for the first report
MOST = 5  # servers and documents in it

Report = dict[str, Any]


class FreshnessReports:
    """A new report is begun only when somebody asks; they get the last one meanwhile."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._thread = ThreadPoolExecutor(1, "status-freshness")
        self._pending: Future[Report | None] | None = None
        self._newest: Report | None = None
        self._began = self._good_until = 0.0

    async def newest(self) -> Report | None:
        """The last report; None where there is none yet, or nothing to report on."""
        if self._pending is None and time.monotonic() >= self._good_until:
            self._began = time.monotonic()
            self._pending = self._thread.submit(self._read)
        if self._pending and not self._newest:
            await asyncio.wait([asyncio.wrap_future(self._pending)], timeout=FIRST_SECONDS)
        if self._pending and self._pending.done():
            self._newest, self._pending = self._pending.result(), None
            now = time.monotonic()
            self._good_until = now + max(LEAST_SECONDS, SHARE * (now - self._began))
        return self._newest

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _read(self) -> Report | None:
        crawl_dir = self._config.crawl_dir
        try:
            with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
                found = report(catalog, crawl_dir, self._config.refresh_policy, most=MOST)
                return found if found["documents"] else None
        except (WebcrawlerError, sqlite3.Error, OSError):
            return None
