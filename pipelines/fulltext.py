"""Turns a page into the index document; keeps a follower and a lexicographer at work."""

from __future__ import annotations

import asyncio
import logging

from webcrawler.background import VOCABULARY
from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import CrawlPart
from webcrawler.index import follower
from webcrawler.records import Text

logger = logging.getLogger(__name__)

WATCH_SECONDS = 5.0
PATIENCE_SECONDS = 60.0  # a short crawl has its vocabulary at its end


class FullTextPipeline(CrawlPart):
    """Without it the index stays empty; noindex pages are left out."""

    _watches: tuple[asyncio.Task[None], ...] = ()

    def open_spider(self) -> None:
        self._watches = tuple(map(asyncio.ensure_future, (self._keep_following(), self._keep_words())))

    def close_spider(self) -> None:
        for watch in self._watches:
            watch.cancel()
        self._start_lexicographer()
        lag = follower.lag(self._crawl.folder, self._engine)
        self._crawl.crawler.stats.set_value("webcrawler/index_lag", lag)
        logger.info("the index follows with %d changes to go", lag)

    async def _keep_following(self) -> None:
        """A follower that was killed is followed by another."""
        while True:
            await asyncio.to_thread(follower.ensure_started, self._crawl.folder, self._engine)
            await asyncio.sleep(WATCH_SECONDS)

    async def _keep_words(self) -> None:
        await asyncio.sleep(PATIENCE_SECONDS)
        while True:
            await asyncio.to_thread(self._start_lexicographer)
            await asyncio.sleep(WATCH_SECONDS)

    def _start_lexicographer(self) -> None:
        try:
            VOCABULARY.ensure_started(self._crawl.folder)
        except OSError as error:  # a full disk: the crawl has its own worries
            logger.warning("no lexicographer: %s", error)

    @property
    def _engine(self) -> str:
        return str(self._crawl.settings["INDEX_ENGINE"])

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage) and not item.page.noindex:
            page = item.page
            headings = "\n".join(page.headings)
            item.entry.text = Text(
                page.title, headings, page.description, page.keywords, page.text, page.emphasis
            )
        return item
