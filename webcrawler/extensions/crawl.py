"""Everything that one crawling process holds open, in one place, for all that Scrapy makes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy import Request, Spider, signals
from scrapy.settings import BaseSettings

from webcrawler import connection, urls
from webcrawler.addresses import AddressRules
from webcrawler.batch import DOCUMENTS, Batch
from webcrawler.catalog import Catalog
from webcrawler.extensions import parts
from webcrawler.extensions.demo import Demo
from webcrawler.extensions.heartbeat import Heartbeat
from webcrawler.extensions.resolver import GuardedResolver
from webcrawler.frontier import Frontier, Leased, Report, ordering
from webcrawler.items import CrawledPage
from webcrawler.job import Job, seed_link
from webcrawler.pages import PageStore
from webcrawler.records import Entry, Fetch, Lease, Link, Page

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

DIGEST_HINTS = 200_000  # about 40 MB


class Crawl:
    """Opens stores and frontier with the scheduler and closes them with it.

    All of it lives on the event loop's thread, but for what its docstring says.
    """

    def __init__(self, crawler: Crawler, settings: BaseSettings) -> None:
        self.crawler, self.settings = crawler, settings
        self.folder = Path(settings["CRAWL_DIR"]).absolute()
        self.addresses = AddressRules(settings.getlist("ADDRESSES_ALLOWED"))
        self.protocols = frozenset(settings.getlist("PROTOCOLS"))
        self.job = Job("fifo")
        self.request_meta: dict[str, Any] = {"verbatim_url": True}  # what was checked is what is fetched
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
        assert crawl is not None, "EXTENSIONS lacks webcrawler.extensions.Crawl"
        return crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Crawl:
        crawl = cls(crawler, crawler.settings)
        connect = crawler.signals.connect
        connect(crawl._item_scraped, signals.item_scraped)
        connect(
            crawl._item_scraped, signals.item_dropped
        )  # dropped by a pipeline of the user's: still fetched
        connect(crawl._item_error, signals.item_error)
        connect(crawl._spider_error, signals.spider_error)
        return crawl

    # ---- opening and closing

    def open(self, spider: Spider) -> None:
        """Everything, in the order in which it is needed."""
        self.job = getattr(spider, "job", self.job)
        self._loop = asyncio.get_running_loop()
        self._alive = parts.crawl_lock(self.folder)
        self.connection = connection.from_settings(self.settings)
        self.demo = Demo.for_run(self.folder, self.job, Frontier(self.connection.client, ordering("fifo")))
        if self.demo:
            self.addresses = self.demo.addresses
            self.request_meta["proxy"] = None
        self._guard_addresses()
        self.politeness = parts.politeness(self.settings, no_delay=self.demo is not None)
        self.frontier = self._new_frontier()
        self.frontier.open(self.job.mode)
        self.discover(self.demo.seeds if self.demo else self.job.seeds)
        self.parsers = parts.parser_pool(self.settings)
        self._batch = self._open_batch()
        self._heartbeat = Heartbeat(self._new_frontier(), self.connection.revive)
        if self.job.max_time:
            self._loop.call_later(self.job.max_time, self.stop, "max_time")

    def close(self) -> None:
        """Writes what is left, gives the rest back. Called in a thread, when nothing is in flight."""
        self._batch.close()
        self.parsers.close()
        self._heartbeat.stop()
        parts.insist(lambda: self.frontier.fetched(self._reports), self.connection.revive)
        parts.insist(self.frontier.leave, self.connection.revive)
        if self.demo:
            self.demo.stop()
        self.connection.close()
        self._alive.close()

    def stop(self, reason: str) -> None:
        """Ends the crawl in good order: what is in flight is still decided."""
        self._stopping = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    def _new_frontier(self) -> Frontier:
        client = self.connection.new_client()
        client.set_retry(Retry(NoBackoff(), 0))  # URLs leased by a call sent twice would be nobody's
        return Frontier(client, ordering(self.job.mode), politeness=self.politeness)

    def _open_batch(self) -> Batch:
        path = self.folder / "catalog.sqlite"
        catalog = Catalog(path)
        self.digests = catalog.digests(DIGEST_HINTS)
        catalog.close()
        return Batch(
            PageStore(self.folder / "pages"),
            lambda: Catalog(path),
            self._new_frontier(),
            self._settled,
            self.connection.revive,
            self.settings.getint("BATCH_DOCUMENTS"),
            self.settings.getfloat("BATCH_SECONDS"),
        )

    def _guard_addresses(self) -> None:
        from twisted.internet import reactor  # importing it installs it: not before the crawl runs

        self._resolver = GuardedResolver(reactor.nameResolver, self.addresses)
        reactor.installNameResolver(self._resolver)

    # ---- what the scheduler asks

    def discover(self, spellings: Iterable[str]) -> int:
        return self.frontier.discover([seed_link(spelling) for spelling in spellings])

    def lease(self, limit: int, reports: Sequence[Report]) -> Leased:
        """In the scheduler's thread: one round trip."""
        found = self.frontier.lease(limit, reports)
        self.open_leases.update((lease.url, lease) for lease in found.leases)
        self.downloading.update(lease.url for lease in found.leases)
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

    @property
    def batch_is_full(self) -> bool:
        return self._batch.full

    def flush(self) -> None:
        self._batch.flush()

    def revive(self) -> None:
        """After an error of Redis; in the scheduler's thread. Leases lost on the way are given back."""
        parts.insist(self.connection.revive)
        parts.insist(lambda: self.frontier.reclaim(self.open_leases))

    # ---- what downloads and pages come to

    def report(self, report: Report) -> None:
        """A download is over."""
        self._reports.append(report)
        self.on_change()

    def is_refused_host(self, url: str) -> bool:
        """Was the connection refused as the host's addresses are special ones?"""
        return urls.server(url).partition("://")[2].partition(":")[0] in self._resolver.refused

    def within_job(self, link: Link) -> Link:
        """The link, refused when it leads out of the job's domains."""
        if link.refused or self.job.admits(urls.server(link.url)):
            return link
        return link._replace(refused="domain")

    def parse(self, fetch: Fetch) -> Future[Page]:
        """The page of a document, from a parser process; raises ParserKilled."""
        content_type = dict(fetch.headers).get("Content-Type", "")
        return self.parsers.parse(fetch.body, fetch.lease.spelling, content_type, self.protocols)

    def quarantine(self, fetch: Fetch, error: str) -> None:
        """A page that killed its parser: tried again while tries are left, then set aside."""
        poison = replace(fetch, state="quarantined", reason="", retry=True, error=error)
        self.decide(Entry(poison, archive=True))

    def decide(self, entry: Entry) -> None:
        """A fetch is on its way into a batch."""
        self.downloading.discard(entry.fetch.lease.url)
        self._batch.put(entry)
        self.on_change()

    def _settled(self, entries: Sequence[Entry]) -> None:
        """In the batch's thread."""
        self._loop.call_soon_threadsafe(self._forget, entries)

    def _forget(self, entries: Sequence[Entry]) -> None:
        stats = self.crawler.stats
        for entry in entries:
            fetch = entry.fetch
            self.open_leases.pop(fetch.lease.url, None)
            stats.inc_value(f"webcrawler/{fetch.state}/{fetch.reason}")
            self.documents += fetch.state == "done" and fetch.reason in DOCUMENTS
        if self.is_enough():
            self.stop("max_pages")
        self.on_change()

    async def _item_scraped(self, item: object) -> None:
        if isinstance(item, CrawledPage):
            while self._batch.full:  # noqa: ASYNC110  (rare: the disk is behind)
                await asyncio.sleep(0.01)
            self.decide(item.entry)

    def _item_error(self, item: object) -> None:
        if isinstance(item, CrawledPage):
            self._give_up(item.entry.fetch, "a pipeline failed, see the log")

    def _spider_error(self, response: object) -> None:
        request = getattr(response, "request", None)
        if request is not None and "fetch" in request.meta:
            self._give_up(request.meta["fetch"], "the spider failed, see the log")

    def _give_up(self, fetch: Fetch, error: str) -> None:
        self.decide(Entry(parts.broken(fetch, error), archive=True))
