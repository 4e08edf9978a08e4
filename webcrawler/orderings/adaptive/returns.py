"""What following a link came to in the end: its page, and the best that was found beyond it, discounted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from webcrawler.orderings.adaptive.candidates import PARENTS, TOKENS, Candidates, Column


class Returns:
    """The discounted return of each document, and what its link was known by; by the document's number.

    The return of a page is the highest of its own score, gamma times that of a page discovered on it, gamma²
    times that of a page discovered there, and so on.

    Source: Rennie, McCallum 1999, "Using Reinforcement Learning to Spider the Web Efficiently": the value of
    a link is the discounted sum of the rewards to come. Departs from it: the best of them instead of their
    sum, so that a return is on the scale of a page score, and no page earns by the number of its links.

    Args:
        gamma: above 0 and below 1; 0: nothing is kept.
    """

    def __init__(self, gamma: float) -> None:
        self._gamma = gamma
        self._values, self._found_on = Column(), Column(0, np.int32)
        self.server, self.directory = Column(0, np.int32), Column(0, np.int32)
        self.tokens, self.parents = Column(0, np.int32, TOKENS), Column(0, np.int32, PARENTS)
        self.kept = tuple(name for name, part in vars(self).items() if isinstance(part, Column))
        self._columns = [getattr(self, name) for name in self.kept]

    def add(self, page: int, score: float, candidates: Candidates, row: int) -> Iterator[tuple[int, float]]:
        """Adds a document; tells which pages on its path of discovery have a higher return now, by how much.

        Args:
            page: its number, from 1.
            row: that of its URL.
        """
        if not self._gamma:
            return
        for column in self._columns:
            column.reach(page)
        for kept in ("server", "directory", "tokens", "parents"):
            getattr(self, kept).rows[page] = getattr(candidates, kept).rows[row]
        values, found_on = self._values.rows, self._found_on.rows
        values[page], found_on[page] = score, candidates.found_on.rows[row]
        credit, page = self._gamma * score, int(found_on[page])
        while page and credit > values[page]:
            yield page, credit - float(values[page])
            values[page] = credit
            credit, page = self._gamma * credit, int(found_on[page])
