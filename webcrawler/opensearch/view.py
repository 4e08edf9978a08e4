"""The sink as a view of the catalog: a thread of its own, so that no other view waits for the cluster."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.connection import from_settings
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import Frontier, folder_name, ordering
from webcrawler.index import once
from webcrawler.opensearch.bulk import Bulk
from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.homes import Homes
from webcrawler.opensearch.refused import Refused
from webcrawler.opensearch.sink import Sink, known
from webcrawler.opensearch.state import State

PATIENCE_SECONDS = 60.0  # with a cluster that takes nothing, once no crawl is alive
PARTING_SECONDS = 2.0
_log = logging.getLogger(__name__)


class Stopped(Exception):
    """Raised in the thread when it has to end."""


class Sinking:
    """Follows the catalog into the cluster of SINK_URL; what that does not take yet waits."""

    def __init__(self, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
        self._catalog, self._crawl_dir, self._settings = catalog, crawl_dir, settings
        self._crawling, self._stopped = True, threading.Event()
        self._held: tuple[int, ...] = ()  # of the catalog, when all was there
        self._trouble = ""  # why the cluster takes nothing
        self._since = 0.0  # when that began, or the last crawl ended, on the monotonic clock
        once.share()
        self._thread = threading.Thread(target=self._run, name="sink", daemon=True)
        self._thread.start()

    def step(self, crawling: bool) -> bool:
        if crawling != self._crawling:
            self._crawling, self._since = crawling, time.monotonic()
        return False

    def is_behind(self) -> bool:
        if self._held == known(self._catalog, self._crawl_dir):
            return False
        has_lost = self._trouble and time.monotonic() - self._since > PATIENCE_SECONDS
        if has_lost:
            _log.warning("the cluster gets the rest with the next crawl, or by `webcrawler sink rebuild`")
        return not has_lost

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(PARTING_SECONDS)  # a request may hang; a bulk that is cut is written again

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                with ExitStack() as opened:
                    self._follow(self._open(opened))
            except Stopped:
                return
            except WebcrawlerError as error:
                self._tell(str(error))
            except Exception as error:  # a fault of ours must not end the other views
                _log.exception("the sink begins again")
                self._tell(f"{type(error).__name__}: {error}")
            self._stopped.wait(clock.RANKS_RETRY_SECONDS)

    def _open(self, opened: ExitStack) -> Sink:
        cluster = opened.enter_context(closing(Cluster(self._settings["SINK_URL"])))
        catalog = opened.enter_context(closing(Catalog(self._crawl_dir / "catalog.sqlite", readonly=True)))
        frontier = None
        if self._settings.get("REDIS_URL"):  # else the folder has a Redis of its own
            client = opened.enter_context(from_settings(self._settings)).client
            frontier = Frontier(client, ordering("fifo"))
        homes = Homes(State(cluster), folder_name(self._crawl_dir), frontier)
        bulk = Bulk(cluster, Refused(self._crawl_dir), self._pause, self._tell)
        sink = Sink(catalog, self._crawl_dir, cluster, homes, bulk)
        sink.open()
        return sink

    def _follow(self, sink: Sink) -> None:
        while True:
            crawling = self._crawling
            if sink.step() or (self._is_due(sink) and sink.step_round(with_ranks=not crawling)):
                self._tell("")
                self._pause(0.0)
                continue
            if not crawling:
                sink.tidy()
            self._tell("")
            self._held = sink.held()
            self._pause(clock.COMPANION_POLL_SECONDS)

    def _is_due(self, sink: Sink) -> bool:
        return not self._crawling or time.monotonic() >= sink.round_due

    def _pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise Stopped

    def _tell(self, trouble: str) -> None:
        if trouble and not self._trouble:
            self._since = time.monotonic()
            _log.warning("what is new waits for the cluster of SINK_URL: %s", trouble)
        elif self._trouble and not trouble:
            _log.info("the cluster of SINK_URL takes what is new again")
        self._trouble = trouble
