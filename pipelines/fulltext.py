"""Turns a page into the index document, and keeps a follower at work on the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webcrawler.extensions import Crawl
from webcrawler.index import follower
from webcrawler.items import CrawledPage
from webcrawler.records import Text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class FullTextPipeline:
    """Without it the index stays empty; noindex pages are left out."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FullTextPipeline:
        return cls(Crawl.of(crawler))

    def open_spider(self) -> None:
        follower.start(self._crawl.folder)

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage) and not item.page.noindex:
            page = item.page
            headings = "\n".join(page.headings)
            item.entry.text = Text(
                page.title, headings, page.description, page.keywords, page.text, page.emphasis
            )
        return item
