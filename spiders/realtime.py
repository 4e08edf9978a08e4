"""`webcrawler crawl realtime`: the index answers first, then the best documents lead on (WC)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals

from webcrawler import clock
from webcrawler.crawl import CrawledPage, wiring
from webcrawler.crawl.run import Crawl
from webcrawler.realtime import Journal, RealtimeJob, journal

from .index import IndexSpider

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RealtimeSpider(IndexSpider):
    """Its arguments are those of docs/reference/commands.md; what it does is in `webcrawler.realtime`."""

    name = "realtime"
    custom_settings = wiring.SETTINGS | {
        "EXTENSIONS": wiring.SETTINGS["EXTENSIONS"] | {"webcrawler.crawl.run.live.LiveLine": None}
    }
    job_type = RealtimeJob
    job: RealtimeJob

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider._begin()
        crawler.signals.connect(spider._item_scraped, signals.item_scraped)
        crawler.signals.connect(spider._driver.end, signals.spider_closed)
        return spider

    def _begin(self) -> None:
        """The index answers before anything else is opened: a person waits for it."""
        # Here: Scrapy imports all spiders for each, and a crawl has no use for what answers searches.
        from webcrawler.realtime import Driver, RealtimeSearch
        from webcrawler.repository import main_index, share_finds

        settings = self.crawler.settings
        folder = Path(settings["CRAWL_DIR"]).absolute()
        job, index = self.job.with_judged(folder), main_index(settings)
        share = partial(share_finds, folder, index, clock.now()) if index else None
        self._search = RealtimeSearch(folder, job, share)
        self.job = replace(self._search.rest, mode=self._search.begin())
        self._driver = Driver(self._search, self._show)
        self._show(self._search.journal())

    async def start(self) -> AsyncIterator[Any]:
        """Goes on as long as the search does; the links that it finds go straight into the frontier."""
        await self._driver.run(Crawl.of(self.crawler))
        async for request in super().start():
            yield request

    def _item_scraped(self, item: object) -> None:
        if isinstance(item, CrawledPage):
            fetch = replace(item.fetch, body=b"")  # only texts wait: nothing bounds how many
            self._search.waiting_pages.append(replace(item, fetch=fetch))

    def _show(self, now: Journal) -> None:
        self.crawler.signals.send_catch_log(signal=journal.CHANGED, journal=now)
