"""Virtual crawls: the real frontier and ranker, with links from a recorded graph in place of HTTP.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from webcrawler import urls
from webcrawler.connection import Connection
from webcrawler.evaluation.recorded import Recorded
from webcrawler.frontier import Done, Frontier, Politeness
from webcrawler.linkgraph import Estimate, Rescorer
from webcrawler.orderings import PRIORITY_MAX, Ordering, Source, ordering
from webcrawler.records import Lease, Link

AHEAD_MAX = 64  # leases at once: by then a round trip costs little of a page's time
LOWEST = -PRIORITY_MAX - 1


class Ahead:
    """Leases ahead as long as nothing that was found since is to come before what is leased.

    Among equals the oldest comes first, so only a link of higher priority does. Then what is leased goes
    back. Where more than its own first priority moves a URL (servers take turns, links raise what waits,
    an ordering learns), one is leased at a time.
    """

    def __init__(self, frontier: Frontier) -> None:
        by = frontier.ordering
        is_steady = not (by.servers_take_turns or by.on_repeat or by.takes_notes or by.learns)
        self._most = AHEAD_MAX if is_steady else 1
        self._number = 1  # to lease next
        self._frontier = frontier
        self._leased: deque[Lease] = deque()
        self._visited: list[Done] = []  # that the frontier was not told of yet
        self._known: set[int] = set()  # ids of URLs
        self._best = LOWEST  # priority of what was found since the last leases

    def lease(self) -> Lease | None:
        """The next URL to visit; None when there is none."""
        if not self._leased or self._leased[0].priority < self._best:
            self._lease()
        return self._leased.popleft() if self._leased else None

    def _lease(self) -> None:
        if self._leased:  # too many
            self._number = max(1, len(self._visited))
            self._frontier.release(self._leased)
        else:
            self._number = min(2 * self._number, self._most)
        found = self._frontier.complete_and_lease(self._visited, self._number)[1]
        self._leased, self._visited, self._best = deque(found.leases), [], LOWEST

    def visited(self, done: Done) -> None:
        self._visited.append(done)
        if self._most == 1:
            return
        new = [link for link in done.links if link.id not in self._known]
        self._known.update([link.id for link in new])
        if self._leased and new:
            source = Source(done.lease.priority, done.note, len(done.links), done.lease.id)
            first_priority = self._frontier.ordering.first_priority
            self._best = max(self._best, *[first_priority(link, source) for link in new])

    def settle(self) -> None:
        """Tells the frontier what was visited, and gives back what was leased ahead."""
        self._frontier.complete(self._visited)
        self._frontier.release(self._leased)
        self._visited = []
        self._leased.clear()


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
