"""When a frontier whose ordering follows ranks is told of new ones."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from redis.exceptions import RedisError

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import Unavailable, WebcrawlerError
from webcrawler.linkgraph.frontier_visit import GoOn, Visit
from webcrawler.linkgraph.link_follower import LinkFollower

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
