"""The worker of an index crawl: what is fetched is archived, and decided by what the pipelines make of it."""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy import Request, Spider, signals
from scrapy.http import Response

from webcrawler import connection, metrics, urls
from webcrawler.archive.catalog import Catalog
from webcrawler.background import VIEWS_NEED
from webcrawler.connection import attempt
from webcrawler.crawl.base import Worker
from webcrawler.crawl.open_leases import LOOK_UP_SECONDS
from webcrawler.crawl.peers import Certificates
from webcrawler.crawl.run.agents import Agents
from webcrawler.crawl.run.forms import Asker, Forms
from webcrawler.crawl.run.logins import Logins
from webcrawler.crawl.run.lost import ENDLESS, LOST
from webcrawler.crawl.run.outcomes import Outcomes
from webcrawler.crawl.run.rules import LinkRules, Sitemaps
from webcrawler.crawl.run.seeds import SHOWN, Seeds
from webcrawler.crawl.run.stores import Stores
from webcrawler.crawl.run.watch import Watch
from webcrawler.crawl.wiring import CrawledPage
from webcrawler.errors import BadInput, BadUrl
from webcrawler.frontier import Leased, Report, decisions
from webcrawler.job import Job, is_sitemap, seed_link
from webcrawler.parsing import SITEMAP_BYTES
from webcrawler.records import Entry, Lease
from webcrawler.settings import complaint, is_yes, user_agent

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
UNREAD = 8  # pages on their way for an ordering that learns, and one more for every eight documents
AGENTS = "AGENTS"  # not one of our settings: where the command puts what it has started
FAILING = (
    "seeds that have failed: %s; name them again, or run `webcrawler frontier again URL`, to try once more"
)
NOTHING = "nothing was crawled: all seeds have failed; `webcrawler frontier explain URL` says why"
TOO_LARGE = "the sitemap %s is larger than %d MB: what it names is not all known; its owner may divide it"


class Crawl(Worker):
    """Opens and closes what the scheduler, the middlewares, the pipelines and the spider share.

    `rules` and `certificates` are there when Scrapy makes these; `stores` and `outcomes` are from `open` on.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.settings = crawler.settings
        if why := complaint("CRAWL_DIR", self.settings["CRAWL_DIR"]):
            raise BadInput(why)
        self.folder = Path(self.settings["CRAWL_DIR"]).absolute()
        # Other spiders have no job.
        self.job: Job = getattr(crawler.spider, "job", None) or Job("fifo")
        self.agents: Agents = crawler.settings.get(AGENTS) or Agents()
        if self.job.agents > self.agents.total:
            logger.error("only the command `webcrawler crawl index` starts agents: this process crawls alone")
            self.job = replace(self.job, agents=1)
        self.rules = LinkRules.from_settings(self.settings, self.job)
        self.job.check_protocols(self.rules.protocols)
        given: Job | None = getattr(crawler.spider, "job", None)
        self.sitemaps = Sitemaps.from_settings(self.settings, given, self.rules)
        # Who starts a search of the web may be anybody: nothing is fetched for them in the owner's name.
        self.logins = Logins() if self.job.is_search else Logins.read(self.settings)
        verifies = self.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
        self.certificates = Certificates(verifies, self.logins.knows)
        self._has_checks_left = self.job.refresh == "once"
        self._forms: Forms | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Crawl:
        settings = crawler.settings
        settings.set("USER_AGENT", user_agent(settings), priority="cmdline")
        verifies = is_yes(settings["DOWNLOAD_VERIFY_CERTIFICATES"])  # Scrapy does not know a "yes"
        settings.set("DOWNLOAD_VERIFY_CERTIFICATES", verifies, priority="cmdline")
        # Below its level Scrapy makes a record of each request and response, and drops it in the handler.
        for log in (logging.getLogger("scrapy"), decisions.log):
            log.setLevel(settings["LOG_LEVEL"])
        crawl = cls(crawler)
        connect = crawler.signals.connect
        connect(crawl._item_scraped, signals.item_scraped)
        connect(crawl._item_scraped, signals.item_dropped)  # by a pipeline of the user's: it was fetched
        connect(crawl._failed, signals.item_error)
        connect(crawl._failed, signals.spider_error)
        connect(crawl._watch_agents, signals.spider_opened)
        return crawl

    # ---- opening and closing

    def open(self, spider: Spider) -> None:
        """Opens the stores, takes the seeds in, and starts the processes beside the crawl."""
        self._loop = loop = asyncio.get_running_loop()
        self.stores = Stores(
            self.settings,
            self.job,
            getattr(spider, "job", None) is not None,
            # The batch calls these in its own thread.
            lambda outcomes: loop.call_soon_threadsafe(self._settled, outcomes),
            self.leases.reports,
            lambda error: loop.call_soon_threadsafe(self.fail, error, "batch_failed"),
            self.agents.number,
        )
        self.frontier, self.connection = self.stores.frontier, self.stores.connection
        self.request_meta = self.stores.request_meta
        self._set_gauges()
        self.seeds = Seeds(() if self.job.is_search else map(seed_link, self.job.seeds))
        most = 0 if self.job.is_search else self.settings.getint("COLLECTION_MAX")
        added = self.agents.tally.total("added")  # by other agents: they are among the documents counted
        room = most - self.stores.ask(Catalog.count_documents) + added if most else None
        self.outcomes = Outcomes(self, self.stores, self.job.max_pages, self.seeds, room, self.agents.tally)
        self._watch = Watch(
            self.folder,
            connection.serialized(self.settings, self.job.mode, VIEWS_NEED),
            self.agents.is_first and not self.job.is_search,  # the newest crawl's settings hold
            lambda: loop.call_soon_threadsafe(self._give_up_on_views),
        )
        if self.job.max_time:
            loop.call_later(self.job.max_time, self.stop, "max_time")
        for line in self.logins.complaints if self.agents.is_first else ():
            logger.warning(line)
        if self.rules.forms.texts and self.agents.is_first and self.job.refresh != "only":
            self._forms = self._ask_forms()

    def _ask_forms(self) -> Forms:
        opened, settings = ExitStack(), self.settings
        catalog = opened.enter_context(closing(Catalog(self.folder / "catalog.sqlite", readonly=True)))
        most = settings.getint("FORMS_MAX")
        return Forms(
            Asker(catalog, self.stores.new_frontier(opened), self.rules, most, 2 * most),
            opened,
            lambda: not (self.is_closing or self.outcomes.is_full),
            self.connection.revive,
            self._forms_asked,
            lambda error: self.fail(error, "forms_failed"),
        )

    def _forms_asked(self, queries: int) -> None:
        if queries:
            self.crawler.stats.inc_value("webcrawler/forms/queries", queries)
        self.leases.changed.set()

    def _set_gauges(self) -> None:
        """Say what holds now; the functions are called in another thread."""
        parsers, batch, politeness = self.stores.parsers, self.stores.batch, self.frontier.politeness
        metrics.delay_seconds.set(politeness.delay)
        metrics.parsers.set(parsers.workers)
        metrics.downloads.set_function(lambda: len(self.leases.downloading))
        metrics.downloads_max.set(self.leases.downloads.limit)
        metrics.parser_pages.set_function(lambda: parsers.pages)
        metrics.batch_queue.set_function(lambda: batch.waiting)
        metrics.batch_full.set_function(lambda: batch.full)

    def _watch_agents(self) -> None:
        self.agents.watch(self.stop)

    def _give_up_on_views(self) -> None:
        """Without them, a crawl that waits for its checks would never end."""
        if self.job.refresh not in ("no", "yes"):
            self.stop("views_failed")

    def leave(self) -> None:
        if self._forms:
            asyncio.run_coroutine_threadsafe(self._forms.close(), self._loop).result()
        if self.agents.is_first:
            self._count_others()
            self._say_if_nothing()
        for url in self.outcomes.too_large:
            logger.warning(TOO_LARGE, url, SITEMAP_BYTES >> 20)
        attempt(self._notice_loss, self.connection.revive)
        try:
            self.crawler.stats.set_value("webcrawler/index_lag", self._watch.close())
        finally:
            self.stores.close()
        if not self.agents.is_first:
            self.agents.close(self.crawler.stats.get_stats())

    def _count_others(self) -> None:
        """Ends the other agents, and adds what they have counted to what this one has."""
        for counts in self.agents.close(self.crawler.stats.get_stats()):
            for name, number in counts.items():
                if not name.startswith("memusage/"):
                    self.crawler.stats.inc_value(name, number)

    def _say_if_nothing(self) -> None:
        if self.job.is_search:
            return
        if failing := self.stores.ask(self.seeds.failing):
            some = ", ".join(f"{url} ({reason})" for url, reason in [*failing.items()][:SHOWN])
            more = f" and {len(failing) - SHOWN:,} more" if len(failing) > SHOWN else ""
            logger.warning(FAILING, some + more)
        if failing and not self.outcomes.documents and self.stores.ask(partial(self.seeds.are_all, failing)):
            logger.error(NOTHING)
            self.crawler.stats.set_value("webcrawler/nothing_crawled", True)
        if self.job.refresh == "no" and not self.outcomes.fetches:
            waiting = self.stores.ask(Catalog.count_documents)
            if waiting:
                logger.warning(
                    "nothing new to fetch; %s documents can be checked: -a refresh=once", f"{waiting:,}"
                )

    def _notice_loss(self) -> None:
        """Without its keys, a frontier looks like one from which everything was fetched."""
        if self.has_lost or not self.frontier.stored_mode():
            logger.error(LOST)
            self.crawler.stats.set_value("webcrawler/frontier_lost", True)

    def abandon(self) -> None:
        """After the run: closes what Scrapy left open, as when it was stopped before its engine ran."""
        if hasattr(self, "_watch"):
            self._watch.stop()
        if hasattr(self, "stores"):
            self.stores.close()

    # ---- what the scheduler asks

    def lease(self, limit: int, reports: Sequence[Report], doubtful: int) -> Leased:
        if self.is_closing:
            self.agents.end()
        is_full = self.outcomes.is_full
        self.frontier.leases.checks_only = self._has_checks_left or is_full or self.job.refresh == "only"
        found = super().lease(limit, reports, doubtful)
        if self._forms and not (found.queued or found.leased or self.job.refresh in ENDLESS):
            self._loop.call_soon_threadsafe(self._forms.seen_empty, self.stores.ask(Catalog.last_seq))
        if not found.leases and self.job.refresh == "once":
            self._has_checks_left = bool(self.frontier.refresh)
        if is_full and not (found.leases or self.leases.open or self.is_expecting or self.is_closing):
            self._loop.call_soon_threadsafe(self.stop, "collection_full")
        return found

    @property
    def is_expecting(self) -> bool:
        """Will the refresher queue more, or may a search form be asked for more?"""
        asks = self._forms is not None and self._forms.is_expecting
        return self.job.refresh in ENDLESS or self._has_checks_left or asks

    def request(self, lease: Lease) -> Request:
        self.leases.downloads.begin(lease.url, lease.doubtful, LOOK_UP_SECONDS)
        meta = {"lease": lease, **self.request_meta}
        if is_sitemap(lease):
            meta["download_maxsize"] = max(SITEMAP_BYTES, self.settings.getint("DOWNLOAD_MAXSIZE"))
        headers = json.loads(lease.request).get("headers") if lease.request else None
        return Request(
            lease.spelling, headers=headers, meta=meta, errback=self.outcomes.failed, dont_filter=True
        )

    def enqueue(self, request: Request) -> bool:
        """A request with a lease goes on at once; of any other, only the URL is kept.

        One with a method, a body or a callback of its own is dropped, with an error in the log.
        """
        lease: Lease | None = request.meta.get("lease")
        try:
            link = seed_link(request.url)
        except BadUrl:
            return False
        if lease and lease.url in self.leases.open and link.url == lease.url:
            self.resumed.append(request)
        elif request.method != "GET" or request.body or request.callback or request.cb_kwargs:
            logger.error("dropped %s: this crawl keeps URLs only; see webcrawler.addon for more", request)
            return False
        else:
            self.new_links.append(self.rules.mirrors.link(link, self.rules.protocols))
        self.leases.changed.set()
        return True

    def flush(self) -> None:
        self.stores.batch.flush()

    def allowance(self, wanted: int) -> int:
        if self.stores.batch.full:
            wanted = 0
        elif self.frontier.ordering.learns and self.leases.downloads.limit != 1:
            most = UNREAD + self.outcomes.documents // UNREAD  # the next are chosen by what these say
            wanted = min(wanted, max(0, most - self.leases.unread()))
        return self.outcomes.allowance(wanted)

    def take_sitemaps(self, server: str, names: Sequence[str]) -> None:
        self.new_links += self.sitemaps.announced(server, names)
        self.leases.changed.set()

    def host_refusal(self, url: str) -> str:
        if self.stores.resolver.has_refused(url):
            return "address-refused"
        host, _ = urls.host_and_port(urls.server(url))
        return self.certificates.fault(url) if self.certificates.refuses(host) else ""

    # ---- Scrapy's signals

    def _settled(self, outcomes: Sequence[tuple[Lease, str]]) -> None:
        self.outcomes.settled(outcomes)
        if self._forms:
            self._forms.settled()

    async def _item_scraped(self, response: Response | None) -> None:
        while self.stores.batch.full and not self.is_closing:  # noqa: ASYNC110  (rare: the disk is behind)
            await asyncio.sleep(0.01)
        self.outcomes.finish(response)

    def _failed(self, response: object, signal: object) -> None:
        what = "a pipeline" if signal is signals.item_error else "the spider"
        self.outcomes.give_up(response, f"{what} failed, see the log")


class CrawlPart:
    """A middleware or pipeline: one of the things that Scrapy makes for a crawler, at work on its Crawl."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(Crawl.of(crawler))


class PagePipeline(CrawlPart, ABC):
    """A pipeline of ours: adds its part to what is stored of a page."""

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            self._crawl.outcomes.extend(item.fetch.lease, lambda entry: self.add(entry, item))
        return item

    @abstractmethod
    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        """The entry with this pipeline's part of the page."""
