"""What one run holds open: made in the order in which it is needed, closed in the reverse order."""

from __future__ import annotations

import logging
import os
import resource
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO, Any

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from webcrawler import connection
from webcrawler.archive import Batch, Settled, recall
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.background import hold_crawl, hold_search
from webcrawler.connection import retry
from webcrawler.crawl.run.demo import Demo
from webcrawler.crawl.worker import (
    GuardedResolver,
    Member,
    read_budgets,
    read_politeness,
    read_words,
    release_dead_searches,
    release_dead_workers,
)
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, Reports, maintenance, ordering
from webcrawler.job import Job, seed_link
from webcrawler.parsing import ParserPool
from webcrawler.urls import AddressRules

logger = logging.getLogger(__name__)

DIGEST_HINTS = 200_000  # about 40 MB
RECALLED = 5_000  # documents; some seconds of processor time
# A batch where somebody waits for it, or what comes next depends on what is learnt from it: with 1 s a
# crawl of 70 pages/s found 3 wanted pages on one subject, with this 85.
QUICK_DOCUMENTS, QUICK_SECONDS = 10, 0.05


class Stores:
    """The frontier, the parsers and the batch of a run. When one cannot be opened, the others are closed.

    Args:
        settled, reports, broken: as for Batch.
    """

    def __init__(
        self,
        settings: BaseSettings,
        job: Job | None,
        settled: Settled,
        reports: Reports,
        broken: Callable[[], object],
    ) -> None:
        self._settings, self._reports = settings, reports
        self._is_search = job is not None and job.is_search
        name = job.frontier if job else "index"
        self._folder = Path(settings["CRAWL_DIR"]).absolute()
        with ExitStack() as opened:
            _raise_file_limit()
            opened.enter_context(lock_folder(self._folder))
            if self._is_search:
                opened.enter_context(hold_search(self._folder))
            self.connection = opened.enter_context(connection.from_settings(settings))
            retry(lambda: release_dead_workers(self.connection, name), self.connection.revive)
            retry(lambda: release_dead_searches(self.connection), self.connection.revive)
            if self._is_search:
                opened.callback(self._forget_search, name)
            self.demo = None if job is None else self._demo(job)
            if self.demo:
                opened.callback(self.demo.stop)
            self.resolver = self._guard_addresses()
            polite = read_politeness(settings, no_delay=self.demo is not None)
            mode = maintenance.mode_of(self.connection.client, job.mode, name) if job else "fifo"
            shape = read_budgets(settings), settings.getint("FRONTIER_PARTITIONS")
            self._member = Member(opened, self.connection, mode, polite, *shape, name)
            self.frontier = self._member.frontier
            if self._is_search:
                retry(lambda: maintenance.enter_search(self.connection.client, name), self.connection.revive)
            seeds = self._seeds(job) if job else ()
            sys.audit("webcrawler.discover.before")
            links = [seed_link(seed) for seed in seeds]
            retry(lambda: self.frontier.discover(links, within_budgets=False), self.connection.revive)
            sys.audit("webcrawler.discover.after")
            self._recall()
            self.parsers = _parser_pool(settings)
            opened.callback(self.parsers.close)
            self.batch = self._open_batch(opened, settled, broken)
            opened.callback(self.batch.close)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Writes what is left and gives leases back; blocks for as long as that takes."""
        self._opened.close()

    def new_frontier(self, opened: ExitStack) -> Frontier:
        """The same frontier for another thread, with connections of its own."""
        return self._member.new_frontier(opened)

    @property
    def has_documents(self) -> bool:
        """Was anything crawled here before?"""
        path = self._folder / "catalog.sqlite"
        if not path.exists():
            return False
        with closing(Catalog(path)) as catalog:
            return bool(catalog.first_documents(1))

    def _recall(self) -> None:
        """Has an ordering learn again from the catalog what it knew in a process that has ended."""
        path = self._folder / "catalog.sqlite"
        if self.frontier.ordering.learns and not self._is_search and path.exists():
            with closing(Catalog(path)) as catalog:
                numbers = catalog.last_documents(RECALLED)
                logger.info("learning again from %d documents", len(numbers))
                for seen in recall(catalog, numbers):
                    self.frontier.ordering.learn(seen)

    def _forget_search(self, name: str) -> None:
        """Removes the frontier of a search; what it found stays in catalog and index."""
        with suppress(RedisError, BadInput):
            maintenance.leave_search(self.connection.client, name)

    @property
    def request_meta(self) -> dict[str, Any]:
        """For every request: what was checked is what is fetched; the demo web needs no proxy."""
        return {"verbatim_url": True, "proxy": None} if self.demo else {"verbatim_url": True}

    def _demo(self, job: Job) -> Demo | None:
        frontier = Frontier(self.connection.client, ordering("fifo"))
        return Demo.for_run(self._folder, job, frontier)

    def _seeds(self, job: Job) -> tuple[str, ...]:
        """Seeds; a search needs none of the demo web where the index knows that already."""
        return self.demo.seeds if self.demo and not (job.is_search and self.has_documents) else job.seeds

    def _open_batch(self, opened: ExitStack, settled: Settled, broken: Callable[[], object]) -> Batch:
        path = self._folder / "catalog.sqlite"
        with closing(Catalog(path)) as catalog:
            self.digests = catalog.digests(DIGEST_HINTS)
        documents = self._settings.getint("BATCH_DOCUMENTS")
        seconds = self._settings.getfloat("BATCH_SECONDS")
        if self._is_search or self.frontier.ordering.learns:
            documents, seconds = min(documents, QUICK_DOCUMENTS), min(seconds, QUICK_SECONDS)
        return Batch(
            PageStore(self._folder / "pages"),
            lambda: Catalog(path),
            self._member.new_frontier(opened),
            settled,
            self._reports,
            broken,
            self.connection.revive,
            documents,
            seconds,
            only_new=self._is_search,
        )

    def _guard_addresses(self) -> GuardedResolver:
        from twisted.internet import reactor  # importing it installs it: not before the crawl runs

        allowed = read_words(self._settings["ADDRESSES_ALLOWED"])
        rules = self.demo.addresses if self.demo else AddressRules(allowed)
        resolver = GuardedResolver(reactor.nameResolver, rules)
        reactor.installNameResolver(resolver)
        return resolver


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


def _raise_file_limit() -> None:
    """As many descriptors as we may have: a broad crawl keeps connections to many servers open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _parser_pool(settings: BaseSettings) -> ParserPool:
    """As many parsers as the machine has cores beside the crawl's own."""
    workers = settings.getint("PARSER_WORKERS") or max(1, (os.cpu_count() or 2) - 1)
    return ParserPool(workers, settings.getfloat("PARSER_TIMEOUT"), settings.getint("PARSER_MEMORY"))
