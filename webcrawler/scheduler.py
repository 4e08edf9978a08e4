"""Scrapy's scheduler over the frontier: requests when their servers are due, one round trip for many.

Downloads that are over are reported, and URLs leased ahead, by one task in the background; the
engine is woken when something is due (its own heartbeat is 5 s).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.core.scheduler import Scheduler as ScrapyScheduler
from scrapy.utils.asyncio import is_asyncio_available
from scrapy.utils.defer import deferred_from_coro

from webcrawler import clock
from webcrawler.connection import RedisError, attempt, is_passing, retry
from webcrawler.crawl.dropin import SpiderWorker, Worker, is_crawl
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.frontier import Again, Calls, inspect
from webcrawler.records import Lease

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_SECONDS = 0.004  # between round trips, so that each carries several reports
AHEAD_MAX = 256  # where Scrapy has no limit
AHEAD_LEARNING = 4  # what was leased before a page was read may not be what it says comes next
SHOWN = 3  # URLs in a line of the log
RETRY_SECONDS = (0.1, 2.0)  # while Redis is away or refuses: the first pause and, doubling, the longest


class Scheduler(BaseScheduler):
    """Leases URLs ahead, in small batches; with one request at a time the order is exact."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler, self._worker = crawler, worker
        concurrency = worker.leases.downloads.limit
        self._exact = concurrency == 1
        self._ahead = 1 if self._exact else max(2, (concurrency or AHEAD_MAX) // 2)
        self._buffer: deque[Lease] = deque()
        self._empty = False  # nothing is left here or, as far as known, anywhere
        self._closed = False
        self._aside: list[str] = []  # what kills workers, as earlier runs say: tried at the end of this one
        self._changed = worker.leases.changed
        self._thread = ThreadPoolExecutor(1, "frontier")
        self._feeder: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        """With the worker that the settings bring along; else, with the scheduler alone, one of its own.

        Scrapy's own scheduler where `scrapy shell` and the like fetch a page: the frontier is none of theirs.
        """
        if not is_crawl(crawler):
            return ScrapyScheduler.from_crawler(crawler)
        worker = crawler.get_extension(Worker)  # type: ignore[type-abstract]
        return cls(crawler, worker or SpiderWorker.from_crawler(crawler))

    def open(self, spider: Spider) -> None:
        """Under a command of Scrapy's, what is set wrongly ends it with one line; programs get the error."""
        try:
            self._worker.open(spider)
        except WebcrawlerError as error:
            is_command = "scrapy.cmdline" in sys.modules and is_asyncio_available()  # Twisted would catch it
            if not (is_command and isinstance(self._worker, SpiderWorker)):
                raise
            logger.error("%s", error)
            sys.exit(2 if isinstance(error, BadInput) else 1)
        # The setting stays as it was set; a downloader of the project's own may have no such limit.
        self._crawler.engine.downloader.total_concurrency = self._worker.leases.downloads.scrapy_limit
        if not isinstance(self._worker, SpiderWorker):  # whose requests are not kept with what is set aside
            aside = retry(lambda: inspect.quarantined(self._worker.frontier), self._worker.connection.revive)
            self._aside = [one["url"] for one in aside if one["kills"] == "workers"]
        if self._worker.frontier.ordering.learns:
            self._ahead = min(self._ahead, AHEAD_LEARNING)
        self._feeder = asyncio.ensure_future(self._feed())
        loop, connection = asyncio.get_running_loop(), self._worker.connection
        self._calls = Calls(
            connection, self._worker.frontier, lambda: loop.call_soon_threadsafe(self._changed.set)
        )

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close())

    def has_pending_requests(self) -> bool:
        return not self._empty

    def enqueue_request(self, request: Request) -> bool:
        self._empty = False
        return self._worker.enqueue(request)

    def next_request(self) -> Request | None:
        worker = self._worker
        worker.before_request()
        if request := worker.resume():
            return request
        while self._buffer:
            if wait := worker.leases.downloads.wait():
                if self._alarm:
                    self._alarm.cancel()
                self._alarm = asyncio.get_running_loop().call_later(wait, self._wake)
                return None
            lease = self._buffer.popleft()
            sys.audit("webcrawler.lease.request")
            if len(self._buffer) < self._ahead // 2:
                self._changed.set()
            request = worker.request(lease)
            if request is not None:
                return request
        self._changed.set()
        return None

    async def _feed(self) -> None:
        """One round trip after the other, as long as the crawl lasts."""
        wait, pause = 0.0, RETRY_SECONDS[0]
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), timeout=wait)
                self._changed.clear()
                if self._closed:
                    return
                try:
                    wait, pause = await self._refill(), RETRY_SECONDS[0]
                except RedisError as error:
                    if not is_passing(error):
                        return self._worker.fail(error, "scheduler_failed")
                    logger.warning("Redis failed, trying again in %.1f s: %s", pause, error)
                    await self._in_thread(attempt, self._worker.connection.revive)
                    await asyncio.sleep(pause)
                    wait, pause = 0.0, min(2 * pause, RETRY_SECONDS[1])
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception:  # an error of ours: nothing would be leased any more
            logger.critical("the scheduler failed", exc_info=True)
            self._worker.stop("scheduler_failed")

    async def _refill(self) -> float:
        """Reports what is over and leases what there is room for; returns seconds until the next time."""
        worker = self._worker
        if links := list(worker.new_links):
            new = await self._in_thread(worker.frontier.discover, links, False)
            del worker.new_links[: len(links)]
            worker.count_links(new, len(links) - new)
        wanted = self._ahead - len(self._buffer)
        if worker.is_closing or (self._exact and worker.leases.open):
            wanted = 0
        limit = worker.allowance(max(0, wanted))
        # URLs of doubtful servers must not take all places.
        doubtful = worker.leases.downloads.doubtful_room() - sum(lease.doubtful for lease in self._buffer)
        reports = worker.take_reports()
        try:
            found = await self._in_thread(worker.lease, limit, reports, max(0, doubtful))
        except BaseException:
            worker.leases.reports.put_back(reports)
            raise
        if found.leases:
            self._empty = False
            self._buffer.extend(found.leases)
            self._wake()
            return clock.SCHEDULER_POLL_SECONDS
        if worker.leases.open:
            is_busy = worker.leases.downloading or self._changed.is_set()  # then it is asked again at once
            if self._exact or not (found.queued and is_busy):
                worker.flush()
        elif not (found.queued or found.leased or worker.new_links or worker.is_expecting):
            if self._aside and not worker.is_closing:
                logger.warning("trying what earlier runs have set aside: %s", ", ".join(self._aside[:SHOWN]))
                checks = [Again(url, "quarantined") for url in self._aside]
                await self._in_thread(worker.frontier.again, checks)
                self._aside = []
                return 0.0
            self._empty = True
            self._wake()
        due = found.wait if found.wait is not None and limit else clock.SCHEDULER_POLL_SECONDS
        return min(clock.SCHEDULER_POLL_SECONDS, due, worker.leases.downloads.until_exempt())

    def _wake(self) -> None:
        # Private, so kept in one place; a test fails when an upgrade of Scrapy breaks it.
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def _close(self) -> None:
        self._closed = True
        if self._feeder:
            self._changed.set()
            await asyncio.wait([self._feeder])
            await self._in_thread(self._calls.stop)
            await self._in_thread(self._worker.close)
        self._thread.shutdown()
