"""An index crawl that downloads nothing: a test hands it the answers, and looks at what it makes of them.

Its frontier, catalog, WARC files, batch and rules are those of any crawl. Scrapy's engine has a stand-in, and
pages are parsed in this process.
"""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import MakeFrontier
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.test import get_reactor_settings

from pipelines.duplicates import DuplicatesPipeline
from pipelines.fulltext import FullTextPipeline
from pipelines.linkgraph import LinkGraphPipeline
from pipelines.pages import PagesPipeline
from spiders.index import IndexSpider
from webcrawler.archive import Batch
from webcrawler.archive.catalog import Catalog, PastFetch
from webcrawler.archive.pages import PageStore, Record, records
from webcrawler.crawl.middlewares import OutcomeMiddleware
from webcrawler.crawl.peers import GuardedResolver
from webcrawler.crawl.robots import RobotsMiddleware
from webcrawler.crawl.run import Crawl, Decided
from webcrawler.crawl.run.outcomes import Outcomes
from webcrawler.crawl.run.seeds import Seeds
from webcrawler.frontier import Frontier
from webcrawler.job import seed_link
from webcrawler.parsing import parse, parse_sitemap
from webcrawler.records import Lease, Link, Page, Sitemap
from webcrawler.scheduler import Scheduler
from webcrawler.urls import AddressRules

FOREVER = 3600.0  # seconds: a batch is written when a test says so
HANGS_SECONDS = 60.0  # only so that what hangs ends
Written = queue.Queue[Sequence[tuple[Lease, str]]]
PIPELINES = (DuplicatesPipeline, PagesPipeline, LinkGraphPipeline, FullTextPipeline)
Answer = Callable[[Request], Response]


class Engine:
    """What a crawl asks of Scrapy's engine.

    Attributes:
        answers: what a download of robots.txt comes to.
        woken: how often it was told that there is something to download.
        ended: why it was told to end, "" if it was not.
    """

    def __init__(self) -> None:
        self.answers: Answer = lambda request: Response(request.url, 404)
        self.asked: list[Request] = []
        self.woken, self.ended = 0, ""
        self.closing: bool | None = None
        self.downloader = SimpleNamespace(total_concurrency=0)
        self._slot = self.nextcall = self
        self._news = asyncio.Event()

    def schedule(self) -> None:
        self.woken += 1
        self._news.set()

    async def wakes(self, before: int) -> None:
        """Wait until it was woken more often than so many times."""
        while self.woken <= before:
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), HANGS_SECONDS)

    async def close_spider_async(self, reason: str) -> None:
        self.ended, self.closing = reason, True

    async def download_async(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answers(request)


class Parsers:
    """Reads pages in this process, or raises an `error`, or gives those out that are `waiting`, each once."""

    robot = "webcrawler"

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.waiting: list[Future[Any]] = []

    def parse(self, *page: Any) -> Future[Page]:
        return self._done(lambda: parse(*page))

    def parse_sitemap(self, *sitemap: Any) -> Future[Sitemap | None]:
        return self._done(lambda: parse_sitemap(*sitemap))

    def _done(self, read: Callable[[], Any]) -> Future[Any]:
        if self.waiting:
            return self.waiting.pop(0)
        future: Future[Any] = Future()
        if self.error:
            future.set_exception(self.error)
        else:
            future.set_result(read())
        return future


class Stores(SimpleNamespace):
    """What a run holds open; the batch, with its thread and its catalog, is opened when it is needed."""

    def __init__(self, made: Handmade, **held: object) -> None:
        super().__init__(**held)
        self._made = made

    @property
    def batch(self) -> Batch:
        return self._made.batch


class Handmade:
    """A crawl with these arguments and settings on that frontier."""

    def __init__(
        self, folder: Path, frontier: Frontier, arguments: Mapping[str, str], **given: object
    ) -> None:
        settings = Settings()
        settings.setmodule("webcrawler.settings", priority="project")
        own = {
            "CRAWL_DIR": str(folder),
            "FRONTIER_TRIES": frontier.politeness.tries,
            **get_reactor_settings(),
        }
        settings.setdict(own | given, priority="cmdline")
        self.crawler = Crawler(IndexSpider, settings)
        self.spider = IndexSpider.from_crawler(self.crawler, **{"mode": "fifo", **arguments})
        self.crawler.spider = self.spider
        self.crawler._apply_settings()
        self.engine, self.parsers, self.crawl = Engine(), Parsers(), Crawl.of(self.crawler)
        self.crawler.engine = self.engine  # type: ignore[assignment]
        self.folder, self.frontier, self._written = folder, frontier, Written()
        self.pipelines = [kind(self.crawl) for kind in PIPELINES]
        self._open(self.crawl)

    def _open(self, crawl: Crawl) -> None:
        """As `Crawl.open` does it, without processes."""
        crawl.frontier = self.frontier
        crawl.connection = SimpleNamespace(revive=lambda: None)  # type: ignore[assignment]
        crawl.stores = Stores(  # type: ignore[assignment]
            self,
            frontier=self.frontier,
            parsers=self.parsers,
            digests={},
            connection=crawl.connection,
            resolver=GuardedResolver(None, AddressRules(["127.0.0.1/32"])),
        )
        seeds = Seeds(map(seed_link, crawl.job.seeds))
        most = crawl.settings.getint("COLLECTION_MAX") or None
        crawl.outcomes = Outcomes(crawl, crawl.stores, crawl.job.max_pages, seeds, most, crawl.agents.tally)

    @cached_property
    def batch(self) -> Batch:
        return Batch(
            PageStore(self.folder / "pages"), self.catalog, self.frontier, self._written.put, seconds=FOREVER
        )

    @cached_property
    def robots(self) -> RobotsMiddleware:
        return RobotsMiddleware(self.crawl)

    @cached_property
    def scheduler(self) -> Scheduler:
        return Scheduler(self.crawler, self.crawl)

    def refill(self) -> float:
        """One round trip of the scheduler; returns seconds until the next."""
        return asyncio.run(self.scheduler._refill())

    @cached_property
    def outcome(self) -> OutcomeMiddleware:
        return OutcomeMiddleware(self.crawl)

    def close(self) -> None:
        if "batch" in vars(self):
            self.batch.close()

    def catalog(self) -> Catalog:
        return Catalog(self.folder / "catalog.sqlite")

    def kept(self) -> list[Record]:
        """What its WARC files have."""
        return list(records(self.folder / "pages"))

    def last(self, url: str) -> PastFetch:
        """The last fetch of a URL."""
        with closing(self.catalog()) as catalog:
            found = catalog.fetches.last(url)
        assert found, f"{url} was not fetched"
        return found

    @property
    def stats(self) -> dict[str, Any]:
        return self.crawler.stats.get_stats()

    def lease(self, *links: str | Link) -> Lease:
        """The lease of the best of these."""
        self.frontier.discover([link if isinstance(link, Link) else seed_link(link) for link in links])
        return self.next()

    def next(self) -> Lease:
        """The lease of what is next."""
        (lease,) = self.crawl.lease(1, self.crawl.take_reports(), 1).leases
        return lease

    def request(self, *links: str | Link, **meta: object) -> Request:
        """The request of the best of these, or of what is next."""
        request = self.crawl.request(self.lease(*links) if links else self.next())
        request.meta.update(meta)
        return request

    def download(self, request: Request, response: Response) -> Response | Request | None:
        """What Scrapy goes on with when that is the answer; None: it is decided."""
        self.outcome.process_request(request)
        try:
            return self.outcome.process_response(request, response)
        except Decided:
            return None

    def answer(self, *links: str | Link, **answer: Any) -> Response | Request | None:
        """What Scrapy goes on with when the best of these, or what is next, is answered so."""
        request = self.request(*links)
        return self.download(request, answered(request, **answer))

    def page(self, *links: str | Link, body: bytes = b"<title>A page</title>", **headers: str) -> Response:
        """A document that was downloaded, on its way to the spider."""
        request = self.request(*links)
        response = answered(request, 200, body, **headers)
        assert self.download(request, response) is response
        return response

    def scrape(self, response: Response) -> dict[str, str]:
        """What comes of a document, through spider and pipelines."""

        async def work() -> None:
            async for item in self.spider.parse(response):
                for pipeline in self.pipelines:
                    pipeline.process_item(item)

        asyncio.run(work())
        self.crawl.outcomes.finish(response)
        return self.settle()

    def settle(self) -> dict[str, str]:
        """Has written what was decided; returns what came of each URL."""
        self.batch.flush()
        return self.written()

    def written(self) -> dict[str, str]:
        """What came of each URL of the next batch that is written."""
        written = self._written.get(timeout=HANGS_SECONDS)
        self.crawl._settled(written)
        return {lease.url: outcome for lease, outcome in written}


def answered(request: Request, status: int = 200, body: bytes = b"", **headers: str) -> Response:
    """What the server answers to that request: HTML unless told otherwise."""
    named = {"Content-Type": "text/html"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(request.url, status, named, body, request=request)


Make = Callable[..., Handmade]


@pytest.fixture
def make(tmp_path: Path, make_frontier: MakeFrontier) -> Iterator[Make]:
    """Makes crawls of one folder in which these URLs wait; what they are given in capitals are settings."""
    made: list[Handmade] = []

    def one(*urls: str, answers: Answer | None = None, backoff: float = 0.0, **given: object) -> Handmade:
        arguments = {name: str(value) for name, value in given.items() if name.islower()}
        settings = {name: value for name, value in given.items() if name.isupper()}
        frontier = make_frontier(arguments.get("mode", "fifo"), tries=2, backoff=backoff)
        made.append(Handmade(tmp_path, frontier, {"seeds": "http://127.0.0.1/"} | arguments, **settings))
        frontier.discover([seed_link(url) for url in urls])
        if answers:
            made[-1].engine.answers = answers
        return made[-1]

    yield one
    for crawl in made:
        crawl.close()


@pytest.fixture
def made(make: Make) -> Handmade:
    return make()
