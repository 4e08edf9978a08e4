"""Which URLs that wait should have another priority than they have?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.frontier import Known, Ordering
from webcrawler.linkgraph.estimate import Estimate, Growable

UNTOLD = -(2**62)
MISSES_MAX = 30


class Rescorer:
    """Finds priorities that changed since the frontier was last told them.

    It remembers what it told, 9 bytes a page; a new one tells every waiting URL once. A URL that did not wait
    when it was told (leased, not queued yet, or failed for good) is told again after 2, 4, 8, … calls of
    `changed`, as it may have come back; so a URL that never does costs little.

    Weakness: it does not know of priorities that the frontier changes by itself (`Ordering.on_repeat`); such
    a priority stays until the page's own changes here.

    Args:
        least: the smallest change of a priority that is told.
    """

    def __init__(self, ordering: Ordering, estimate: Estimate, least: int = 1) -> None:
        self._ordering, self._estimate, self._least = ordering, estimate, least
        self._told = Growable(np.int64)
        self._misses = Growable(np.int8)  # in a row
        self._asked = 0

    def changed(
        self, ids: NDArray[np.int64], waiting: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What to tell `Frontier.rescore`.

        Args:
            ids: the URL id of each page, shape (pages,).
            waiting: may the page wait in the frontier? The same shape.
        Returns:
            Page numbers, and their new priorities.
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
        # After m misses in a row, a page is told in every 2^m-th call; pages take different calls.
        every = 1 << self._misses.values[numbers].astype(np.int64)
        changed |= (every > 1) & ((numbers + self._asked) % every == 0)
        numbers, priorities = numbers[changed], priorities[changed]
        self._told.values[numbers] = priorities
        return numbers, priorities

    def told(self, numbers: NDArray[np.int64], all_waited: bool) -> None:
        """Notes whether these pages waited when the frontier was told their priorities."""
        misses = self._misses.values
        misses[numbers] = 0 if all_waited else np.minimum(misses[numbers] + 1, MISSES_MAX)
