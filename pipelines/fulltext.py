"""Turns a page into the index document, and keeps a follower at work on the index."""

from __future__ import annotations

import asyncio
import logging

from webcrawler.extensions import CrawlPart
from webcrawler.index import follower
from webcrawler.items import CrawledPage
from webcrawler.records import Text

logger = logging.getLogger(__name__)

WATCH_SECONDS = 5.0


class FullTextPipeline(CrawlPart):
    """Without it the index stays empty; noindex pages are left out."""

    _watch: asyncio.Task[None] | None = None

    def open_spider(self) -> None:
        self._watch = asyncio.ensure_future(self._keep_following())

    def close_spider(self) -> None:
        if self._watch:
            self._watch.cancel()
        lag = follower.lag(self._crawl.folder)
        self._crawl.crawler.stats.set_value("webcrawler/index_lag", lag)
        logger.info("the index follows with %d changes to go", lag)

    async def _keep_following(self) -> None:
        """A follower that was killed is followed by another."""
        while True:
            await asyncio.to_thread(follower.ensure_started, self._crawl.folder)
            await asyncio.sleep(WATCH_SECONDS)

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage) and not item.page.noindex:
            page = item.page
            headings = "\n".join(page.headings)
            item.entry.text = Text(
                page.title, headings, page.description, page.keywords, page.text, page.emphasis
            )
        return item
