"""What a virtual crawler holds of a world, and whether it is still so."""

from __future__ import annotations

import numpy as np

from webcrawler.evaluation.freshness.world import ALWAYS_NOW, HONEST, Bools, Floats, Ints, World


class Collection:
    """All pages, fetched at time 0.

    Attributes:
        fresh: by page, whether it is as it was fetched; stale_since: when it was not any more.
    """

    def __init__(self, world: World) -> None:
        self._world, self._at, self.now = world, 0, 0.0
        self.fresh = np.ones(len(world.servers), bool)
        self.stale_since = np.zeros(len(world.servers))
        self._changed = np.full(len(world.servers), -1.0)  # when each page changed last
        self._checked = np.zeros(len(world.servers))

    def advance(self, now: float) -> Floats:
        """Let pages change until then. Returns the share of that time for which each page was current."""
        end = int(np.searchsorted(self._world.times, now))
        times, pages = self._world.times[self._at : end], self._world.pages[self._at : end]
        current = self.fresh.astype(np.float64)
        changed, first = np.unique(pages, return_index=True)
        were_fresh = self.fresh[changed]
        changed, when = changed[were_fresh], times[first[were_fresh]]
        current[changed] = (when - self.now) / (now - self.now)
        self.fresh[changed] = False
        self.stale_since[changed] = when
        self._changed[pages] = times
        self._at, self.now = end, now
        return current

    def fetch(self, pages: Ints) -> Bools:
        """Fetch pages. Returns whether each seems to have changed."""
        servers = self._world.servers[pages]
        changed = ~self.fresh[pages]
        self.fresh[pages] = True
        self._checked[pages] = self.now
        return changed | self._world.noisy[servers]

    def sitemaps(self, servers: Ints) -> tuple[Ints, Bools]:
        """Fetch sitemaps. Returns the pages in them, and whether each is dated after its last check."""
        asked = np.zeros(len(self._world.noisy), bool)
        asked[servers] = True
        pages = np.flatnonzero(asked[self._world.servers])
        kinds = self._world.sitemaps[self._world.servers[pages]]
        newer = self._changed[pages] > self._checked[pages]
        return pages, np.where(kinds == HONEST, newer, kinds == ALWAYS_NOW)
