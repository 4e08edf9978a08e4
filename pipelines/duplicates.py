"""Marks a page whose bytes are those of an earlier one; hands on the simhash for those that nearly are."""

from __future__ import annotations

import hashlib
import sys

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import CrawlPart


class DuplicatesPipeline(CrawlPart):
    """The mark is a hint from what this process knows; the catalog decides when the batch is written."""

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            digest = hashlib.sha1(item.entry.fetch.body, usedforsecurity=False).digest()
            first = self._crawl.first_with(digest, item.url)
            sys.audit("webcrawler.duplicates.hinted")
            item.entry.digest = digest
            item.entry.simhash = item.page.simhash
            if first != item.url:
                item.duplicate_of = item.entry.duplicate_of = first
        return item
