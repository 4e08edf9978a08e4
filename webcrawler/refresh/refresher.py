"""The refresher, a process: one for each data folder, which has documents checked until no crawl is alive.

It is the UpdateModule of an incremental crawler (SV), beside the ranker, its RankingModule; the crawl is the
CrawlModule, and never waits for it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from webcrawler import metrics, pace
from webcrawler.archive.catalog import Catalog
from webcrawler.background import (
    FOLLOWER,
    REFRESHER,
    hold_crawl,
    is_crawling,
    prepare,
    wait_for,
)
from webcrawler.connection import RedisError, from_settings, visit
from webcrawler.errors import BadInput, Unavailable
from webcrawler.frontier import Frontier, ordering
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.replacement import Replacement
from webcrawler.refresh.schedule import Schedule

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 2.0  # with a lock that others hold for the moment in which they look at it
REST = 4  # times as long as a step took, before the next
HOUR_DAYS = 1 / 24


def schedule_of(settings: Mapping[str, Any]) -> Schedule:
    """An empty schedule by the settings REFRESH_POLICY, REFRESH_AT_LEAST and REFRESH_AT_MOST.

    Raises:
        BadInput: there is no such policy.
    """
    at_least, at_most = float(settings["REFRESH_AT_LEAST"]), float(settings["REFRESH_AT_MOST"])
    return Schedule(settings["REFRESH_POLICY"], at_least, at_most * HOUR_DAYS)


def refresh(
    crawl_dir: Path, settings: Mapping[str, Any], stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Works in this process until no crawl is alive.

    Returns:
        False if another refresher is at work.
    """
    with REFRESHER.at_work(crawl_dir) as may_end:
        if may_end is None:
            return False
        catalog = wait_for(lambda: Catalog(crawl_dir / "catalog.sqlite", readonly=True), crawl_dir, stopped)
        if not catalog:
            return True
        with closing(catalog), metrics.kept(crawl_dir):
            collection = Collection(catalog, crawl_dir, schedule_of(settings))
            while not stopped():
                _serve(collection, catalog, crawl_dir, settings, stopped)
                if collection.is_outdated() and not stopped():
                    collection = Collection(catalog, crawl_dir, schedule_of(settings))
                if not stopped():
                    _settle(collection, catalog, crawl_dir, settings)
                with suppress(OSError):
                    collection.store()
                if may_end(lambda: True):
                    break
    return True


def _serve(
    collection: Collection,
    catalog: Catalog,
    crawl_dir: Path,
    settings: Mapping[str, Any],
    stopped: Callable[[], bool],
) -> None:
    """Queues checks while a crawl is alive; returns also when Redis is away or the collection outdated."""
    try:
        with visit(settings) as connection, closing(connection.new_client()) as client:
            frontier = Frontier(client, ordering("fifo"))
            share, pause_s = float(settings["REFRESH_SHARE"]), float(settings["FRONTIER_DELAY"])
            admission = Admission(collection, catalog, frontier, share, pause_s)
            most = int(settings["COLLECTION_MAX"])
            replacement = Replacement(collection, catalog, frontier, crawl_dir, most)
            while is_crawling(crawl_dir) and not (stopped() or collection.is_outdated()):
                began = time.monotonic()
                with metrics.refresher_step_seconds.time():
                    admission.step()
                    replacement.step()
                time.sleep(max(pace.COMPANION_POLL_SECONDS, REST * (time.monotonic() - began)))
    except (RedisError, Unavailable) as error:
        _log.warning("no checks are queued now: %s", error)
        time.sleep(pace.COMPANION_POLL_SECONDS)


def _settle(collection: Collection, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
    """Bring a collection to its size after a crawl, whose last pages may have come after the last step."""
    most = int(settings["COLLECTION_MAX"])
    if not most or is_crawling(crawl_dir):
        return
    collection.follow()
    if collection.documents <= most:
        return
    try:  # the crawl may have been the last user of its Redis
        with hold_crawl(crawl_dir, PATIENCE_SECONDS), from_settings(settings) as connection:
            frontier = Frontier(connection.client, ordering("fifo"))
            Replacement(collection, catalog, frontier, crawl_dir, most).settle()
            if (crawl_dir / "index").exists():
                FOLLOWER.ensure_started(crawl_dir)  # that of the crawl may have ended with it
    except (RedisError, Unavailable, BadInput) as error:
        _log.warning("the collection stays larger than %d documents until the next crawl: %s", most, error)


def main(arguments: list[str]) -> int:
    """python -m webcrawler.refresh.refresher CRAWL_DIR; settings on stdin (`refresher.serialized`)."""
    stopped = prepare("refresher")
    crawl_dir = Path(arguments[0])
    settings = json.loads((not sys.stdin.isatty() and sys.stdin.read()) or "{}")
    if not refresh(crawl_dir, {**settings, "CRAWL_DIR": str(crawl_dir)}, stopped):
        _log.info("another refresher is at work")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
