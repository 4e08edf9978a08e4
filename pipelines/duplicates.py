"""Marks a page whose bytes are those of an earlier one; hands on what tells originals and near-duplicates."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import PagePipeline
from webcrawler.records import Entry, Original


class DuplicatesPipeline(PagePipeline):
    """The mark is a hint from what this process knows; the catalog decides when the batch is written."""

    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        digest = hashlib.sha1(item.fetch.body, usedforsecurity=False).digest()
        first = self._crawl.outcomes.first_with(digest, Original(item.url, item.fetch.fetched))
        sys.audit("webcrawler.duplicates.hinted")
        item.duplicate_of = None if first.url == item.url else first.url
        original = first if item.duplicate_of else None
        own = self._crawl.rules.canonical_id(item.page)
        return replace(entry, digest=digest, original=original, simhash=item.page.simhash, canonical=own)
