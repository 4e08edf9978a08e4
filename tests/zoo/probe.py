"""Watches a crawl from within: an extension that says how long the event loop stood still and URLs took."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler

from webcrawler.crawl.run import Crawl

TICK_SECONDS = 0.05


def waited_for_a_core_seconds() -> float:
    """So far, of this thread. Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat."""
    return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9


class Probe:
    """Writes {stall_seconds, url_seconds, slowest} into CRAWL_DIR/probe.json.

    By wall clock; a stall is without the time for which the machine had no core for the event loop.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._began: dict[tuple[str, int], float] = {}  # since when a lease is out
        self._stall_seconds = 0.0
        self._slowest = (0.0, "")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Probe:
        probe = cls(crawler)
        crawler.signals.connect(probe._opened, signals.spider_opened)
        crawler.signals.connect(probe._closed, signals.spider_closed)
        return probe

    def _opened(self) -> None:
        self._crawl = Crawl.of(self._crawler)
        self._task = asyncio.ensure_future(self._watch())

    def _closed(self) -> None:
        self._task.cancel()
        seconds, url = self._slowest
        found = {"stall_seconds": self._stall_seconds, "url_seconds": seconds, "slowest": url}
        Path(self._crawler.settings["CRAWL_DIR"], "probe.json").write_text(json.dumps(found))

    async def _watch(self) -> None:
        last, last_waited = time.monotonic(), waited_for_a_core_seconds()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, waited = time.monotonic(), waited_for_a_core_seconds()
            stall = now - last - TICK_SECONDS - (waited - last_waited)
            self._stall_seconds = max(self._stall_seconds, stall)
            last, last_waited = now, waited
            self._look_at_leases(now)

    def _look_at_leases(self, now: float) -> None:
        """How long is the oldest of them out, from the lease to the decision that is written?"""
        leases = {(lease.url, lease.token) for lease in tuple(self._crawl.leases.open.values())}
        for key in leases - self._began.keys():
            self._began[key] = now
        for key in self._began.keys() - leases:
            self._slowest = max(self._slowest, (now - self._began.pop(key), key[0]))
