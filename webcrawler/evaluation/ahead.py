"""Leasing several URLs at once in a virtual crawl, in the order in which they would be leased one by one."""

from __future__ import annotations

from collections import deque

from webcrawler.frontier import Done, Frontier
from webcrawler.orderings import PRIORITY_MAX, Source
from webcrawler.records import Lease

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
