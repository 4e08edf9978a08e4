"""Virtual crawls: the real frontier and ranker, with links from a recorded graph in place of HTTP.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

import numpy as np
from numpy.typing import NDArray

from webcrawler import urls
from webcrawler.connection import Connection
from webcrawler.evaluation.ahead import Ahead
from webcrawler.evaluation.pace import Pace
from webcrawler.evaluation.recorded import Recorded
from webcrawler.frontier import Done, Frontier, Politeness, Report
from webcrawler.linkgraph import Estimate, Rescorer
from webcrawler.orderings import Ordering, ordering
from webcrawler.records import Lease, Link

NO_DELAY = Politeness(delay=0.0, server_concurrency=10**6, lease=10.0**6)
STEPS = 200  # of a progress bar
GROWTH, GROWTH_LEAST = 0.1, 100  # share and number of pages: so many new ones are a reason to reorder early


class Web:
    """A recorded graph as a web; what crawlers ask of it is computed once."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.graph = recorded.graph
        self.links = [Link(url, urls.url_id(url), url) for url in recorded.urls]
        self.ids = np.array([link.id for link in self.links], np.int64)
        self.page_of = {url: page for page, url in enumerate(recorded.urls)}

    def outlinks(self, page: int) -> list[Link]:
        links, anchors = self.links, self.recorded.anchors
        start, end = self.graph.starts[page : page + 2].tolist()
        targets = self.graph.targets[start:end].tolist()
        if not anchors:
            return [links[target] for target in targets]
        return [links[target]._replace(anchor=anchors[at]) for at, target in enumerate(targets, start)]

    def note(self, page: int, lease: Lease, by: Ordering) -> int:
        """What an ordering notes about a page that it has read."""
        if not by.takes_notes:
            return 0
        label, texts = int(self.recorded.labels[page]), self.recorded.texts
        return by.page_note(texts([label]).get(label) if texts else None, lease)


class Reordering:
    """Does what the ranker does beside a crawl: at intervals, new ranks and new priorities for waiting URLs.

    Args:
        interval: visits between two updates; fewer at the beginning, when every page changes much.
    """

    def __init__(self, web: Web, frontier: Frontier, interval: int) -> None:
        self._web, self._frontier = web, frontier
        self._interval, self._visits, self._next = interval, 0, min(interval, GROWTH_LEAST)
        self._estimate = Estimate()
        self._estimate.know(web.graph.pages)
        self._rescorer = Rescorer(frontier.ordering, self._estimate)

    def visited(self, page: int) -> bool:
        """Take a visit into account. Returns True when it is time to reorder."""
        self._estimate.add(page, self._web.graph.outlinks(page))
        self._visits += 1
        return self._visits >= self._next

    def reorder(self) -> None:
        growth = max(GROWTH_LEAST, round(GROWTH * self._visits))
        self._next = self._visits + min(self._interval, growth)
        self._estimate.update()
        waiting = (self._estimate.backlinks > 0) & ~self._estimate.crawled
        pages, priorities = self._rescorer.changed(self._web.ids, waiting)
        links = [self._web.links[page] for page in pages.tolist()]
        self._frontier.rescore(links, priorities.tolist())


def crawl(
    web: Web,
    mode: str,
    start: int,
    connection: Connection,
    interval: int,
    pages_max: int = 0,
    progress: Callable[[int, int], None] = lambda visits, pages: None,
) -> NDArray[np.int32]:
    """Visit all pages that a start page leads to; returns them in the order of visits.

    One server, one URL at a time, no politeness: the exact order. Empties the Redis first.

    Args:
        interval: visits between two updates of ranks, for orderings that follow them; fewer at the beginning.
        pages_max: visits after which to stop; 0: all pages.
    Raises:
        BadInput: there is no such mode.
    """
    connection.client.flushdb()
    frontier = Frontier(connection.client, ordering(mode), "virtual", NO_DELAY)
    frontier.open(mode)
    frontier.discover([web.links[start]])
    reordering = Reordering(web, frontier, interval) if frontier.ordering.follows_ranks else None
    step, ahead = max(1, web.graph.pages // STEPS), Ahead(frontier)
    order: list[int] = []
    while lease := ahead.lease():
        page = web.page_of[lease.url]
        order.append(page)
        if len(order) % step == 0:
            progress(len(order), web.graph.pages)
        if len(order) == pages_max:
            break
        note = web.note(page, lease, frontier.ordering)
        ahead.visited(Done(lease, "document", True, web.outlinks(page), note=note))
        if reordering and reordering.visited(page):
            ahead.settle()
            reordering.reorder()
    return np.array(order, np.int32)


def paced_crawl(
    web: Web,
    mode: str,
    start: int,
    connection: Connection,
    interval: int,
    pace: Pace,
    pages_max: int = 0,
    progress: Callable[[int, int], None] = lambda visits, pages: None,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Do the same with downloads that take time, politely, by a clock of its own.

    Returns the pages in the order in which their downloads ended, and the seconds at which they did.
    """
    connection.client.flushdb()
    polite = Politeness(delay=pace.delay, slowness=0.0, slow=np.inf, lease=10.0**6)
    frontier = Frontier(connection.client, ordering(mode), "virtual", polite)
    frontier.open(mode)
    frontier.discover([web.links[start]])
    reordering = Reordering(web, frontier, interval) if frontier.ordering.follows_ranks else None
    step, number = max(1, web.graph.pages // STEPS), count()
    order: list[int] = []
    seconds: list[float] = []
    now, under_way = 0.0, list[tuple[float, int, Lease]]()
    while not pages_max or len(order) < pages_max:
        frontier.set_clock(now)
        found = frontier.lease(pace.downloads - len(under_way))
        for lease in found.leases:
            heapq.heappush(under_way, (now + pace.seconds(lease.server), next(number), lease))
        ends = [under_way[0][0]] if under_way else []
        if found.wait is not None and len(under_way) < pace.downloads:
            ends.append(now + max(found.wait, 0.001))
        if not ends:
            break
        now = min(ends)
        frontier.set_clock(now)
        while under_way and under_way[0][0] <= now:
            lease = heapq.heappop(under_way)[-1]
            page = web.page_of[lease.url]
            order.append(page)
            seconds.append(now)
            frontier.fetched([Report(lease, pace.seconds(lease.server))])
            note = web.note(page, lease, frontier.ordering)
            frontier.complete([Done(lease, "document", True, web.outlinks(page), note=note)])
            if reordering and reordering.visited(page):
                reordering.reorder()
            if len(order) % step == 0:
                progress(len(order), web.graph.pages)
    return np.array(order, np.int32), np.array(seconds)
