"""What Scrapy's scheduler and middlewares ask of a process at work on a frontier."""

from __future__ import annotations

import asyncio
import logging
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider

from webcrawler import metrics
from webcrawler.connection import Connection, RedisError, attempt, is_damage
from webcrawler.crawl.open_leases import FAULTS_MAX, PASSING, Blame, OpenLeases, Outages
from webcrawler.frontier import Frontier, Leased, Report
from webcrawler.records import Lease, Link

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
AWAY = "%s gives no good answer (%s): its URLs wait for it, and lose no try"
LONG_AWAY = (
    "%s gives no good answer (%s): what is asked of it fails now; "
    "`webcrawler frontier again` or `-a refresh=once` asks again"
)


def is_crawl(crawler: Crawler) -> bool:
    """Is it a crawl? `scrapy shell`, `fetch`, `view`, `parse` and `check` only fetch a page or two."""
    return crawler.crawling and not crawler.spidercls.start.__module__.startswith("scrapy.commands.")


class Worker(ABC):
    """One of our crawls (`run.Crawl`) or another spider (`dropin.SpiderWorker`).

    For the event loop, except where a method says that it blocks. `open` sets `frontier` and `connection`.
    """

    frontier: Frontier
    connection: Connection

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.leases = OpenLeases(crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.outages = Outages()
        self.resumed: deque[Request] = deque()  # downloaded next: redirects and retries of open leases
        self.new_links: list[Link] = []  # on their way into the frontier
        self.request_meta: dict[str, Any] = {}  # of every request that is made here
        self.has_lost = False  # keys of the frontier
        self._may_hold_unknown = False  # Redis may count leases as ours that are not in `leases.open`

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """The worker of this crawler."""
        worker = crawler.get_extension(cls)
        assert worker is not None, "neither webcrawler.crawl.wiring.SETTINGS nor the add-on"
        return worker

    # ---- what each kind of worker defines

    @abstractmethod
    def open(self, spider: Spider) -> None:
        """Joins the frontier."""

    @abstractmethod
    def request(self, lease: Lease) -> Request | None:
        """The download of a lease; None when it cannot be made."""

    @abstractmethod
    def enqueue(self, request: Request) -> bool:
        """Takes a request from Scrapy's engine: as a link, or because its lease goes on. False: dropped."""

    @abstractmethod
    def leave(self) -> None:
        """Leaves the frontier when nothing is in flight; blocks."""

    @property
    def is_expecting(self) -> bool:
        """May there be more, although the frontier is empty?"""
        return False

    def before_request(self) -> None:  # noqa: B027  (not every kind has to do anything)
        """The engine is about to be given a request."""

    def resume(self) -> Request | None:
        """The next download of those that come before all leases."""
        return self.resumed.popleft() if self.resumed else None

    def count_links(self, new: int, filtered: int) -> None:  # noqa: B027
        """Links were taken in: so many were new, so many known already."""

    def flush(self) -> None:  # noqa: B027
        """Nothing is left to download: decide what was fetched, as its links may lead on."""

    def allowance(self, wanted: int) -> int:
        """How many of the URLs wanted may be leased; none while too many are fetched and not yet decided."""
        return wanted

    def take_sitemaps(self, server: str, names: Sequence[str]) -> None:  # noqa: B027
        """The robots.txt of a server names these sitemaps."""

    def host_refusal(self, url: str) -> str:
        """Why were connections to the server of this URL refused, on our side? One of the reasons, or ""."""
        return ""

    def report_end(self, report: Report, reason: str) -> Blame:
        """Reports the end of a download; returns whom to blame where it failed for this reason.

        A server that is away is slowed down.

        Args:
            reason: "" of an answer, also one that says that nothing is there.
        """
        lease = report.lease
        if reason not in PASSING:
            if report.downloaded:
                self.outages.answered(lease)
            self.leases.report(report)
            return Blame.PAGE
        blame, in_a_row = self.outages.failed(lease, report.seconds)
        is_away = blame is Blame.SERVER and in_a_row > 1
        report = report._replace(slow_down=report.slow_down or is_away, downloaded=in_a_row > 0)
        self.leases.report(report)
        if is_away and in_a_row == 3:
            logger.warning(AWAY, lease.server, reason)
        elif blame is Blame.LONG and in_a_row == FAULTS_MAX + 1:
            logger.warning(LONG_AWAY, lease.server, reason)
        return blame

    # ---- what the scheduler asks

    def lease(self, limit: int, reports: Sequence[Report], doubtful: int) -> Leased:
        """Lease more URLs, in one round trip; blocks. The arguments are those of `Frontier.lease`."""
        frontier, leases = self.frontier, self.leases
        connections = frontier.connections
        sys.audit("webcrawler.lease.before")
        try:
            with metrics.lease_seconds.time():
                found = frontier.lease(limit, reports, doubtful)
        except RedisError:
            self._may_hold_unknown = True  # the call may have been executed, its answer lost
            raise
        sys.audit("webcrawler.lease.after")
        leases.open.update((lease.url, lease) for lease in found.leases)
        leases.downloading.update(lease.url for lease in found.leases)
        sys.audit("webcrawler.lease.known")
        # A Redis that was restored may hold leases decided long ago; a timed-out call may still be executed.
        if self._may_hold_unknown or frontier.connections != connections or not leases.open:
            self._may_hold_unknown = True
            with suppress(RedisError):  # tried again with the next lease
                frontier.reclaim(leases.open)
                self._may_hold_unknown = False
        return found

    def take_reports(self) -> list[Report]:
        return self.leases.reports.take()

    def close(self) -> None:
        """Sends the last reports and leaves, when nothing is in flight; blocks."""
        sys.audit("webcrawler.close.before")
        last = self.leases.reports.take()
        attempt(lambda: self.frontier.fetched(last), self.connection.revive)
        sys.audit("webcrawler.close.after")
        self.leave()

    def stop(self, reason: str) -> None:
        """Ends the crawl in good order: what is in flight is still decided."""
        self._stopping = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    def fail(self, error: Exception, reason: str) -> None:
        """Ends the crawl by an error that does not pass."""
        logger.critical("the crawl cannot go on: %s", error)
        self.has_lost = is_damage(error)
        self.stop(reason)

    @property
    def is_closing(self) -> bool:
        """Is the crawl coming to its end, by a limit or by a signal?"""
        slot = self.crawler.engine._slot
        return slot is None or slot.closing is not None
