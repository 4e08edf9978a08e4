"""Marks a page whose bytes are those of an earlier one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from webcrawler.extensions import Crawl
from webcrawler.items import CrawledPage

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class DuplicatesPipeline:
    """The mark is a hint from what this process knows; the catalog decides when the batch is written."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DuplicatesPipeline:
        return cls(Crawl.of(crawler))

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            digest = hashlib.sha1(item.entry.fetch.body, usedforsecurity=False).digest()
            first = self._crawl.first_with(digest, item.url)
            item.entry.digest = digest
            if first != item.url:
                item.duplicate_of = item.entry.duplicate_of = first
        return item
