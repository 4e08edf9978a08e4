"""A worker as the Scrapy side sees it: leases out, reports in. What pages come to, its subclasses say."""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import RedisError
from scrapy import Request, Spider

from webcrawler.connection import Connection
from webcrawler.crawl.worker import parts
from webcrawler.crawl.worker.downloads import Downloads
from webcrawler.frontier import Frontier, Leased, Report, Reports
from webcrawler.records import Lease, Link

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Worker(ABC):
    """Shared by scheduler and middlewares; on the event loop, but where it says so.

    `open` of a subclass sets `frontier` and `connection`.
    """

    frontier: Frontier
    connection: Connection

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.downloads = Downloads(crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.open_leases: dict[str, Lease] = {}  # by URL: handed out here and not yet decided
        self.downloading: set[str] = set()  # those of them that have not come to an end
        self.again: deque[Request] = deque()  # to be downloaded from here, before any lease
        self.asked: list[Link] = []  # on their way into the frontier
        self.on_change: Callable[[], None] = lambda: None  # the scheduler's: something is over or decided
        self.request_meta: dict[str, Any] = {}  # of every request that is made here
        self.reports = Reports()
        self._holds_unknown = False  # Redis may say that this worker holds what it does not know of

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """The one of this crawler."""
        worker = crawler.get_extension(cls)
        assert worker is not None, "neither webcrawler.crawl.wiring.SETTINGS nor the add-on"
        return worker

    # ---- what a subclass says

    @abstractmethod
    def open(self, spider: Spider) -> None:
        """Joins the frontier."""

    @abstractmethod
    def request(self, lease: Lease) -> Request | None:
        """The download of a lease; None when nothing comes of it."""

    @abstractmethod
    def enqueue(self, request: Request) -> bool:
        """Takes a request from Scrapy's engine: as a link, or because its lease goes on. False: dropped."""

    @abstractmethod
    def leave(self) -> None:
        """Leaves the frontier, in a thread, when nothing is in flight."""

    @property
    def is_behind(self) -> bool:
        """Is so much fetched and not yet decided that nothing more should be leased?"""
        return False

    @property
    def is_expecting(self) -> bool:
        """May there be more, although the frontier is empty?"""
        return False

    def before_request(self) -> None:  # noqa: B027  (not every kind has to do anything)
        """The engine is about to be given a request."""

    def hurry(self) -> None:  # noqa: B027
        """There is nothing else to do: what is decided may lead on."""

    def allowance(self) -> int:
        """How many more URLs may be leased."""
        return 2**31

    def is_refused_host(self, url: str) -> bool:
        """Was the connection refused as the host's addresses are special ones?"""
        return False

    # ---- what the scheduler asks

    def lease(self, limit: int, reports: Sequence[Report], doubtful: int) -> Leased:
        """In the scheduler's thread: one round trip; the arguments are the frontier's."""
        before = self.frontier.connections
        sys.audit("webcrawler.lease.before")
        try:
            found = self.frontier.lease(limit, reports, doubtful)
        except RedisError:
            self._holds_unknown = True  # leased all the same, it may be
            raise
        sys.audit("webcrawler.lease.after")
        self.open_leases.update((lease.url, lease) for lease in found.leases)
        self.downloading.update(lease.url for lease in found.leases)
        sys.audit("webcrawler.lease.known")
        # A Redis that came back may hold leases that were decided; a call may be obeyed after we gave it up.
        if self._holds_unknown or self.frontier.connections != before or not self.open_leases:
            self._reclaim()
        return found

    def _reclaim(self) -> None:
        self._holds_unknown = True
        with suppress(RedisError):  # again with the next lease
            self.frontier.reclaim(self.open_leases)
            self._holds_unknown = False

    def take_reports(self) -> list[Report]:
        return self.reports.take()

    def put_back_reports(self, reports: list[Report]) -> None:
        self.reports.put_back(reports)

    def revive(self) -> None:
        """After an error of Redis; in the scheduler's thread."""
        parts.insist(self.connection.revive)

    def close(self) -> None:
        """Called in a thread, when nothing is in flight."""
        sys.audit("webcrawler.close.before")
        last = self.reports.take()
        parts.insist(lambda: self.frontier.fetched(last), self.connection.revive)
        sys.audit("webcrawler.close.after")
        self.leave()

    # ---- what middlewares ask

    def report(self, report: Report) -> None:
        """A download is over."""
        self.downloading.discard(report.lease.url)
        self.reports.put(report)
        self.on_change()

    def stop(self, reason: str) -> None:
        """Ends the crawl in good order: what is in flight is still decided."""
        self._stopping = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    @property
    def is_closing(self) -> bool:
        """Has somebody asked for the end, here or by a signal?"""
        slot = self.crawler.engine._slot
        return slot is None or slot.closing is not None
