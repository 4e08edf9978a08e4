"""When ranks for search are computed anew, and stored."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np

from webcrawler.catalog import Catalog
from webcrawler.ranking.graph import Graph
from webcrawler.ranking.pagerank import DAMPING, pagerank
from webcrawler.ranking.stored import Ranks, load, store

GROWTH = 1.1  # so all the computing of a growing crawl costs what the last one does, times eleven
REST = 20  # and takes at most so small a part of the time
LEAST_SECONDS = 60.0  # between two
_log = logging.getLogger(__name__)


class Storing:
    """Computes over the whole catalog each time, from where the last ranks were."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder, self._identity = catalog, folder, catalog.identity
        self._ranks = load(folder, self._identity)
        self._seq = self._ranks.seq if self._ranks else 0  # the last change that was to be stored
        self._not_before = time.monotonic() + LEAST_SECONDS

    def is_behind(self) -> bool:
        return self._catalog.last_seq() != self._seq  # lower: it was restored from a backup

    def is_due(self) -> bool:
        """Are they old enough to be renewed while a crawl goes on?"""
        if time.monotonic() < self._not_before:
            return False
        return not self._seq <= self._catalog.last_seq() <= self._seq * GROWTH

    def renew(self) -> None:
        """Where the disk is full the old ones stay, until they are due again."""
        began = time.monotonic()
        try:
            pages = self._renew()
            _log.info("stored the ranks of %d URLs, in %.1f s", pages, time.monotonic() - began)
        except OSError as error:
            _log.warning("the ranks cannot be stored: %s", error)
        now = time.monotonic()
        self._not_before = now + max(REST * (now - began), LEAST_SECONDS)

    def _renew(self) -> int:
        self._seq = self._catalog.last_seq()  # asked before the links: what is newer is not missed
        sources, targets = self._catalog.link_arrays()
        pages = self._catalog.pages()
        known = self._ranks.of(np.arange(1, pages + 1)) if self._ranks else None
        values = pagerank(Graph.of(sources - 1, targets - 1, pages), DAMPING, start=known)
        store(self._folder, values, self._seq, self._identity)
        self._ranks = Ranks(values, self._seq, self._identity, DAMPING)
        return pages
