"""The worker of an index crawl: what is fetched is archived, and decided by what the pipelines make of it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.archive import DOCUMENTS, broken
from webcrawler.background import give_way
from webcrawler.crawl.run.stores import DIGEST_HINTS, Stores
from webcrawler.crawl.worker import Worker, parts
from webcrawler.errors import BadUrl
from webcrawler.frontier import Report
from webcrawler.job import Job, seed_link
from webcrawler.records import Entry, Fetch, Lease, Link, Page
from webcrawler.urls import AddressRules

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Crawl(Worker):
    """Shared by scheduler, middlewares, pipelines and spider; on the event loop, but where it says so."""

    def __init__(self, crawler: Crawler, settings: BaseSettings) -> None:
        super().__init__(crawler)
        self.settings = settings
        self.folder = Path(settings["CRAWL_DIR"]).absolute()
        self.protocols = frozenset(parts.words(settings["PROTOCOLS"]))
        self.trap_paths = tuple(parts.words(settings["TRAP_PATHS"]))
        self.job = Job("fifo")
        self.documents = 0  # decided in this run
        self._no_documents: set[str] = set()  # leased URLs that are no documents, on their way into a batch
        self.on_failure: Callable[[Any], None] | None = None  # the outcome middleware's errback

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Crawl:
        settings = crawler.settings
        settings.set("USER_AGENT", parts.user_agent(settings), priority="cmdline")
        # Below its level Scrapy makes a record of each request and response, and drops it in the handler.
        logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])
        crawl = cls(crawler, settings)
        settings.set("CONCURRENT_REQUESTS", crawl.downloads.scrapy_limit, priority="cmdline")
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
        # Before there are threads and processes of ours, which are as nice as this one.
        if not os.nice(0) and not self.job.is_search:
            give_way(self.settings.getint("CRAWL_NICE"))
        self.stores = Stores(self.settings, job, self._settled, self.reports, self._broken)
        self.frontier, self.connection = self.stores.frontier, self.stores.connection
        self.request_meta = self.stores.request_meta
        if self.job.max_time:
            self._loop.call_later(self.job.max_time, self.stop, "max_time")

    def leave(self) -> None:
        self.stores.close()

    def abandon(self) -> None:
        """After the run: closes what Scrapy left open, as when it was stopped before its engine ran."""
        if hasattr(self, "stores"):
            self.stores.close()

    # ---- what the scheduler asks

    def request(self, lease: Lease) -> Request:
        self.downloads.begin(lease.url, lease.doubtful)
        meta = {"lease": lease, **self.request_meta}
        return Request(lease.spelling, meta=meta, errback=self.on_failure, dont_filter=True)

    def enqueue(self, request: Request) -> bool:
        """One that holds a lease goes on at once; of another, the URL is all that is kept.

        What has a method, a body or a callback of its own is dropped, and said so.
        """
        lease: Lease | None = request.meta.get("lease")
        try:
            link = seed_link(request.url)
        except BadUrl:
            return False
        if lease and lease.url in self.open_leases and link.url == lease.url:
            self.again.append(request)
        elif request.method != "GET" or request.body or request.callback or request.cb_kwargs:
            logger.error("dropped %s: this crawl keeps URLs only; see webcrawler.addon for more", request)
            return False
        else:
            self.asked.append(link)
        self.on_change()
        return True

    @property
    def is_behind(self) -> bool:
        return self.stores.batch.full

    def hurry(self) -> None:
        self.stores.batch.flush()

    def allowance(self) -> int:
        """How many more URLs may be leased without passing max_pages, should all be documents."""
        if self.job.max_pages is None:
            return 2**31
        return self.job.max_pages - self.documents - len(self.open_leases.keys() - self._no_documents)

    def is_enough(self) -> bool:
        return self.job.max_pages is not None and self.documents >= self.job.max_pages

    # ---- what middlewares and pipelines ask

    @property
    def addresses(self) -> AddressRules:
        return self.stores.resolver.rules

    def is_refused_host(self, url: str) -> bool:
        return urls.host_and_port(urls.server(url))[0] in self.stores.resolver.refused

    @property
    def is_bounded(self) -> bool:
        """May `within_job` refuse anything?"""
        return bool(self.job.domains or self.trap_paths)

    def within_job(self, link: Link) -> Link:
        """The link, refused when it leads out of the job's domains or to a path of TRAP_PATHS."""
        if link.refused:
            return link
        if not self.job.admits(urls.server(link.url)):
            return link._replace(refused="domain")
        return link._replace(refused="location") if urls.is_at(link.url, self.trap_paths) else link

    def first_with(self, digest: bytes, url: str) -> str:
        """The first URL known here to have brought these bytes: a hint, never the verdict."""
        if len(self.stores.digests) > DIGEST_HINTS:
            self.stores.digests.clear()
        return self.stores.digests.setdefault(digest, url)

    # ---- what downloads and pages come to

    def report(self, report: Report) -> None:
        self.downloads.end(report.lease.url)
        super().report(report)

    def parse(self, fetch: Fetch) -> Future[Page]:
        """The page of a document, from a parser process; raises ParserKilled."""
        sys.audit("webcrawler.parse.before")
        content_type = dict(fetch.headers).get("Content-Type", "")
        return self.stores.parsers.parse(fetch.body, fetch.lease.spelling, content_type, self.protocols)

    async def give_back(self, response: Response) -> None:
        """Its lease came to nothing by no fault of the URL."""
        entry = _undecided(response)
        if entry is not None:
            lease = entry.fetch.lease
            release = partial(self.frontier.release, [lease])
            sys.audit("webcrawler.release.before")
            await asyncio.to_thread(parts.insist, release, self.connection.revive)
            sys.audit("webcrawler.release.after")
            self.open_leases.pop(lease.url, None)
            self.on_change()

    def quarantine(self, response: Response, error: str) -> None:
        """A page that killed its parser: tried again while tries are left, then set aside."""
        entry = _undecided(response)
        if entry is not None:
            logger.warning("no parser survives %s: %s", entry.fetch.lease.url, error)
            poison = replace(entry.fetch, state="quarantined", reason="", retry=True, error=error)
            self.decide(Entry(poison, archive=True))

    def decide(self, entry: Entry) -> None:
        """A fetch is on its way into a batch."""
        url = entry.fetch.lease.url
        self.downloading.discard(url)
        self.downloads.end(url)
        if f"{entry.fetch.state}/{entry.fetch.reason}" not in DOCUMENTS:
            self._no_documents.add(url)
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
            if self.open_leases.get(lease.url) == lease:  # it may have been leased anew meanwhile
                del self.open_leases[lease.url]
            self._no_documents.discard(lease.url)
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
