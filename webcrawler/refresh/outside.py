"""Which documents are outside the scope of crawls? No crawl may fetch them, so they are not checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.refresh.choice import Numbers
from webcrawler.scope import Scope, Watched

SOME = 10_000  # URLs in memory at a time

Bounds = tuple[tuple[str, ...], tuple[str, ...]]


class Outside:
    """Holds each document against the scope once, and all of them again when that is another.

    Memory: a byte a document. Cost: some 3 µs a document, nothing where there is no scope.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path) -> None:
        self._catalog, self._scope = catalog, Watched(crawl_dir)
        self._bounds: Bounds = (), ()
        self._known = np.empty(0, bool)

    def of(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Tell it of each of these page numbers: those of the last call, and any that have been added."""
        scope = self._scope.now()
        if (scope.include, scope.exclude) != self._bounds:
            self._bounds, self._known = (scope.include, scope.exclude), np.empty(0, bool)
        if len(new := numbers[len(self._known) :]):
            self._known = np.concatenate((self._known, self._look_at(new, scope)))
        return self._known

    def _look_at(self, numbers: Numbers, scope: Scope) -> NDArray[np.bool_]:
        found = np.zeros(len(numbers), bool)
        for start in range(0, len(numbers) if any(self._bounds) else 0, SOME):
            some = numbers[start : start + SOME].tolist()
            urls = self._catalog.urls.of(some)
            found[start : start + SOME] = [scope.is_outside(urls[number]) for number in some]
        return found
