"""Keeps the bytes as they came."""

from __future__ import annotations

from webcrawler.crawl import CrawledPage


class PagesPipeline:
    """Has the batch write a WARC record of the response; a revisit record for a duplicate."""

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            item.entry.archive = True
        return item
