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
from typing import Any

from redis.exceptions import RedisClusterException

from webcrawler import metrics, pace
from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.connection import RedisError, from_settings, visit
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import Frontier, ordering
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.replacement import Replacement
from webcrawler.refresh.schedule import Schedule

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 2.0  # with a lock that others hold for the moment in which they look at it
REST = 4  # times as long as a step took, before the next
HOUR_DAYS = 1 / 24
AWAY = (RedisError, RedisClusterException, WebcrawlerError)


def schedule_of(settings: Mapping[str, Any]) -> Schedule:
    """An empty schedule by the settings REFRESH_POLICY, REFRESH_AT_LEAST and REFRESH_AT_MOST.

    Raises:
        BadInput: there is no such policy.
    """
    at_least, at_most = float(settings["REFRESH_AT_LEAST"]), float(settings["REFRESH_AT_MOST"])
    return Schedule(settings["REFRESH_POLICY"], at_least, at_most * HOUR_DAYS)


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
        self._warned = ""
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
            self._warned = ""
        except AWAY as error:
            self._disconnect()
            self._not_before = began + pace.RANKS_RETRY_SECONDS
            self._warn("no checks are queued now: %s", error)
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

    def _warn(self, what: str, error: Exception) -> None:
        if str(error) != self._warned:
            _log.warning(what, error)
        self._warned = str(error)

    def is_behind(self) -> bool:
        return not self._is_settled

    def close(self) -> None:
        self._disconnect()
        if self._collection:
            with suppress(OSError):  # it is read again from the history
                self._collection.store()
