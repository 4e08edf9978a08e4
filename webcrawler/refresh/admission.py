"""Which documents are queued for a check now, and how many: the update decision of an incremental crawler.

Source: SV, "Incremental Crawler" (Cho and Garcia-Molina 2000): the UpdateModule.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from webcrawler.archive.catalog import Catalog, Due
from webcrawler.frontier import Again, Frontier, inspect
from webcrawler.refresh import choosing
from webcrawler.refresh.collection import Collection, now_days

WINDOW = 10_000  # checks queued at a time, at most: some 2 MB of Redis
OF_A_SERVER = 100  # of them, at most, so that no slow server fills the window
LEAST = 20  # checks queued where nothing else waits
AUDIT = 0.05  # of the checks are sent without validators: some servers answer 304 for ever


class Admission:
    """Queues checks through `Frontier.again`, a little ahead of the crawl.

    Args:
        share: of the fetches that go to checks while new URLs wait; 0 to 1.
        pause_s: the least pause between two fetches of a server.
    """

    def __init__(
        self, collection: Collection, catalog: Catalog, frontier: Frontier, share: float, pause_s: float
    ):
        self._collection, self._catalog, self._frontier = collection, catalog, frontier
        self._share, self._pause_s = share, pause_s
        self._asked: set[int] = set()  # places that were queued by this process and have not been fetched yet
        self._last = time.monotonic()
        self._leased = self._turns()

    def step(self) -> None:
        """Take in what was fetched, and queue what is due."""
        collection, what = self._collection, self._frontier.refresh
        self._asked.difference_update(collection.places(collection.follow()).tolist())
        if what.startswith("once "):
            self._once(float(what.partition(" ")[2]))
        elif what:
            self._always(only=what == "only")

    def _once(self, since: float) -> None:
        room = WINDOW - self._frontier.checks()
        if room <= 0:
            return
        left = (self._collection.tried < since) & (self._collection.schedule.weights > 0)
        left[list(self._asked)] = False
        if left.any():
            schedule = self._collection.schedule
            scores = np.where(left, schedule.values(now_days()) + 1e-6, 0)
            caps = np.full(self._servers(), OF_A_SERVER)
            self._queue_places(choosing.choose(scores, room, schedule.servers, caps))
        else:
            self._ask_for_gone()
            self._frontier.refresh = ""

    def _always(self, only: bool) -> None:
        seconds, leased = self._since_last()
        stats, checks = inspect.stats(self._frontier), self._frontier.checks()
        new = 0 if only else stats["queued"] + stats["leased"] - checks
        wanted = self._share * leased if new > 0 else max(2 * leased, LEAST)
        room = min(round(wanted) or 1, WINDOW) - checks
        if room <= 0:
            return
        failed = np.array(self._collection.due_after_failure(time.time())[:room], np.int64)
        self._queue_places(self._collection.places(failed))
        self._ask_for_gone()
        share = self._share if new > 0 else 1.0
        cap = max(1, round(2 * share * seconds / self._pause_s)) if self._pause_s else WINDOW
        schedule = self._collection.schedule
        waiting = np.fromiter(self._asked, np.int64, len(self._asked))
        chosen = schedule.choose(now_days(), room, np.full(self._servers(), cap), waiting)
        self._queue_places(chosen)

    def _queue_places(self, places: Any) -> None:
        self._asked.update(places.tolist())
        self._again(self._collection.numbers[places].tolist())

    def _ask_for_gone(self) -> None:
        self._again(self._catalog.checks.gone(time.time())[:WINDOW], documents=False)

    def _again(self, numbers: list[int], documents: bool = True) -> None:
        due = self._catalog.checks.due(numbers, documents)
        self._frontier.again([Again(one.url, one.was, _request(one)) for one in due])

    def _servers(self) -> int:
        return int(self._collection.schedule.servers.max(initial=-1)) + 1

    def _since_last(self) -> tuple[float, int]:
        """Seconds and leases since the last call."""
        before, self._last = self._last, time.monotonic()
        leased, self._leased = self._leased, self._turns()
        return self._last - before, self._leased - leased

    def _turns(self) -> int:
        prefixes = [partition.prefix for partition in self._frontier.partitions]
        return sum(int(self._frontier.client.hget(prefix + "counts", "turn") or 0) for prefix in prefixes)


def _request(due: Due) -> str:
    """What a check sends so that an unchanged page need not be sent again (RFC 9110, 13.1)."""
    headers: Mapping[str, str] = {}
    if random.random() >= AUDIT:
        if due.etag:
            headers = {"If-None-Match": due.etag}
        elif due.last_modified:
            headers = {"If-Modified-Since": due.last_modified}
    return json.dumps({"headers": headers}) if headers else ""
