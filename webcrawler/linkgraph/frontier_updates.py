"""A visit to a frontier: telling it what priority the URLs that wait should have by now."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from redis.exceptions import RedisError

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import visit
from webcrawler.errors import Unavailable, WebcrawlerError
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


NEWS = 0.01  # of the pages crawled: enough to look again
NEWS_SECONDS = 5.0  # or so long after the last look, where there are any
REST = 3  # times as long as a look took, before the next
RETRY_SECONDS = 2.0  # Redis is away
IDLE_SECONDS = 20.0  # the ordering follows no ranks, or fails; that of a later crawl may do better
_log = logging.getLogger(__name__)


class Reordering:
    """Connects, and reads the catalog's links, only where the ordering asks for it.

    Whatever goes wrong is a warning, once until something else does: orderings are other people's, what Redis
    says is the mode may be anything, and ranks for search are wanted all the same.
    """

    def __init__(self, catalog: Catalog, settings: Mapping[str, Any], name: str = "index") -> None:
        self._catalog, self._settings, self._name = catalog, settings, name
        self._warned = ""
        self._links: LinkFollower | None = None
        self._visit: Visit | None = None
        self._come_back = 0.0  # to Redis, not before
        self._look_again = self._looked = 0.0
        self._looked_at = 0  # so many pages

    def step(self, go_on: GoOn) -> None:
        """Takes in what is new, and tells the frontier when it is time to, as long as it should go on."""
        if time.monotonic() < self._come_back:
            return
        try:
            self._visit = self._visit or Visit(self._settings, self._name)
            if self._visit.follows_ranks():
                self._links = links = self._links or LinkFollower(self._catalog)
                links.follow()
                if not self._visit.has_told or self._has_news(links):
                    self._look(self._visit, links, go_on)
            else:
                self._stay_away(IDLE_SECONDS)
        except (RedisError, Unavailable) as error:
            self._warn(error)
            self._stay_away(RETRY_SECONDS)
        except Exception as error:  # of an ordering of somebody's own; ranks for search are still stored
            self._warn(error)
            self._stay_away(IDLE_SECONDS)

    def let_go(self) -> None:
        """Of Redis."""
        if self._visit is not None:
            self._visit.end()
            self._visit = None

    def _look(self, visit: Visit, links: LinkFollower, go_on: GoOn) -> None:
        began = time.monotonic()
        links.estimate.update()
        waited = visit.tell(links, go_on)
        self._looked, self._looked_at = time.monotonic(), links.pages
        self._look_again = self._looked + REST * (self._looked - began)
        self._warned = ""
        _log.debug("told of %d URLs after %d pages", waited, links.pages)
        if links.is_worn():
            self._links = None
            self.let_go()

    def _has_news(self, links: LinkFollower) -> bool:
        news, now = links.pages - self._looked_at, time.monotonic()
        if now < self._look_again:
            return False
        return news > NEWS * self._looked_at or (news > 0 and now - self._looked > NEWS_SECONDS)

    def _warn(self, error: Exception) -> None:
        is_known = isinstance(error, RedisError | WebcrawlerError)
        text = str(error) if is_known else f"mode={self._visit.mode if self._visit else '?'}: {error!r}"
        if text != self._warned:
            _log.warning("the frontier cannot be told now: %s", ascii(text[:500])[1:-1])
        self._warned = text

    def _stay_away(self, seconds: float) -> None:
        self.let_go()
        self._come_back = time.monotonic() + seconds
