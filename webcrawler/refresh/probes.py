"""What does a server answer for a page that is not there? Asked once, before its documents are checked."""

from __future__ import annotations

import time

from webcrawler import urls
from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import Again, Frontier

PATIENCE_SECONDS = 60.0  # for which documents of a server wait for its answer


class Probes:
    """Asks each server for a path that cannot exist: what this brings tells a soft 404, which says 200."""

    def __init__(self, catalog: Catalog, frontier: Frontier) -> None:
        self._catalog, self._frontier = catalog, frontier
        self._known: set[int] = set()  # numbers of servers that need not be waited for
        self._asked: dict[int, float] = {}  # and when, of the others

    def waiting(self, servers: set[int]) -> list[int]:
        """Those of these servers, by number, that have not answered yet; asks those that were not asked."""
        names = self._catalog.checks.unprobed(sorted(servers - self._known))
        if new := [number for number in names if number not in self._asked]:
            self._frontier.again([Again(urls.probe(names[number]), "") for number in new])
            self._asked |= dict.fromkeys(new, time.monotonic())
        too_long = time.monotonic() - PATIENCE_SECONDS
        waiting = [number for number in names if self._asked[number] > too_long]
        self._known |= servers.difference(waiting)
        return waiting
