"""Turns a page into the index document."""

from __future__ import annotations

from dataclasses import replace

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import PagePipeline
from webcrawler.records import Entry, Text


class FullTextPipeline(PagePipeline):
    """Without it the index stays empty; noindex pages are left out."""

    feeds = "index"

    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        page = item.page
        if page.noindex:
            return entry
        headings = "\n".join(page.headings)
        text = Text(page.title, headings, page.description, page.keywords, page.text, page.emphasis)
        return replace(entry, text=text)
