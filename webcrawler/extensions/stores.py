"""What one run holds open: made in the order in which it is needed, closed in the reverse order."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from webcrawler import connection, failpoints
from webcrawler.addresses import AddressRules
from webcrawler.batch import Batch, Settled
from webcrawler.catalog import Catalog
from webcrawler.extensions import parts
from webcrawler.extensions.demo import Demo
from webcrawler.extensions.member import Member, bury_the_dead
from webcrawler.extensions.resolver import GuardedResolver
from webcrawler.frontier import Frontier, Reports, ordering, upkeep
from webcrawler.job import Job, seed_link
from webcrawler.pages import PageStore

DIGEST_HINTS = 200_000  # about 40 MB


class Stores:
    """Membership of the frontier, parsers and batch; what was opened is closed when the rest fails.

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
        self._folder = Path(settings["CRAWL_DIR"]).absolute()
        with ExitStack() as opened:
            parts.raise_file_limit()
            opened.enter_context(parts.crawl_lock(self._folder))
            self.connection = opened.enter_context(connection.from_settings(settings))
            parts.wait_out(lambda: bury_the_dead(self.connection), self.connection.revive)
            self.demo = None if job is None else self._demo(job)
            if self.demo:
                opened.callback(self.demo.stop)
            self.resolver = self._guard_addresses()
            polite = parts.politeness(settings, no_delay=self.demo is not None)
            mode = upkeep.mode_of(self.connection.client, job.mode) if job else "fifo"
            shape = parts.budgets(settings), settings.getint("FRONTIER_PARTITIONS")
            self._member = opened.enter_context(Member(self.connection, mode, polite, *shape))
            self.frontier = self._member.frontier
            seeds = self.demo.seeds if self.demo else job.seeds if job else ()
            failpoints.reach("discover.before")
            links = [seed_link(seed) for seed in seeds]
            parts.wait_out(
                lambda: self.frontier.discover(links, within_budgets=False), self.connection.revive
            )
            failpoints.reach("discover.after")
            self.parsers = parts.parser_pool(settings)
            opened.callback(self.parsers.close)
            self.batch = self._open_batch(opened, settled, broken)
            opened.callback(self.batch.close)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Writes what is left, gives leases back, lets go. Blocks for as long as that takes."""
        self._opened.close()

    @property
    def request_meta(self) -> dict[str, Any]:
        """For every request: what was checked is what is fetched; the demo web needs no proxy."""
        return {"verbatim_url": True, "proxy": None} if self.demo else {"verbatim_url": True}

    def _demo(self, job: Job) -> Demo | None:
        frontier = Frontier(self.connection.client, ordering("fifo"))
        return Demo.for_run(self._folder, job, frontier)

    def _open_batch(self, opened: ExitStack, settled: Settled, broken: Callable[[], object]) -> Batch:
        path = self._folder / "catalog.sqlite"
        with closing(Catalog(path)) as catalog:
            self.digests = catalog.digests(DIGEST_HINTS)
        return Batch(
            PageStore(self._folder / "pages"),
            lambda: Catalog(path),
            self._member.new_frontier(opened),
            settled,
            self._reports,
            broken,
            self.connection.revive,
            self._settings.getint("BATCH_DOCUMENTS"),
            self._settings.getfloat("BATCH_SECONDS"),
        )

    def _guard_addresses(self) -> GuardedResolver:
        from twisted.internet import reactor  # importing it installs it: not before the crawl runs

        allowed = parts.words(self._settings["ADDRESSES_ALLOWED"])
        rules = self.demo.addresses if self.demo else AddressRules(allowed)
        resolver = GuardedResolver(reactor.nameResolver, rules)
        reactor.installNameResolver(resolver)
        return resolver
