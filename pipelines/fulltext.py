"""Turns a page into the index document."""

from __future__ import annotations

from dataclasses import replace

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import PagePipeline
from webcrawler.records import Entry


class FullTextPipeline(PagePipeline):
    """Without it the index stays empty; noindex pages are left out."""

    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        return entry if item.page.noindex else replace(entry, text=item.index_text)
