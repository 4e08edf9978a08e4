"""`scrapy crawl realtime`: the index answers first, then the best documents lead on (WC, real-time mode)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from redis.exceptions import RedisError
from scrapy import signals

from spiders.index import IndexSpider
from webcrawler.crawl import CrawledPage, wiring
from webcrawler.crawl.run import Crawl
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import inspect
from webcrawler.realtime import Fetched, Journal, RealtimeJob, RealtimeSearch, journal
from webcrawler.records import Link, Text

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

T = TypeVar("T")
POLL_SECONDS = 0.25
# Of a Redis, a disk, an index being exchanged: others revive them, the search goes on then.
PASSING = (RedisError, WebcrawlerError, sqlite3.Error, OSError)


class RealtimeSpider(IndexSpider):
    """Its arguments are those of docs/reference/commands.md."""

    name = "realtime"
    custom_settings = wiring.SETTINGS | {
        "EXTENSIONS": wiring.SETTINGS["EXTENSIONS"] | {"webcrawler.crawl.run.LiveLine": None}
    }
    job: RealtimeJob

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider.job = spider.job.with_judged(Path(crawler.settings["CRAWL_DIR"]).absolute())
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
        from twisted.internet import reactor  # importing it installs it: not before the crawl runs

        # A second Ctrl-C: the thread of the search is waited for at the end of the process.
        reactor.addSystemEventTrigger("before", "shutdown", self._search.hurry)  # type: ignore[arg-type]
        crawl = Crawl.of(self.crawler)
        with ExitStack() as opened:
            self._frontier = crawl.stores.new_frontier(opened)
            self._next: Callable[[], str] = partial(self._join, crawl.rules.admits)
            while not crawl.is_closing:
                reason = await self._in_thread(self._try)
                self._search.about = self._about(crawl)
                if reason:
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
            return self._ending() or self._next()
        except PASSING as error:
            self.logger.warning("the search waits: %s", error)
            return ""
        except Exception:
            self.logger.critical("the search broke", exc_info=True)
            return "failed"

    def _ending(self) -> str:
        """What does not depend on the index."""
        if self._search.is_stopped():
            return "stopped"
        self._tell_fetched()
        return "enough" if self._search.is_enough() else ""

    def _join(self, admits: Callable[[Link], bool]) -> str:
        self._search.join(self._frontier, admits)
        self._next = self._step
        return ""

    def _step(self) -> str:
        search = self._search
        candidates = search.step()
        states = inspect.stats(self._frontier)
        search.waiting = states["queued"]
        is_at_rest = not (states["queued"] or states["leased"] or candidates or self._fetched)
        return "nothing_left" if search.has_seen_all(is_at_rest) else ""

    def _tell_fetched(self) -> None:
        while self._fetched:
            self._search.tell(self._fetched[0])
            self._fetched.popleft()  # not before it was told

    def _item_scraped(self, item: object) -> None:
        if isinstance(item, CrawledPage):
            page, id = item.page, item.fetch.lease.id
            text = Text(page.title, "\n".join(page.headings), page.description, page.keywords, page.text)
            is_indexed = not (page.noindex or item.duplicate_of)
            self._fetched.append(Fetched(item.url, id, text, bool(item.duplicate_of), is_indexed))

    async def _closed(self, reason: str) -> None:
        try:
            self._tell(await self._in_thread(self._end, reason))
        finally:
            self._thread.shutdown(wait=False)

    def _end(self, reason: str) -> Journal:
        with suppress(*PASSING):
            self._tell_fetched()
        return self._search.end(reason)

    def _about(self, crawl: Crawl) -> str:
        """What people should know of this crawl: where it began, and why nothing came."""
        if crawl.stores.demo:
            return "no pages were given to begin with, so this is the demo web"
        stats = self.crawler.stats.get_stats()
        found = [key for key in stats if key.startswith(("webcrawler/failed/", "webcrawler/retry/"))]
        why = ", ".join(sorted({key.rpartition("/")[2] for key in found}))
        return f"no page could be fetched: {why}" if why and not self._search.fetched else ""

    def _tell(self, now: Journal | None = None) -> None:
        now = now or self._search.journal()
        self.crawler.signals.send_catch_log(signal=journal.CHANGED, journal=now)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
