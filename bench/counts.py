"""Scrapy's own stats, of which the counts go into a file at the end (setting COUNTS_FILE)."""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.statscollectors import MemoryStatsCollector

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

DOCUMENTS = (
    "plain/documents",
    "webcrawler/done/document",
    "webcrawler/done/duplicate",
    "webcrawler/done/noindex",
)


class CountsFile(MemoryStatsCollector):
    """STATS_CLASS of the crawls that are measured; agents but the first write to COUNTS_FILE.NUMBER."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._hosts: set[str | None] = set()
        crawler.signals.connect(self._asked, signals.request_reached_downloader)

    def _asked(self, request: Request) -> None:
        self._hosts.add(urlsplit(request.url).hostname)

    def _persist_stats(self, stats: dict[str, Any]) -> None:
        counts = {
            "requests": stats.get("downloader/request_count", 0),
            "documents": sum(stats.get(name, 0) for name in DOCUMENTS),
            "domains": sorted(filter(None, self._hosts)),
            "cpu_seconds": time.process_time(),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        agents = self._crawler.settings.get("AGENTS")
        number = "" if agents is None or agents.is_first else f".{agents.number}"
        Path(self._crawler.settings["COUNTS_FILE"] + number).write_text(json.dumps(counts))
