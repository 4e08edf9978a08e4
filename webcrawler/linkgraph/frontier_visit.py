"""A visit to a frontier: telling it what priority the URLs that wait should have by now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.connection import visit
from webcrawler.frontier import Frontier, ordering
from webcrawler.linkgraph.link_follower import LinkFollower
from webcrawler.linkgraph.rescore import Rescorer
from webcrawler.records import Link

# URLs: holds Redis for half a millisecond; for ten where it has just forked to rewrite its log, as each page
# of memory that a call writes to is copied then.
CHUNK = 50
PAUSE_SECONDS = 0.001  # after a chunk, at least; workers get in between
SLICE = 20_000  # URLs: told in the order of discovery, as neighbours are often on the same server
LEAST_CHANGE = 256  # of a priority: 1 or 2 % of a rank, which is worth no call

GoOn = Callable[[], bool]


class Visit:
    """One connection, and what the frontier was told through it. A visitor is no worker.

    Args:
        settings: how to reach Redis, as for `connection.visit`; FRONTIER_MODE is the crawl's own mode. What
            Redis says is the mode may come from anybody: it names no module, unless it is that very text.
    """

    def __init__(self, settings: Mapping[str, Any], name: str) -> None:
        with visit(settings) as connection:
            self._client = connection.new_client()  # whose lines are counted, all of them
        self._own_mode = settings.get("FRONTIER_MODE", "")
        self._frontier = Frontier(self._client, ordering("fifo"), name)
        self.mode = ""
        self._rescorer: Rescorer | None = None
        self._lines = 0  # that were opened before it was told anything

    def end(self) -> None:
        self._client.close()

    def follows_ranks(self) -> bool:
        """Does the mode, which may be another than a moment ago?

        Raises:
            BadInput: there is none of that name.
        """
        mode = self._frontier.stored_mode()
        if mode != self.mode:
            self._frontier.order_by(ordering(mode, by_path=mode == self._own_mode))
            self.mode, self._rescorer = mode, None
        return bool(mode) and self._frontier.ordering.follows_ranks

    @property
    def has_told(self) -> bool:
        """Does the frontier know all that there was to say? A Redis that was away may have lost it."""
        return self._rescorer is not None and self._frontier.connections == self._lines

    def tell(self, links: LinkFollower, go_on: GoOn) -> int:
        """Priorities that are other than those told before, the best slice first.

        Returns how many URLs waited. Ends early, and will tell all anew, when it should not go on.
        """
        if self._rescorer is None or not self.has_told:
            self._rescorer = Rescorer(self._frontier.ordering, links.estimate, LEAST_CHANGE)
            self._lines = self._frontier.connections
        ids = links.url_ids()
        links.estimate.know(len(ids))
        numbers, priorities = self._rescorer.changed(ids, ~links.estimate.crawled)
        order = _best_slice_first(priorities)
        waited = 0
        for start in range(0, len(numbers), CHUNK):
            if not go_on():
                self._rescorer = None
                break
            some = order[start : start + CHUNK]
            found = self._rescore(links.urls(numbers[some]), priorities[some])
            (self._rescorer.met if found == len(some) else self._rescorer.missed)(numbers[some])
            waited += found
        return waited

    def _rescore(self, urls: list[str], priorities: NDArray[np.int64]) -> int:
        links = [Link(url, 0, url) for url in urls]  # their ids are not asked for
        began = time.monotonic()
        waited = self._frontier.rescore(links, priorities.tolist())
        time.sleep(max(PAUSE_SECONDS, time.monotonic() - began))
        return waited


def _best_slice_first(priorities: NDArray[np.int64]) -> NDArray[np.int64]:
    slices = np.empty(len(priorities), np.int64)
    slices[np.argsort(-priorities)] = np.arange(len(priorities)) // SLICE
    return np.argsort(slices, kind="stable")
