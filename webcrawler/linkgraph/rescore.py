"""Which URLs that wait should have another priority than they have?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.frontier import Known, Ordering
from webcrawler.linkgraph.estimate import Estimate
from webcrawler.linkgraph.growable import Growing

UNTOLD = -(2**62)
MISSES_MAX = 30


class Rescorer:
    """Remembers what it told the frontier of each page, 9 bytes a page; a new one tells all that wait once.

    What may wait and did not (`missed`: leased, not known there yet, or failed for good, which nobody tells)
    is told again within 2, 4, 8, … askings: it may have come back. So what never does costs little.

    What the frontier changes by itself (`Ordering.on_repeat`) it does not know: such a priority stays until
    the page's own changes here.

    Args:
        least: a priority that changed by less is not told.
    """

    def __init__(self, ordering: Ordering, estimate: Estimate, least: int = 1) -> None:
        self._ordering, self._estimate, self._least = ordering, estimate, least
        self._told = Growing(np.int64)
        self._misses = Growing(np.int8)  # in a row
        self._asked = 0

    def changed(
        self, ids: NDArray[np.int64], waiting: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Page numbers and priorities that differ from what was told last, for `Frontier.rescore`.

        Args:
            ids: the URL id of each page number, shape (pages,).
            waiting: whether it may wait in the frontier, the same shape.
        """
        estimate = self._estimate
        estimate.know(len(ids))
        self._told.extend_to(len(ids), UNTOLD)
        self._misses.extend_to(len(ids), 0)
        self._asked += 1
        numbers = np.flatnonzero(waiting)
        known = Known(ids, estimate.ranks, estimate.backlinks, estimate.yields)
        priorities = self._ordering.priorities(Known(*(column[numbers] for column in known)))
        changed = np.abs(priorities - self._told.values[numbers]) >= self._least
        changed |= self._is_turn(numbers)
        numbers, priorities = numbers[changed], priorities[changed]
        self._told.values[numbers] = priorities
        return numbers, priorities

    def missed(self, numbers: NDArray[np.int64]) -> None:
        """Some of these did not wait when they were told."""
        self._misses.values[numbers] = np.minimum(self._misses.values[numbers] + 1, MISSES_MAX)

    def met(self, numbers: NDArray[np.int64]) -> None:
        """All of these waited."""
        self._misses.values[numbers] = 0

    def _is_turn(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """After m misses in a row every 2^m-th asking, the pages at different ones."""
        every = 1 << self._misses.values[numbers].astype(np.int64)
        return np.asarray((every > 1) & ((numbers + self._asked) % every == 0))
