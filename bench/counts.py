"""Scrapy's own stats, of which the counts go into a file at the end (setting COUNTS_FILE)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scrapy.statscollectors import MemoryStatsCollector

DOCUMENTS = (
    "plain/documents",
    "webcrawler/done/document",
    "webcrawler/done/duplicate",
    "webcrawler/done/noindex",
)


class CountsFile(MemoryStatsCollector):
    """STATS_CLASS of the crawls that are measured."""

    def _persist_stats(self, stats: dict[str, Any]) -> None:
        counts = {
            "requests": stats.get("downloader/request_count", 0),
            "documents": sum(stats.get(name, 0) for name in DOCUMENTS),
        }
        Path(self._crawler.settings["COUNTS_FILE"]).write_text(json.dumps(counts))
