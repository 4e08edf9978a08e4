"""The checks of a data folder, as one of its views.

It is the UpdateModule of an incremental crawler (SV), beside the ranker, its RankingModule; the crawl is the
CrawlModule, and never waits for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from redis.exceptions import RedisClusterException

from webcrawler import clock, metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.connection import RedisError, from_settings, visit
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import WAITING, Again, Frontier, ordering
from webcrawler.linkgraph import stored
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.schedule import Schedule

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 2.0  # with a lock that others hold for the moment in which they look at it
REST = 4  # times as long as a step took, before the next
Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]  # in a `Collection`
SHARE = 0.2  # of the fetches, at most, bring replacements: else they would be all of them
TIMES = 2.0  # the rank of what it replaces: ranks are estimates, and two pages would take turns
AT_ONCE = 500  # documents discarded in one transaction
AWAY = (RedisError, RedisClusterException, WebcrawlerError)


def schedule_of(settings: Mapping[str, Any]) -> Schedule:
    """An empty schedule by the settings REFRESH_POLICY and REFRESH_AT_MOST.

    Raises:
        BadInput: there is no such policy.
    """
    return Schedule(settings["REFRESH_POLICY"], float(settings["REFRESH_AT_MOST"]) / 24)


class Checking:
    """Queues checks while a crawl is alive that makes any, as the frontier says (`Frontier.refresh`)."""

    def __init__(self, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
        self._catalog, self._crawl_dir, self._settings = catalog, crawl_dir, settings
        self._collection: Collection | None = None  # from the first check on
        self._connected = ExitStack()
        self._admission: Admission | None = None  # while Redis is connected
        self._replacement: Replacement | None = None
        self._frontier: Frontier | None = None
        self._not_before = 0.0
        self._failures = 0  # one after the other
        self._is_settled = not int(settings.get("COLLECTION_MAX", 0))

    def step(self, crawling: bool) -> bool:
        began = time.monotonic()
        if not crawling and not self._is_settled:
            self._settle()
        if not crawling or began < self._not_before:
            return False
        try:
            self._queue(self._frontier or self._connect())
            self._not_before = began + (1 + REST) * (time.monotonic() - began)
            self._failures = 0
        except AWAY as error:
            self._disconnect()
            self._not_before = began + clock.RANKS_RETRY_SECONDS
            self._failures += 1
            if self._failures == 2:  # one is no news: a crawl that ends may take its Redis away first
                _log.warning("no checks are queued now: %s", error)
        return False

    def _connect(self) -> Frontier:
        with visit(self._settings) as connection:
            client = self._connected.enter_context(closing(connection.new_client()))
        self._frontier = Frontier(client, ordering("fifo"))
        return self._frontier

    def _disconnect(self) -> None:
        self._connected.close()
        self._frontier = self._admission = self._replacement = None

    def _queue(self, frontier: Frontier) -> None:
        if not (self._collection or frontier.refresh):
            return
        if self._collection is None or self._collection.is_outdated():
            self._collection = Collection(self._catalog, self._crawl_dir, schedule_of(self._settings))
            self._admission = None
        if self._admission is None:
            of_all = self._collection, self._catalog, frontier
            share, pause_s = (float(self._settings[name]) for name in ("REFRESH_SHARE", "FRONTIER_DELAY"))
            self._admission = Admission(*of_all, share, pause_s)
            self._replacement = Replacement(*of_all, self._crawl_dir, int(self._settings["COLLECTION_MAX"]))
        assert self._replacement is not None
        with metrics.refresher_step_seconds.time():
            self._admission.step()
            self._replacement.step()
        self._is_settled = False

    def _settle(self) -> None:
        """Bring a collection to its size after a crawl: its last pages may have come after the last step."""
        self._disconnect()
        self._is_settled = True
        if not (most := int(self._settings.get("COLLECTION_MAX", 0))):
            return
        if self._collection is None:
            self._collection = Collection(self._catalog, self._crawl_dir, schedule_of(self._settings))
        collection = self._collection
        collection.follow()
        if collection.documents <= most:
            return
        try:  # the crawl may have been the last user of its Redis
            with hold_crawl(self._crawl_dir, PATIENCE_SECONDS), from_settings(self._settings) as connection:
                frontier = Frontier(connection.client, ordering("fifo"))
                Replacement(collection, self._catalog, frontier, self._crawl_dir, most).settle()
        except AWAY as error:
            what = "the collection stays larger than %d documents until the next crawl: %s"
            _log.warning(what, most, error)

    def is_behind(self) -> bool:
        return not self._is_settled

    def close(self) -> None:
        self._disconnect()
        if self._collection:
            with suppress(OSError):  # it is read again from the history
                self._collection.store()


class Replacement:
    """Keeps a collection at its size: better pages replace the least important ones.

    Source: SV, "Incremental Crawler" (Cho and Garcia-Molina 2000): the refinement decision.

    Args:
        most: documents; 0: any number, and then nothing is done.
    """

    def __init__(
        self, collection: Collection, catalog: Catalog, frontier: Frontier, crawl_dir: Path, most: int
    ) -> None:
        self._collection, self._catalog, self._frontier = collection, catalog, frontier
        self._crawl_dir, self._most = crawl_dir, most
        self._turns = frontier.turns()
        self._credit = 0.0  # replacements that the fetches so far allow
        self._ranked = -1  # the change that the ranks behind `_candidates` hold
        self._candidates: list[int] = []  # page numbers of what waits, the best last

    def step(self) -> None:
        """Queue replacements ahead of all that waits, or discard what is too much."""
        if not self._most:
            return
        turns = self._frontier.turns()
        self._credit = min(self._credit + SHARE * (turns - self._turns), AT_ONCE)
        self._turns = turns
        if (ranks := self._ranks()) is None:
            return
        if (excess := self._collection.documents - self._most) > 0:
            self._discard(self._least(ranks, min(excess, AT_ONCE)))
        elif excess == 0 and self._credit >= 1:
            self._promote(ranks, self._least(ranks, int(self._credit)))

    def settle(self) -> None:
        """Discard all that is too much."""
        if (ranks := self._ranks()) is None:
            return
        excess = self._collection.documents - self._most
        for least in np.array_split(self._least(ranks, excess), -(-excess // AT_ONCE)):
            self._discard(least)

    def _ranks(self) -> stored.Ranks | None:
        return stored.load(self._crawl_dir / "ranks", self._catalog.identity)

    def _least(self, ranks: stored.Ranks, count: int) -> Places:
        members = np.flatnonzero(self._collection.schedule.weights > 0)
        worth = ranks.of(self._collection.numbers[members])
        return members[np.argsort(worth, kind="stable")[:count]]

    def _promote(self, ranks: stored.Ranks, least: Places) -> None:
        """Queue the best of what waits, each for at least twice the rank of a member that it will replace."""
        if ranks.seq != self._ranked:
            waiting = self._catalog.urls.unexplored()
            self._candidates = waiting[np.argsort(ranks.of(waiting), kind="stable")].tolist()
            self._ranked = ranks.seq
        best = np.array(self._candidates[-len(least) :][::-1], np.int64)
        worth = ranks.of(self._collection.numbers[least[: len(best)]])
        chosen = best[ranks.of(best) >= TIMES * worth]
        if len(chosen):
            del self._candidates[-len(chosen) :]
            urls = self._catalog.urls.of(chosen.tolist())
            promoted = self._frontier.again([Again(urls[number], WAITING) for number in chosen.tolist()])
            self._credit -= promoted

    def _discard(self, places: Places) -> None:
        """Those that are being checked at this moment stay for now."""
        due = self._catalog.checks.due(self._collection.numbers[places].tolist())
        checked = self._frontier.withdraw([one.url for one in due])
        stay = [one.number for one in due if one.url in checked]
        leaving = places[~np.isin(self._collection.numbers[places], stay)]
        with closing(Catalog(self._crawl_dir / "catalog.sqlite")) as catalog:
            catalog.discard(self._collection.numbers[leaving].tolist())
        self._collection.schedule.weights[leaving] = 0
        gone = [Again(one.url, one.was) for one in due if one.url not in checked]
        self._frontier.recount(gone, "done/discarded")
