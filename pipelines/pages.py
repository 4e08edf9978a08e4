"""Keeps the bytes as they came."""

from __future__ import annotations

from dataclasses import replace

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import PagePipeline
from webcrawler.records import Entry


class PagesPipeline(PagePipeline):
    """Makes the batch write a WARC record of the response; a revisit record for a duplicate."""

    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        return replace(entry, archive=True)
