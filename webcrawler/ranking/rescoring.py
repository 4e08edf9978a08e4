"""Which URLs that wait should have another priority than they have?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.frontier import Known, Ordering
from webcrawler.ranking.estimate import Estimate
from webcrawler.ranking.growing import Growing

UNTOLD = -(2**62)


class Rescorer:
    """Remembers what it told the frontier of each page, 8 bytes a page; a new one tells all that wait once.

    What the frontier changes by itself (`Ordering.on_repeat`) it does not know: such a priority stays until
    the page's own changes here.

    Args:
        least: a priority that changed by less is not told.
    """

    def __init__(self, ordering: Ordering, estimate: Estimate, least: int = 1) -> None:
        self._ordering, self._estimate, self._least = ordering, estimate, least
        self._told = Growing(np.int64)

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
        numbers = np.flatnonzero(waiting)
        known = Known(ids, estimate.ranks, estimate.backlinks, estimate.yields)
        priorities = self._ordering.priorities(Known(*(column[numbers] for column in known)))
        changed = np.abs(priorities - self._told.values[numbers]) >= self._least
        numbers, priorities = numbers[changed], priorities[changed]
        self._told.values[numbers] = priorities
        return numbers, priorities
