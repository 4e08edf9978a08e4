"""What one run holds open: made in the order in which it is needed, closed in the reverse order."""

from __future__ import annotations

import logging
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeVar

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from webcrawler import clock, connection, metrics, urls
from webcrawler.archive import RECALLED, Batch, Settled, recall
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.background import hold_crawl, hold_start, lower_priority
from webcrawler.connection import attempt, retry
from webcrawler.crawl.membership import (
    join,
    new_client,
    read_politeness,
    release_dead_searches,
    release_dead_workers,
)
from webcrawler.crawl.peers import GuardedResolver, RememberingResolver, of_system
from webcrawler.crawl.run import lost
from webcrawler.crawl.run.lost import begin, refuse_if_lost
from webcrawler.crawl.run.rules import keep_scope
from webcrawler.crawl.run.seeds import ADDRESSES, claim, serve_demo
from webcrawler.errors import BadInput, Unavailable
from webcrawler.frontier import Again, Frontier, Reports, maintenance, ordering
from webcrawler.job import Job, seed_link, sitemap_link
from webcrawler.parsing import ParserPool
from webcrawler.records import Link
from webcrawler.robots import product_token
from webcrawler.scope import read, read_begun
from webcrawler.settings import words_of
from webcrawler.urls import AddressRules

logger = logging.getLogger(__name__)
T = TypeVar("T")

EVICTS = "Redis drops keys once its memory is full, and so loses URLs: set its maxmemory-policy to noeviction"
DIGEST_HINTS = 200_000  # about 40 MB
OPEN_FILES = 65_536
PARSER_MEMORY_MIB = 384  # that one parser may add to what it starts with: 100 MiB with what detects languages
AGENTS_SECONDS = 10.0  # to wait for other agents; one may have died
# Of a batch, where a person waits for it or what is learnt from it decides what comes next: with 1 s a crawl
# of 70 pages/s found 3 wanted pages on one subject, with 0.05 s it found 85.
QUICK_ENTRIES, QUICK_SECONDS = 10, 0.05


class Stores:
    """The frontier, the parsers and the batch of a run. When one cannot be opened, the others are closed.

    Args:
        may_demo: may the demo web be crawled, where there are no seeds?
        settled, reports, broken: as for Batch.
        agent: the number of this process among the agents of its crawl, from 1.
    """

    def __init__(
        self,
        settings: BaseSettings,
        job: Job,
        may_demo: bool,
        settled: Settled,
        reports: Reports,
        broken: Callable[[Exception], object],
        agent: int,
    ) -> None:
        self._settings, self._job, self._agent = settings, job, agent
        self._folder, self._name = Path(settings["CRAWL_DIR"]).absolute(), ""
        self._catalog = self._folder / "catalog.sqlite"
        with ExitStack() as opened:
            _raise_file_limit()
            opened.enter_context(lock_folder(self._folder))
            opened.enter_context(metrics.kept(self._folder))
            self.connection = opened.enter_context(connection.from_settings(settings))
            # Not Redis, for which searches wait, too; but all threads and processes that are started below.
            if not os.nice(0) and not job.is_search:
                lower_priority(settings.getint("CRAWL_NICE"))
            client, revive = self.connection.client, self.connection.revive
            if agent == 1 and self.connection.evicts:
                logger.warning(EVICTS)
            retry(lambda: release_dead_workers(self.connection, job.frontier), revive)
            retry(lambda: release_dead_searches(self.connection), revive)
            if job.is_search:
                earlier = Frontier(client, ordering("fifo"), job.frontier)
                if not job.resumed and retry(earlier.stored_mode, revive):  # it has another question
                    self._forget_search()
                opened.callback(self._forget_search)
            if may_demo and self._is_new():
                time.sleep(clock.SEEDS_FIRST_SECONDS)
            with hold_start(self._folder):
                self._begin(opened, may_demo)
            retry(lambda: self._await_agents(time.monotonic() + AGENTS_SECONDS), revive)
            self._recall()
            self.parsers = parser_pool(settings, job.agents)
            opened.callback(self.parsers.close)
            self.batch = self._open_batch(self.new_frontier(opened), settled, reports, broken)
            opened.callback(self.batch.close)
            self._opened = opened.pop_all()

    def _is_new(self) -> bool:
        """Has nothing been crawled here? Then somebody may be about to begin with seeds, and comes first."""
        job = self._job
        return not (job.is_search or job.seeds or job.sitemaps or read_begun(self._folder))

    def _begin(self, opened: ExitStack, may_demo: bool) -> None:
        """Looks what the frontier is, joins it, and enters the seeds.

        This is done under the lock of starts, so that nobody changes what this process has seen.
        """
        job, settings = self._job, self._settings
        client, revive = self.connection.client, self.connection.revive
        index_frontier = Frontier(client, ordering("fifo"))
        if not job.is_search:
            retry(lambda: refuse_if_lost(self._folder, index_frontier), revive)
            retry(lambda: lost.refuse_other_checks(self.connection, index_frontier, job.refresh), revive)
            if job.refresh in lost.ENDLESS:
                opened.callback(attempt, lambda: self._end_checks(index_frontier), revive)
        retry(lambda: claim(self._folder, job, index_frontier), revive)
        self.demo = serve_demo(self._folder, job, index_frontier) if may_demo else None
        self.request_meta: dict[str, Any] = {"verbatim_url": True}  # what was checked is what is fetched
        if self.demo:
            opened.callback(self.demo.stop)
            self.request_meta["proxy"] = None
        self.resolver = self._guard_addresses()
        polite = read_politeness(settings, no_delay=self.demo is not None)
        mode = maintenance.mode_of(client, job.mode, job.frontier)
        self.frontier = join(opened, self.connection, settings, mode, polite, job.frontier)
        if job.is_search:
            retry(lambda: maintenance.enter_search(client, job.frontier), revive)
        else:
            self._name = self.ask(lambda catalog: begin(self._folder, mode, catalog))
        if bounds := keep_scope(self._folder, job):
            logger.info("%s", bounds)
        scope = read(self._folder)
        if job.is_search:  # which has domains of its own
            scope = replace(scope, domains=())
        links = [link for link in map(seed_link, self._seeds()) if not scope.refusal(link.url)]
        links += map(sitemap_link, job.sitemaps)
        sys.audit("webcrawler.discover.before")
        retry(lambda: self.frontier.discover(links, within_budgets=False), revive)
        sys.audit("webcrawler.discover.after")
        if not job.is_search:
            retry(lambda: maintenance.refuse(self.frontier, scope.bars, scope.digest), revive)
        retry(self._begin_refresh, revive)
        if not job.is_search:
            retry(lambda: self._try_again(links), revive)

    def _end_checks(self, index_frontier: Frontier) -> None:
        with suppress(Unavailable), hold_start(self._folder):
            lost.end_checks(index_frontier)

    def close(self) -> None:
        """Writes what is left and gives leases back; blocks for as long as that takes."""
        self._opened.close()

    def ask(self, question: Callable[[Catalog], T]) -> T:
        """What the catalog answers."""
        with closing(Catalog(self._catalog)) as catalog:
            return question(catalog)

    def new_frontier(self, opened: ExitStack) -> Frontier:
        """The same frontier for another thread, with connections of its own."""
        return self.frontier.on(new_client(opened, self.connection))

    def _await_agents(self, until: float) -> None:
        """Agents begin together, so that each domain has its home from its first page on."""
        while self.frontier.meet() < self._job.agents and time.monotonic() < until:
            time.sleep(0.05)

    def _forget_search(self) -> None:
        """Removes the frontier of a search."""
        with suppress(RedisError, BadInput):
            maintenance.leave_search(self.connection.client, self._job.frontier)

    def _begin_refresh(self) -> None:
        def left(since: float) -> int:
            scope = read(self._folder)
            return self.ask(
                lambda catalog: sum(not scope.is_outside(url) for url in catalog.checks.left(since))
            )

        lost.begin_checks(self.frontier, self._job.refresh, left)

    def _guard_addresses(self) -> GuardedResolver:
        from twisted.internet import reactor  # importing it installs it: not before the crawl runs

        allowed = ADDRESSES if self.demo else words_of(self._settings["ADDRESSES_ALLOWED"])
        resolver = GuardedResolver(RememberingResolver(of_system(reactor)), AddressRules(allowed))
        reactor.installNameResolver(resolver)
        return resolver

    def _seeds(self) -> Sequence[str]:
        if self.demo and self._job.is_search and self._catalog.exists():
            with closing(Catalog(self._catalog)) as catalog:
                if catalog.first_documents(1):  # the index knows the demo web already
                    return ()
        return self.demo.seeds if self.demo else self._job.seeds

    def _try_again(self, named: Sequence[Link]) -> None:
        """Has what a person names fetched at once if it failed in an earlier run, or what it leads to did.

        So are sitemaps that were fetched as pages, before anybody said what they are.
        """
        if not (named and self._catalog.exists()):
            return
        with closing(Catalog(self._catalog)) as catalog:
            failing = catalog.fetches.failing([link.url for link in named])
        self.frontier.again(
            [Again(url, was, named[n].request, spelling) for n, url, spelling, was in failing]
        )

    def _recall(self) -> None:
        """Teaches an ordering from the catalog what it may have known in a process that has ended."""
        if self.frontier.ordering.learns and not self._job.is_search and self._catalog.exists():
            with closing(Catalog(self._catalog)) as catalog:
                numbers = catalog.last_documents(RECALLED)
                logger.info("learning again from %d documents", len(numbers))
                for seen in recall(catalog, numbers):
                    self.frontier.ordering.learn(seen)

    def _open_batch(
        self, frontier: Frontier, settled: Settled, reports: Reports, broken: Callable[[Exception], object]
    ) -> Batch:
        with closing(Catalog(self._catalog)) as catalog:
            self.digests = catalog.digests(DIGEST_HINTS)
        entries = self._settings.getint("BATCH_DOCUMENTS")
        seconds = self._settings.getfloat("BATCH_SECONDS")
        if self._job.is_search or self.frontier.ordering.learns:
            entries, seconds = min(entries, QUICK_ENTRIES), min(seconds, QUICK_SECONDS)
        limits = removal_limits(self._settings)
        orders_repeats = self._settings.getint("BUDGET_REPEATS") and not self._job.is_search
        return Batch(
            PageStore(self._folder / "pages", search=self._job.marks_finds),
            lambda: Catalog(self._catalog, limits=limits, job=self._job.marks_finds),
            frontier,
            settled,
            reports,
            broken,
            self.connection.revive,
            entries,
            seconds,
            only_new=self._job.is_search,
            folder=self._name,
            suspect=lambda servers: _probe(frontier, servers) if orders_repeats else None,
        )


def removal_limits(settings: BaseSettings) -> dict[str, float]:
    """When a check removes a document, as `Catalog` takes it."""
    gone, lost = (settings.getfloat(f"REFRESH_{name}") for name in ("GONE", "LOST"))
    return {"missing_s": gone * 3600, "lost_s": lost * 86400}


def lock_folder(folder: Path) -> IO[str]:
    """Says, as long as it is open, that a crawl of this data folder is alive.

    Raises:
        BadInput: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return hold_crawl(folder)
    except OSError as error:
        raise BadInput(f"cannot write the data folder {folder}: {error.strerror}; set CRAWL_DIR") from None


def _probe(frontier: Frontier, servers: Sequence[str]) -> int:
    """Asks servers for a path that cannot exist, each once; what they answer tells their soft 404s."""
    return frontier.again([Again(urls.probe(server), "") for server in servers])


def _raise_file_limit() -> None:
    """As many descriptors as we may have: a broad crawl keeps connections to many servers open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def parser_pool(settings: BaseSettings, agents: int = 1, spare: int = 1) -> ParserPool:
    """As many parsers as PARSER_WORKERS says, or as the machine has cores.

    Args:
        agents: that share the cores.
        spare: cores that are left to each of them for the crawl itself.
    """
    workers = settings.getint("PARSER_WORKERS") or max(1, (os.cpu_count() or 2) // agents - spare)
    robot = product_token(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
    return ParserPool(workers, settings.getfloat("PARSER_TIMEOUT"), PARSER_MEMORY_MIB, robot)
