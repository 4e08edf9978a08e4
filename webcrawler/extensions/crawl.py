"""A crawl as the Scrapy side sees it: leases out, fetches in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.addresses import AddressRules
from webcrawler.batch import DOCUMENTS, broken
from webcrawler.extensions import parts
from webcrawler.extensions.stores import DIGEST_HINTS, Stores
from webcrawler.frontier import Leased, Report
from webcrawler.job import Job, seed_link
from webcrawler.records import Entry, Fetch, Lease, Link, Page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class Crawl:
    """Shared by scheduler, middlewares, pipelines and spider; on the event loop, but where it says so."""

    def __init__(self, crawler: Crawler, settings: BaseSettings) -> None:
        self.crawler, self.settings = crawler, settings
        self.folder = Path(settings["CRAWL_DIR"]).absolute()
        self.protocols = frozenset(parts.words(settings["PROTOCOLS"]))
        self.job = Job("fifo")
        self.open_leases: dict[str, Lease] = {}  # by URL: handed out here and not yet decided
        self.downloading: set[str] = set()  # those of them that have not come to an end
        self.documents = 0  # decided in this run
        self.on_change: Callable[[], None] = lambda: None  # the scheduler's: something is over or decided
        self.on_failure: Callable[[Any], None] | None = None  # the outcome middleware's errback
        self._reports: list[Report] = []

    @classmethod
    def of(cls, crawler: Crawler) -> Crawl:
        """The one of this crawler."""
        crawl = crawler.get_extension(cls)
        assert crawl is not None, "the spider's custom_settings are not webcrawler.wiring.SETTINGS"
        return crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Crawl:
        settings = crawler.settings
        settings.set("USER_AGENT", parts.user_agent(settings), priority="cmdline")
        # Below its level Scrapy makes a record of each request and response, and drops it in the handler.
        logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])
        crawl = cls(crawler, settings)
        connect = crawler.signals.connect
        connect(crawl._item_scraped, signals.item_scraped)
        connect(crawl._item_scraped, signals.item_dropped)  # by a pipeline of the user's: it was fetched
        connect(crawl._item_error, signals.item_error)
        connect(crawl._spider_error, signals.spider_error)
        return crawl

    # ---- opening and closing

    def open(self, spider: Spider) -> None:
        """Opens the stores and takes the seeds in."""
        job = getattr(spider, "job", None)  # other people's spiders have none
        self.job = job or self.job
        self._loop = asyncio.get_running_loop()
        self.stores = Stores(self.settings, job, self._settled, self._broken)
        self.frontier, self.connection = self.stores.frontier, self.stores.connection
        self.request_meta = self.stores.request_meta
        if self.job.max_time:
            self._loop.call_later(self.job.max_time, self.stop, "max_time")

    def close(self) -> None:
        """Called in a thread, when nothing is in flight."""
        parts.insist(lambda: self.frontier.fetched(self._reports), self.connection.revive)
        self.stores.close()

    def abandon(self) -> None:
        """After the run: closes what Scrapy left open, as when it was stopped before its engine ran."""
        if hasattr(self, "stores"):
            self.stores.close()

    def stop(self, reason: str) -> None:
        """Ends the crawl in good order: what is in flight is still decided."""
        self._stopping = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    @property
    def is_closing(self) -> bool:
        """Has somebody asked for the end, here or by a signal?"""
        slot = self.crawler.engine._slot
        return slot is None or slot.closing is not None

    # ---- what the scheduler asks

    def discover(self, spellings: Iterable[str]) -> int:
        return self.frontier.discover([seed_link(spelling) for spelling in spellings])

    def lease(self, limit: int, reports: Sequence[Report]) -> Leased:
        """In the scheduler's thread: one round trip."""
        before = self.frontier.connections
        found = self.frontier.lease(limit, reports)
        self.open_leases.update((lease.url, lease) for lease in found.leases)
        self.downloading.update(lease.url for lease in found.leases)
        if self.frontier.connections != before:  # a Redis that came back may hold leases that were decided
            self.frontier.reclaim(self.open_leases)
        return found

    def request(self, lease: Lease) -> Request:
        """The download of a lease."""
        meta = {"lease": lease, **self.request_meta}
        return Request(lease.spelling, meta=meta, errback=self.on_failure, dont_filter=True)

    def take_reports(self) -> list[Report]:
        reports, self._reports = self._reports, []
        return reports

    def put_back_reports(self, reports: list[Report]) -> None:
        self._reports = reports + self._reports

    def allowance(self) -> int:
        """How many more URLs may be leased without passing max_pages, should all be documents."""
        if self.job.max_pages is None:
            return 2**31
        return self.job.max_pages - self.documents - len(self.open_leases)

    def is_enough(self) -> bool:
        return self.job.max_pages is not None and self.documents >= self.job.max_pages

    def revive(self) -> None:
        """After an error of Redis; in the scheduler's thread. Leases lost on the way are given back."""
        parts.insist(self.connection.revive)
        parts.insist(lambda: self.frontier.reclaim(self.open_leases))

    # ---- what middlewares and pipelines ask

    @property
    def addresses(self) -> AddressRules:
        return self.stores.resolver.rules

    def is_refused_host(self, url: str) -> bool:
        """Was the connection refused as the host's addresses are special ones?"""
        return urls.host_and_port(urls.server(url))[0] in self.stores.resolver.refused

    def within_job(self, link: Link) -> Link:
        """The link, refused when it leads out of the job's domains."""
        if link.refused or self.job.admits(urls.server(link.url)):
            return link
        return link._replace(refused="domain")

    def first_with(self, digest: bytes, url: str) -> str:
        """The first URL known here to have brought these bytes: a hint, never the verdict."""
        if len(self.stores.digests) > DIGEST_HINTS:
            self.stores.digests.clear()
        return self.stores.digests.setdefault(digest, url)

    # ---- what downloads and pages come to

    def report(self, report: Report) -> None:
        """A download is over."""
        self.downloading.discard(report.lease.url)
        self._reports.append(report)
        self.on_change()

    def parse(self, fetch: Fetch) -> Future[Page]:
        """The page of a document, from a parser process; raises ParserKilled."""
        content_type = dict(fetch.headers).get("Content-Type", "")
        return self.stores.parsers.parse(fetch.body, fetch.lease.spelling, content_type, self.protocols)

    async def give_back(self, response: Response) -> None:
        """Its lease came to nothing by no fault of the URL."""
        entry = _undecided(response)
        if entry is not None:
            lease = entry.fetch.lease
            release = partial(self.frontier.release, [lease])
            await asyncio.to_thread(parts.insist, release, self.connection.revive)
            self.open_leases.pop(lease.url, None)
            self.on_change()

    def quarantine(self, response: Response, error: str) -> None:
        """A page that killed its parser: tried again while tries are left, then set aside."""
        entry = _undecided(response)
        if entry is not None:
            poison = replace(entry.fetch, state="quarantined", reason="", retry=True, error=error)
            self.decide(Entry(poison, archive=True))

    def decide(self, entry: Entry) -> None:
        """A fetch is on its way into a batch."""
        self.downloading.discard(entry.fetch.lease.url)
        self.stores.batch.put(entry)
        self.on_change()

    def _settled(self, outcomes: Sequence[tuple[Lease, str]]) -> None:
        """In the batch's thread."""
        self._loop.call_soon_threadsafe(self._forget, outcomes)

    def _broken(self) -> None:
        """In the batch's thread, at its end: nothing more can be written."""
        self._loop.call_soon_threadsafe(self.stop, "batch_failed")

    def _forget(self, outcomes: Sequence[tuple[Lease, str]]) -> None:
        for lease, outcome in outcomes:
            self.open_leases.pop(lease.url, None)
            self.crawler.stats.inc_value(f"webcrawler/{outcome}")
            self.documents += outcome in DOCUMENTS
        if self.is_enough():
            self.stop("max_pages")
        self.on_change()

    async def _item_scraped(self, response: Response | None) -> None:
        while self.stores.batch.full and not self.is_closing:  # noqa: ASYNC110  (rare: the disk is behind)
            await asyncio.sleep(0.01)
        self.decide_response(response)

    def decide_response(self, response: object) -> None:
        """Hands on what the pipelines made of a response, once."""
        entry = _undecided(response)
        if entry is not None:
            self.decide(entry)

    def _item_error(self, response: Response | None) -> None:
        self._give_up(response, "a pipeline failed, see the log")

    def _spider_error(self, response: object) -> None:
        self._give_up(response, "the spider failed, see the log")

    def _give_up(self, response: object, error: str) -> None:
        entry = _undecided(response)
        if entry is not None:
            self.stores.digests.pop(entry.digest, None)  # no later page may count on this one's bytes
            self.decide(Entry(broken(entry.fetch, error), archive=True))


class CrawlPart:
    """A middleware or pipeline: one of the things that Scrapy makes for a crawler, at work on its Crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(Crawl.of(crawler))


def _undecided(response: object) -> Entry | None:
    """Takes the entry off a response, so that nobody decides it again."""
    request = getattr(response, "request", None)
    return None if request is None else request.meta.pop("entry", None)
