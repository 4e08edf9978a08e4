"""Scrapy's scheduler over the frontier: requests when their servers are due, one round trip for many.

Downloads that are over are reported, and URLs leased ahead, by one task in the background; the
engine is woken when something is due (its own heartbeat is 5 s).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from redis.exceptions import RedisError
from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from webcrawler import urls
from webcrawler.errors import BadUrl
from webcrawler.extensions import Crawl
from webcrawler.records import Lease

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)
T = TypeVar("T")

PAUSE_SECONDS = 0.004  # between round trips, so that each carries several reports
POLL_SECONDS = 1.0  # other workers may find something, or end the crawl


class Scheduler(BaseScheduler):
    """Leases URLs ahead, in small batches; with one request at a time the order is exact."""

    def __init__(self, crawler: Crawler, crawl: Crawl, concurrency: int) -> None:
        self._crawler, self._crawl = crawler, crawl
        self._exact = concurrency == 1
        self._ahead = 1 if self._exact else max(2, concurrency // 2)
        self._buffer: deque[Lease] = deque()
        self._again: deque[Request] = deque()
        self._asked: list[str] = []  # URLs on their way into the frontier
        self._finished = False
        self._changed = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "frontier")
        self._feeder: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Scheduler:
        return cls(crawler, Crawl.of(crawler), crawler.settings.getint("CONCURRENT_REQUESTS"))

    def open(self, spider: Spider) -> None:
        self._crawl.open(spider)
        self._crawl.on_change = self._changed.set
        self._feeder = asyncio.ensure_future(self._feed())
        self._feeder.add_done_callback(self._fed)

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close(reason))

    def has_pending_requests(self) -> bool:
        return not self._finished

    def next_request(self) -> Request | None:
        if self._again:
            return self._again.popleft()
        if not self._buffer:
            self._changed.set()
            return None
        lease = self._buffer.popleft()
        if len(self._buffer) < self._ahead // 2:
            self._changed.set()
        return self._crawl.request(lease)

    def enqueue_request(self, request: Request) -> bool:
        """Takes in the URL of a request that a spider made; one that holds a lease goes on at once.

        So far a URL is all that is kept: what has a method, a body or a callback of its own is dropped, and
        said so.
        """
        lease: Lease | None = request.meta.get("lease")
        try:
            canonical = urls.canonical(request.url)
        except BadUrl:
            return False
        if lease and lease.url in self._crawl.open_leases and canonical == lease.url:
            self._again.append(request)
        elif request.method != "GET" or request.body or request.callback or request.cb_kwargs:
            logger.error(
                "dropped %s: so far only requests without callback, body and the like are kept", request
            )
            return False
        else:
            self._asked.append(request.url)
        self._changed.set()
        return True

    async def _feed(self) -> None:
        """One round trip after the other, as long as the crawl lasts."""
        wait: float | None = 0.0
        while not self._finished:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), timeout=wait)
            self._changed.clear()
            if not self._finished:
                wait = await self._try_to_refill()
                await asyncio.sleep(PAUSE_SECONDS)

    def _fed(self, feeder: asyncio.Task[None]) -> None:
        """Ends the crawl when the task broke by an error of ours: nothing would be leased any more."""
        if not feeder.cancelled() and feeder.exception():
            logger.critical("the scheduler broke", exc_info=feeder.exception())
            self._finished = True
            self._crawl.stop("scheduler_failed")

    async def _try_to_refill(self) -> float:
        try:
            return await self._refill()
        except RedisError as error:
            logger.warning("Redis does not answer, trying again: %s", error)
            await self._in_thread(self._crawl.revive)
            self._changed.set()
            return POLL_SECONDS

    async def _refill(self) -> float:
        """Reports what is over and leases what there is room for; returns seconds until the next time."""
        crawl = self._crawl
        limit = self._limit()
        reports = crawl.take_reports()
        asked, self._asked = self._asked, []
        try:
            if asked:
                await self._in_thread(crawl.discover, asked)
                asked = []
            found = await self._in_thread(crawl.lease, limit, reports)
        except BaseException:
            crawl.put_back_reports(reports)
            self._asked = asked + self._asked
            raise
        if found.leases:
            self._buffer.extend(found.leases)
            self._wake()
            return POLL_SECONDS
        if crawl.open_leases:
            if self._exact or not (found.queued and crawl.downloading):
                crawl.stores.batch.flush()  # nothing else to do: what is decided may lead on
        elif not (found.queued or found.leased or self._asked):
            self._finish()
        return min(POLL_SECONDS, found.wait) if found.wait is not None and limit else POLL_SECONDS

    def _limit(self) -> int:
        crawl = self._crawl
        if crawl.stores.batch.full or (self._exact and crawl.open_leases):
            return 0
        return max(0, min(self._ahead - len(self._buffer), crawl.allowance()))

    def _finish(self) -> None:
        self._finished = True
        self._wake()

    def _wake(self) -> None:
        # Private, so kept in one place; a test fails when an upgrade of Scrapy breaks it.
        slot = self._crawler.engine._slot
        if slot is not None:
            slot.nextcall.schedule()

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def _close(self, reason: str) -> None:
        self._finished = True
        if self._feeder:
            self._changed.set()
            await asyncio.wait([self._feeder])
        await self._in_thread(self._crawl.close)
        self._thread.shutdown()
