"""`scrapy crawl realtime`: the index answers first, then the best documents lead on (WC, real-time mode)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from redis.exceptions import RedisError
from scrapy import signals

from spiders.index import IndexSpider
from webcrawler import wiring
from webcrawler.errors import Unavailable
from webcrawler.extensions import Crawl
from webcrawler.frontier import inspect
from webcrawler.items import CrawledPage
from webcrawler.realtime import journal
from webcrawler.realtime.job import RealtimeJob
from webcrawler.realtime.journal import Journal
from webcrawler.realtime.search import Fetched, RealtimeSearch
from webcrawler.records import Link, Text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

T = TypeVar("T")
POLL_SECONDS = 0.25


class RealtimeSpider(IndexSpider):
    """Its arguments are those of docs/reference/commands.md."""

    name = "realtime"
    custom_settings = wiring.SETTINGS | {
        "EXTENSIONS": wiring.SETTINGS["EXTENSIONS"] | {"webcrawler.extensions.LiveLine": None}
    }
    job: RealtimeJob

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider._look()
        crawler.signals.connect(spider._item_scraped, signals.item_scraped)
        crawler.signals.connect(spider._closed, signals.spider_closed)
        return spider

    def read_job(self, **arguments: str) -> RealtimeJob:
        return RealtimeJob.read(**arguments)

    def _look(self) -> None:
        """The index answers before anything else is opened: a person waits for it."""
        settings = self.crawler.settings
        folder = Path(settings["CRAWL_DIR"]).absolute()
        self._search = RealtimeSearch(folder, self.job, str(settings["INDEX_ENGINE"]))
        self.job = replace(self.job, mode=self._search.begin())
        self._thread = ThreadPoolExecutor(1, "search")
        self._fetched: deque[Fetched] = deque()  # not told yet
        self._tell()

    async def start(self) -> AsyncIterator[Any]:
        """Goes on as long as the search does; the links that it finds go straight into the frontier."""
        crawl = Crawl.of(self.crawler)
        with ExitStack() as opened:
            self._frontier = crawl.stores.new_frontier(opened)
            self._next: Callable[[], str] = partial(self._join, lambda link: self._admits(crawl, link))
            while not crawl.is_closing:
                if reason := await self._in_thread(self._try):
                    crawl.stop(reason)
                    break
                self._tell()
                await asyncio.sleep(POLL_SECONDS)
        no_requests: tuple[Any, ...] = ()
        for request in no_requests:
            yield request

    def _try(self) -> str:
        """In the thread of the search; returns why it is over, "" while it goes on."""
        try:
            return self._next()
        except (RedisError, Unavailable) as error:  # the scheduler revives the one, the follower the other
            self.logger.warning("the search waits: %s", error)
            return ""

    def _join(self, admits: Callable[[Link], bool]) -> str:
        self._search.join(self._frontier, admits)
        self._next = self._step
        return ""

    def _step(self) -> str:
        search = self._search
        self._tell_fetched()
        candidates = search.step()
        states = inspect.stats(self._frontier)
        search.waiting = states["queued"]
        is_done = not (states["queued"] or states["leased"] or candidates or self._fetched)
        if search.is_stopped():
            return "stopped"
        if search.is_enough():
            return "enough"
        return "nothing_left" if is_done and search.has_seen_all() else ""

    def _tell_fetched(self) -> None:
        self._search.tell([self._fetched.popleft() for _ in range(len(self._fetched))])

    def _item_scraped(self, item: object) -> None:
        if isinstance(item, CrawledPage) and not item.duplicate_of:
            page = item.page
            text = Text(page.title, "\n".join(page.headings), page.description, page.keywords, page.text)
            is_example = item.entry.fetch.lease.spelling in self.job.examples
            self._fetched.append(Fetched(item.url, text, is_example))

    def _admits(self, crawl: Crawl, link: Link) -> bool:
        is_spoken = link.url.partition(":")[0] in crawl.protocols
        return is_spoken and not crawl.within_job(link).refused

    async def _closed(self, reason: str) -> None:
        await self._in_thread(self._tell_fetched)
        self._tell(await self._in_thread(self._search.end, reason))
        self._thread.shutdown()

    def _tell(self, now: Journal | None = None) -> None:
        now = now or self._search.journal()
        self.crawler.signals.send_catch_log(signal=journal.CHANGED, journal=now)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
