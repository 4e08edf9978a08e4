"""An estimate of ranks that follows the catalog: first all its links, then those of pages that changed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.linkgraph.estimate import Estimate
from webcrawler.linkgraph.growable import Growable

NEGLIGIBLE = 10_000  # pages


class LinkFollower:
    """Numbers pages from 0: the catalog's page numbers minus one."""

    def __init__(self, catalog: Catalog) -> None:
        self.estimate = Estimate()
        self.pages = 0  # added; a page that changed counts again
        self._catalog, self._ids = catalog, Growable(np.int64)
        # Read before the links: what changes meanwhile is read again.
        self._seq = self._ripe = catalog.last_seq()
        sources, targets = catalog.links.arrays()
        self._take_in(np.union1d(catalog.changed(0, self._seq), sources), sources, targets)

    def follow(self) -> None:
        """Takes in what had changed by the previous call.

        Later changes wait: the catalog knows a page's links a moment before the frontier does, and a URL
        that is not queued yet cannot be rescored.
        """
        until, self._ripe = self._ripe, self._catalog.last_seq()
        if until > self._seq:
            numbers = self._catalog.changed(self._seq, until)
            self._take_in(numbers, *self._catalog.links.outlinks(numbers.tolist()))
            self._seq = until

    def is_worn(self) -> bool:
        """Is most of what was read out of date? It still takes room, so a new follower is better."""
        return self.pages > 2 * int(np.count_nonzero(self.estimate.crawled)) + NEGLIGIBLE

    def url_ids(self) -> NDArray[np.int64]:
        """Ids of all known pages, by page number."""
        self._ids.append(self._catalog.urls.ids(len(self._ids)))
        return self._ids.values

    def urls(self, numbers: NDArray[np.int64]) -> list[str]:
        found = self._catalog.urls.of((numbers + 1).tolist())
        return [found[number] for number in (numbers + 1).tolist()]

    def _take_in(
        self, numbers: NDArray[np.int64], sources: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> None:
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
