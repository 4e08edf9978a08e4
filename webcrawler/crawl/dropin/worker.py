"""The worker of any spider: a lease is done when its callback is, with all that it has yielded."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.utils.asyncio import is_asyncio_available

from webcrawler import clock, connection
from webcrawler.connection import attempt, retry
from webcrawler.crawl.base import Worker
from webcrawler.crawl.dropin.kept import Keeper, NotKept
from webcrawler.crawl.dropin.project import SeedKey, identity_of, is_given, key_of, options, seeds_key
from webcrawler.crawl.dropin.visits import (
    Decisions,
    Handler,
    Visit,
    bare,
    broken,
    failure_of,
    report_of_visit,
)
from webcrawler.crawl.membership import join, read_politeness, release_dead_workers
from webcrawler.crawl.open_leases import Blame
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, Leased, Report, inspect, maintenance, ordering
from webcrawler.records import Lease, Link
from webcrawler.settings import is_yes

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

LEASE_SECONDS = 7 * 24 * 3600.0  # of a worker that lives: a dead one's are taken back within seconds

NUMBER = "frontier_number"  # of a download, in its request's meta
MEMORY_SECONDS = 300.0  # that a lease waits for requests in memory; it would end after 900

# The visit whose callback runs in this task: what that yields and raises belongs to the visit.
_current: ContextVar[Visit | None] = ContextVar("visit", default=None)


class SpiderWorker(Worker):
    """Replaces callbacks by handlers, which see what arrives and when all that follows from it is done."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._numbers = itertools.count(1)
        self._visits: dict[int, Visit] = {}  # by number of the download that is under way
        self._rescheduled: set[int] = set()  # those that Scrapy enqueues again, or drops
        self._with_memory: dict[Visit, None] = {}  # with requests in memory
        self._in_memory: set[bytes] = set()  # fingerprints of requests that were not kept
        self._warned: set[str] = set()
        self._start_counts: Counter[bytes] = Counter()
        self._seeds_after = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SpiderWorker:
        worker = cls(crawler)
        crawler.signals.connect(worker._scheduled, signals.request_scheduled)
        crawler.signals.connect(worker._broke, signals.spider_error)
        crawler.signals.connect(worker._broke, signals.item_error)
        return worker

    # ---- opening and closing

    def open(self, spider: Spider) -> None:
        """Joins the frontier of the spider's name.

        Raises:
            BadInput, Unavailable: with one line that says what to do.
        """
        if not is_asyncio_available():
            raise BadInput("the scheduler needs Scrapy's default reactor: unset TWISTED_REACTOR")
        settings = options(self.crawler.settings, spider.name)
        self._spider = spider
        self._idle_seconds = settings.getfloat("FRONTIER_IDLE")
        self._expected_until = time.monotonic() + self._idle_seconds  # also where nothing waits at the start
        # Another try yields the items before the error again: only where the project asks for tries.
        self._broken = broken(retry=is_given(self.crawler.settings, "FRONTIER_TRIES"))
        with ExitStack() as opened:
            self.connection = opened.enter_context(connection.from_settings(settings))
            fingerprinter = self.crawler.request_fingerprinter
            identity = identity_of(settings["FRONTIER_IDENTITY"], fingerprinter)
            name, mode = settings["FRONTIER_NAME"], settings["FRONTIER_MODE"]
            retry(lambda: release_dead_workers(self.connection, name), self.connection.revive)
            if is_yes(self.crawler.settings.get("SCHEDULER_FLUSH_ON_START", False)):
                maintenance.clear(Frontier(self.connection.client, ordering(mode), name))
            # A callback may take long, and there is no parser that could lose its page.
            polite = replace(read_politeness(settings), lease=LEASE_SECONDS)
            self.frontier = join(opened, self.connection, settings, mode, polite, name)
            retry(lambda: self.frontier.identify_by(identity), self.connection.revive)
            self._opened = opened.pop_all()
        self._keeper = Keeper(spider, key_of(identity, fingerprinter.fingerprint), NUMBER)
        key = seeds_key(spider, self.crawler.settings)
        # A seed is crawled as often as it is pushed.
        self._seeds = SeedKey(
            self.connection.client, key, spider, lambda seed: self._keeper.link(seed, secrets.token_hex(8))
        )
        self._call_soon = asyncio.get_running_loop().call_soon_threadsafe  # the scheduler's thread decides
        self._decisions = Decisions(
            self.frontier, lambda *told: self._call_soon(partial(self._decided, *told))
        )
        self._log_state()

    def leave(self) -> None:
        self._decisions.gather()
        if self._decisions:
            attempt(self._decisions.send, self.connection.revive)
        attempt(lambda: self.frontier.discover(self.new_links, False), self.connection.revive)
        self._opened.close()

    def _log_state(self) -> None:
        states = inspect.stats(self.frontier)
        if states["seen"]:
            logger.info(
                "frontier %r continues: %d requests seen, %d of them still to do; "
                "-s SCHEDULER_FLUSH_ON_START=1 forgets them",
                *(self.frontier.name, states["seen"], states["queued"] + states["leased"]),
            )

    # ---- what the scheduler asks

    def before_request(self) -> None:
        """No callback runs now. Closes the visits of redirects and retries that Scrapy has dropped."""
        _current.set(None)
        for number in list(
            self._rescheduled
        ):  # to where a middleware, as that of allowed_domains, lets none go
            self._redirected(number, 0.0)
        self._close_oldest()

    def resume(self) -> Request | None:
        request = super().resume()
        if request:
            self._count("dequeued", "memory")
        return request

    def request(self, lease: Lease) -> Request | None:
        visit = Visit(lease)
        try:
            request = self._handed_out(self._keeper.request(lease), visit)
            self._count("dequeued", "redis")
            return request
        except Exception as error:  # the project's own code makes it
            logger.error("cannot make the request for %s: %s", lease.url, error)
            visit.failure = self._broken
            self._decide(visit)
            return None

    def enqueue(self, request: Request) -> bool:
        """Takes links of the page whose callback yields them, of a redirect to them, or of none: seeds.

        What Scrapy's duplicate filter is not asked about, such as a retry, goes on within its lease.
        """
        number = request.meta.get(NUMBER)
        visit = self._visits.get(number or 0)
        if visit and request.dont_filter:
            return self._go_on(request)
        if visit is None:
            visit = _current.get()
            if visit and not visit.under_way:
                visit = None  # a task that outlives its callback
        handlers = request.callback, request.errback
        request.callback, request.errback = map(bare, handlers)
        try:
            link = self._keeper.link(request, self._nonce(request, visit))
        except NotKept as why:
            if number not in self._visits:
                return self._keep_in_memory(request, visit, str(why))
            request.callback, request.errback = handlers
            return self._is_new_in_memory(request) and self._go_on(request)
        if visit and visit.lease:
            visit.links.append(link)
        else:
            self.new_links.append(link)
            self.leases.changed.set()
        if number in self._visits:
            self._redirected(number, request.meta.get("download_latency", 0.0))
        return True

    def _go_on(self, request: Request) -> bool:
        self._rescheduled.discard(request.meta[NUMBER])
        self.resumed.append(request)
        self._count("enqueued", "memory")
        return True

    def take_reports(self) -> list[Report]:
        self._decisions.gather()
        return super().take_reports()

    def lease(self, limit: int, reports: Sequence[Report], doubtful: int) -> Leased:
        """In the scheduler's thread. Downloads are reported before their leases are decided."""
        if self._decisions:
            self.frontier.fetched(reports)
            reports = ()
            self._decisions.send()
        taken = self._take_seeds()
        found = super().lease(limit, reports, doubtful)
        if taken or found.queued or found.leased:
            self._expected_until = time.monotonic() + self._idle_seconds
        return found

    @property
    def is_expecting(self) -> bool:
        return time.monotonic() < self._expected_until

    # ---- downloads and callbacks

    def _handed_out(self, request: Request, visit: Visit) -> Request:
        number = next(self._numbers)
        self._visits[number] = visit
        visit.under_way += 1
        self.leases.downloads.begin(number, bool(visit.lease and visit.lease.doubtful))
        request.meta[NUMBER] = number
        request.callback = Handler(self._arrived, number, request.callback)
        request.errback = Handler(self._failed, number, request.errback)
        return request

    def _arrived(self, handler: Handler, response: Response, **kwargs: Any) -> Any:
        assert response.request is not None
        self._enter(handler.number, response.request, response)
        callback = handler.original or self._spider._parse
        return callback(response, **kwargs)

    def _failed(self, handler: Handler, failure: Failure) -> Any:
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        visit = self._visits.get(handler.number)
        error = failure.value or RuntimeError("a failure without an error")
        is_tried_again = False
        if visit and visit.lease and not visit.is_reported:  # else it is that of a request in memory
            visit.failure = failure_of(error, request, visit.lease)
            self._enter(handler.number, request, error)
            is_tried_again = visit.failure.is_tried_again(visit.lease.tries, self.frontier.politeness.tries)
        else:
            self._enter(handler.number, request, error)
        if is_tried_again:
            logger.info("%s is tried again later: %s", request, failure.value)
            return None
        return handler.original(failure) if handler.original else failure

    def _enter(self, number: int, request: Request, result: Response | BaseException) -> None:
        """From here on the running task, and those that it starts, belong to the visit."""
        visit = self._visits.pop(number, None)
        if visit is None:
            return  # a spider calls its callback by itself
        self.leases.downloads.end(number)
        if visit.lease and not visit.is_reported:
            why = visit.failure
            blame = self.report_end(report_of_visit(visit.lease, request, result), why.reason if why else "")
            if why:
                retry = why.retry and blame is not Blame.LONG
                visit.failure = why._replace(retry=retry, excused=blame is Blame.SERVER)
        visit.is_reported = True
        _current.set(visit)
        task = asyncio.current_task()
        assert task is not None, "Scrapy scrapes each response in a task of its own"
        task.add_done_callback(lambda _: self._over(visit))

    def _broke(self) -> None:
        """A callback or a pipeline raised."""
        visit = _current.get()
        if visit and not visit.failure:
            visit.failure = self._broken

    def _over(self, visit: Visit) -> None:
        visit.under_way -= 1
        if not visit.under_way:
            self._with_memory.pop(visit, None)
            self._decide(visit)

    def _decide(self, visit: Visit) -> None:
        if visit.lease:
            self.leases.downloading.discard(visit.lease.url)
            self._decisions.put(visit)
            self.leases.changed.set()

    def _decided(self, outcomes: Sequence[tuple[Lease, str]], new: int, filtered: int) -> None:
        for lease, outcome in outcomes:
            if outcome == "done/document":
                self.outages.gave_document(lease)
            self.leases.close(lease)
            self.crawler.stats.inc_value(f"webcrawler/{outcome}")
        self.crawler.stats.inc_value("webcrawler/discovered", new)
        self.count_links(new, filtered)
        self.leases.changed.set()

    def count_links(self, new: int, filtered: int) -> None:
        self._count("enqueued", "redis", new)
        self.crawler.stats.inc_value("dupefilter/filtered", filtered)

    def _count(self, what: str, where: str, number: int = 1) -> None:
        """Under the names of Scrapy, and of scrapy-redis."""
        for name in (f"scheduler/{what}", f"scheduler/{what}/{where}"):
            self.crawler.stats.inc_value(name, number)

    def _redirected(self, number: int, seconds: float) -> None:
        """The download ended in a request that does not belong to its lease."""
        self._rescheduled.discard(number)
        visit = self._visits.pop(number)
        self.leases.downloads.end(number)
        if visit.lease and not visit.is_reported:
            self.leases.report(Report(visit.lease, seconds))
            visit.reason = "redirect"
        visit.is_reported = True
        self._over(visit)

    def _scheduled(self, request: Request) -> None:
        """Notes a redirect or retry: another handler of this signal may drop it without telling anybody."""
        number = request.meta.get(NUMBER)
        if number in self._visits:
            self._rescheduled.add(number)

    # ---- seeds

    def _nonce(self, request: Request, visit: Visit | None) -> str:
        """Makes a request with dont_filter unique; in `start` by a count, which is the same in each run."""
        if not request.dont_filter:
            return ""
        if visit or not self._is_starting:
            return secrets.token_hex(8)
        digest = self.crawler.request_fingerprinter.fingerprint(request)
        self._start_counts[digest] += 1
        return f"start {self._start_counts[digest]}"

    @property
    def _is_starting(self) -> bool:
        return self.crawler.engine._start is not None

    def _take_seeds(self) -> int:
        now = time.monotonic()
        if now < self._seeds_after:
            return 0
        taken = self._seeds.take(self._discover_seeds)
        self._seeds_after = now if taken else now + clock.SEEDS_POLL_SECONDS
        return taken

    def _discover_seeds(self, links: Sequence[Link]) -> None:
        new = self.frontier.discover(links, within_budgets=False)
        self._call_soon(self.count_links, new, len(links) - new)

    # ---- requests that are not kept

    def _keep_in_memory(self, request: Request, visit: Visit | None, why: str) -> bool:
        """Downloads it without the frontier. The page that yielded it is done later: a crash repeats both."""
        if why not in self._warned:
            self._warned.add(why)
            line = "%s cannot be stored in the frontier (%s): it is downloaded from memory, "
            logger.warning(line + "and its page is not done before that", request, why)
        visit = visit or Visit(None)
        if not self._is_new_in_memory(request):
            return False
        self._with_memory[visit] = None
        self.crawler.stats.inc_value("webcrawler/in_memory")
        return self._go_on(self._handed_out(request, visit))

    def _is_new_in_memory(self, request: Request) -> bool:
        digest = self.crawler.request_fingerprinter.fingerprint(request)
        if not request.dont_filter and digest in self._in_memory:
            self.crawler.stats.inc_value("dupefilter/filtered")
            return False
        self._in_memory.add(digest)
        return True

    def _close_oldest(self) -> None:
        """A lease is decided after a while; what is left of its requests in memory goes on without it."""
        while self._with_memory:
            oldest = next(iter(self._with_memory))
            if time.monotonic() - oldest.began < MEMORY_SECONDS:
                return
            del self._with_memory[oldest]
            self._decide(oldest.split())
