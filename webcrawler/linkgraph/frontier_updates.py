"""Sends updated priorities to a frontier whose ordering follows ranks, and stores ranks for search."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from redis.exceptions import RedisError

from webcrawler import clock, metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import is_crawling
from webcrawler.connection import visit
from webcrawler.errors import Unavailable, WebcrawlerError
from webcrawler.frontier import Frontier, ordering
from webcrawler.linkgraph.estimate import Estimate, Growable, Rescorer
from webcrawler.linkgraph.graph import IntArray, distinct
from webcrawler.linkgraph.stored import RankRenewal, run_of
from webcrawler.records import Link

# URLs a call. 50 hold Redis for half a millisecond; for ten if it has just forked to rewrite its log, because
# each page of memory that a call writes to is copied then.
CHUNK = 50
PAUSE_SECONDS = 0.001  # after a call, at least, so that workers get in between
SLICE = 20_000  # URLs: told in the order of discovery, as neighbours are often on the same server
LEAST_CHANGE = 256  # of a priority: 1 or 2 % of a rank; less is not worth a call

NEWS = 0.01  # of the pages crawled: enough to look again
REST = 3  # times as long as a look took, before the next
NEGLIGIBLE = 10_000  # pages that may be out of date

GoOn = Callable[[], bool]
_log = logging.getLogger(__name__)


class LinkFollower:
    """An estimate of ranks that follows the catalog: first all its links, then those of pages that changed.

    Pages are numbered from 0: the catalog's page numbers minus one.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.estimate = Estimate()
        self.pages = 0  # added; a page that changed counts again
        self._catalog, self._ids = catalog, Growable(np.int64)
        # Read before the links: what changes meanwhile is read again.
        self._seq = self._next_seq = catalog.last_seq()
        linking = [np.zeros(0, np.int64)]
        for sources, targets in catalog.links.arrays():
            linking.append(distinct(sources))
            self._take_in(linking[-1], sources, targets)
            self.estimate.take_in()
        rest = np.setdiff1d(catalog.changed(0, self._seq), np.concatenate(linking))
        self._take_in(rest, rest[:0], rest[:0])

    def follow(self) -> None:
        """Takes in what had changed by the previous call.

        Later changes wait: the catalog knows a page's links a moment before the frontier does, and a URL
        that is not queued yet cannot be rescored.
        """
        until, self._next_seq = self._next_seq, self._catalog.last_seq()
        if until > self._seq:
            numbers = self._catalog.changed(self._seq, until)
            self._take_in(numbers, *self._catalog.links.outlinks(numbers.tolist()))
            self._seq = until

    def is_outdated(self) -> bool:
        """Is most of what was read out of date? It still takes memory, so a new follower is better."""
        return self.pages > 2 * int(np.count_nonzero(self.estimate.crawled)) + NEGLIGIBLE

    def url_ids(self) -> IntArray:
        """Ids of all known pages, by page number."""
        self._ids.append(self._catalog.urls.ids(len(self._ids)))
        return self._ids.values

    def urls(self, numbers: IntArray) -> list[str]:
        found = self._catalog.urls.of((numbers + 1).tolist())
        return [found[number] for number in (numbers + 1).tolist()]

    def _take_in(self, numbers: IntArray, sources: IntArray, targets: IntArray) -> None:
        """Adds the outlinks of some pages.

        Args:
            numbers: the pages, ascending; those that are in no link link to nothing.
            sources, targets: their links, by ascending source.
        """
        starts = np.searchsorted(sources, numbers, side="left")
        ends = np.searchsorted(sources, numbers, side="right")
        pages = (targets - 1).astype(np.int32)
        for page, start, end in zip((numbers - 1).tolist(), starts.tolist(), ends.tolist(), strict=True):
            self.estimate.add(page, pages[start:end])
        self.pages += len(numbers)


class Visit:
    """A connection to a frontier, not counted as a worker, and the priorities that were sent through it.

    Args:
        settings: how to reach Redis, as for `connection.visit`; FRONTIER_MODE is the crawl's own mode. The
            mode in Redis may come from anybody, so it may name a module only if it is that very text.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        with visit(settings) as connection:
            self.client = connection.new_client()  # its own, as new connections are counted
        self._own_mode = settings.get("FRONTIER_MODE", "")
        self._frontier = Frontier(self.client, ordering("fifo"))
        self.mode = ""
        self._rescorer: Rescorer | None = None
        self._connections = 0  # made before it was told anything

    def follows_ranks(self) -> bool:
        """Does the frontier's mode follow ranks? It may be another one than a moment ago.

        Raises:
            BadInput: there is no such mode.
        """
        mode = self._frontier.stored_mode()
        if mode != self.mode:
            self._frontier.order_by(ordering(mode, by_path=mode == self._own_mode))
            self.mode, self._rescorer = mode, None
        return bool(mode) and self._frontier.ordering.follows_ranks

    @property
    def has_told(self) -> bool:
        """Does the frontier have all priorities told so far? A Redis that restarted may have lost them."""
        return self._rescorer is not None and self._frontier.connections == self._connections

    def tell(self, links: LinkFollower, go_on: GoOn) -> int:
        """Tells the priorities that differ from those told before, the best first.

        Args:
            go_on: False ends it early; then the next call tells everything again.
        Returns:
            How many URLs waited.
        """
        if self._rescorer is None or not self.has_told:
            self._rescorer = Rescorer(self._frontier.ordering, links.estimate, LEAST_CHANGE)
            self._connections = self._frontier.connections
        ids = links.url_ids()
        links.estimate.know(len(ids))
        numbers, priorities = self._rescorer.changed(ids, ~links.estimate.crawled)
        slices = np.empty(len(priorities), np.int64)
        slices[np.argsort(-priorities)] = np.arange(len(priorities)) // SLICE
        order = np.argsort(slices, kind="stable")
        waited = 0
        for start in range(0, len(numbers), CHUNK):
            if not go_on():
                self._rescorer = None
                break
            some = order[start : start + CHUNK]
            waiting = [Link(url, 0, url) for url in links.urls(numbers[some])]  # rescoring needs no ids
            began = time.monotonic()
            found = self._frontier.rescore(waiting, priorities[some].tolist())
            time.sleep(max(PAUSE_SECONDS, time.monotonic() - began))
            self._rescorer.told(numbers[some], all_waited=found == len(some))
            waited += found
        return waited


class FrontierUpdates:
    """Keeps the priorities of a frontier up to date; reads links only if its ordering needs ranks.

    An error is logged as a warning, once until a different one follows: orderings are users' code, the mode
    in Redis may be anything, and ranks for search have to be stored nevertheless.
    """

    def __init__(self, catalog: Catalog, settings: Mapping[str, Any]) -> None:
        self._catalog, self._settings = catalog, settings
        self._warned = ""
        self._links: LinkFollower | None = None
        self._visit: Visit | None = None
        self._not_before = 0.0  # until then Redis is left alone
        self._look_again = self._looked = 0.0
        self._looked_at = 0  # pages

    def step(self, go_on: GoOn) -> None:
        """Takes in new links, and tells the frontier if it is time to."""
        if time.monotonic() < self._not_before:
            return
        try:
            self._visit = self._visit or Visit(self._settings)
            if not self._visit.follows_ranks():
                self._stay_away(clock.RANKS_IDLE_SECONDS)
                return
            self._links = links = self._links or LinkFollower(self._catalog)
            links.follow()
            if not self._visit.has_told or self._has_news(links):
                self._look(self._visit, links, go_on)
        except Exception as error:  # also of a user's ordering
            self._warn(error)
            is_away = isinstance(error, RedisError | Unavailable)
            self._stay_away(clock.RANKS_RETRY_SECONDS if is_away else clock.RANKS_IDLE_SECONDS)

    def disconnect(self) -> None:
        if self._visit is not None:
            self._visit.client.close()
            self._visit = None

    def _look(self, visit: Visit, links: LinkFollower, go_on: GoOn) -> None:
        began = time.monotonic()
        links.estimate.update()
        waited = visit.tell(links, go_on)
        self._looked, self._looked_at = time.monotonic(), links.pages
        self._look_again = self._looked + REST * (self._looked - began)
        metrics.ranker_round_seconds.observe(self._looked - began)
        metrics.ranker_rescored.inc(waited)
        self._warned = ""
        _log.debug("sent priorities of %d URLs after %d pages", waited, links.pages)
        if links.is_outdated():
            self._links = None
            self.disconnect()

    def _has_news(self, links: LinkFollower) -> bool:
        news, now = links.pages - self._looked_at, time.monotonic()
        is_late = now - self._looked > clock.RANKS_NEWS_SECONDS
        is_news = news > NEWS * self._looked_at or (news > 0 and is_late)
        return is_news and now >= self._look_again

    def _warn(self, error: Exception) -> None:
        is_known = isinstance(error, RedisError | WebcrawlerError)
        text = str(error) if is_known else f"mode={self._visit.mode if self._visit else '?'}: {error!r}"
        if text != self._warned:
            _log.warning("cannot send new priorities to the frontier now: %s", ascii(text[:500])[1:-1])
        self._warned = text

    def _stay_away(self, seconds: float) -> None:
        self.disconnect()
        self._not_before = time.monotonic() + seconds


class Ranking:
    """The ranks of a data folder, as one of its views: for the frontier, and for search.

    Ranks that the jobs over all folders made are left alone, as long as DATASET_URL is set.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
        self._crawl_dir, self._is_of_fleet = crawl_dir, bool(settings.get("DATASET_URL"))
        self._updates = FrontierUpdates(catalog, settings)
        self._ranks = RankRenewal(catalog, crawl_dir / "ranks")

    def step(self, crawling: bool) -> bool:
        if crawling:
            self._updates.step(lambda: is_crawling(self._crawl_dir))
        else:
            self._updates.disconnect()
        return not self._are_of_all() and self._ranks.step(crawling)

    def is_behind(self) -> bool:
        return not self._are_of_all() and self._ranks.is_behind()

    def _are_of_all(self) -> bool:
        return self._is_of_fleet and run_of(self._crawl_dir / "ranks") > 0

    def close(self) -> None:
        self._updates.disconnect()
