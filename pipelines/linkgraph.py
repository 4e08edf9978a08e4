"""Who links to whom: for the catalog, for the frontier what to follow; and keeps a ranker at work on it."""

from __future__ import annotations

import asyncio
import logging
from functools import cached_property

from webcrawler import connection
from webcrawler.background import RANKER
from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import CrawlPart
from webcrawler.settings import is_yes

logger = logging.getLogger(__name__)

WATCH_SECONDS = 5.0
PATIENCE_SECONDS = 60.0  # where only searches want ranks, a short crawl has them at its end


class LinkGraphPipeline(CrawlPart):
    """Every outlink is recorded; those refused, nofollow, or out of the job's bounds are not followed."""

    _watch: asyncio.Task[None] | None = None

    def open_spider(self) -> None:
        if is_yes(self._crawl.settings["RANKER_ENABLED"]):
            self._watch = asyncio.ensure_future(self._keep_ranking())

    def close_spider(self) -> None:
        if self._watch:
            self._watch.cancel()
            self._rank()

    async def _keep_ranking(self) -> None:
        """A ranker that was killed is followed by another."""
        if not self._crawl.frontier.ordering.follows_ranks:
            await asyncio.sleep(PATIENCE_SECONDS)
        while True:
            await asyncio.to_thread(self._rank)
            await asyncio.sleep(WATCH_SECONDS)

    def _rank(self) -> None:
        try:
            RANKER.ensure_started(self._crawl.folder, self._told)
        except OSError as error:  # a full disk: the crawl has its own worries
            logger.warning("no ranker: %s", error)

    @cached_property
    def _told(self) -> bytes:
        return connection.told(self._crawl.settings, self._crawl.job.mode)

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            page, within_job = item.page, self._crawl.within_job
            links = page.links
            if self._crawl.is_bounded:
                links = tuple(map(within_job, links))
            if page.nofollow:
                links = tuple(link._replace(rel="nofollow") for link in links)
            item.entry.links = links
            item.entry.refused = page.refused
        return item
