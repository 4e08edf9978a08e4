"""When ranks for search are computed anew, and stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from webcrawler.archive.catalog import Catalog
from webcrawler.background import Renewal
from webcrawler.linkgraph.graph import Graph
from webcrawler.linkgraph.pagerank import DAMPING, pagerank
from webcrawler.linkgraph.stored import Ranks, load, store

GROWTH = 1.1


class Storing(Renewal):
    """Computes over the whole catalog each time, from where the last ranks were."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder, self._identity = catalog, folder, catalog.identity
        self._ranks = load(folder, self._identity)
        super().__init__(catalog.last_seq, self._ranks.seq if self._ranks else 0, GROWTH)

    def make(self, seq: int) -> str:
        sources, targets = self._catalog.links.arrays()
        pages = self._catalog.urls.count()
        known = self._ranks.of(np.arange(1, pages + 1)) if self._ranks else None
        values = pagerank(Graph.of(sources - 1, targets - 1, pages), DAMPING, start=known)
        store(self._folder, values, seq, self._identity)
        self._ranks = Ranks(values, seq, self._identity, DAMPING)
        return f"the ranks of {pages} URLs"
