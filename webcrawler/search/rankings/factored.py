"""A ranking to which something is added that needs to know what comes first without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Factor, Matches, Part, Ranking
from webcrawler.text.query import QueryTerm

Floats = NDArray[np.float64]
Factors = Callable[[Sequence[QueryTerm], Matches, Floats], list[Factor]]  # from the scores of `first`


class Factored:
    """Ranks, and adds to each score what the factors are worth."""

    def __init__(self, first: Ranking, factors: Factors) -> None:
        self._first, self._factors = first, factors
        self._last: tuple[object, object, list[Factor]] | None = None  # ranked last: explained afterwards

    def scores(self, terms: Sequence[QueryTerm], matches: Matches) -> Floats:
        scores = self._first.scores(terms, matches)
        self._last = terms, matches, self._factors(terms, matches, scores)
        for factor in self._last[2]:
            scores = scores + factor.worth
        return scores

    def explain(self, terms: Sequence[QueryTerm], matches: Matches, place: int) -> list[Part]:
        """Return the rows of the first ranking, and one a factor."""
        if self._last is None or self._last[0] is not terms or self._last[1] is not matches:
            self.scores(terms, matches)
        assert self._last is not None
        rows = self._first.explain(terms, matches, place)
        added = ((what, detail, float(worth[place])) for what, detail, worth in self._last[2])
        return [*rows, *(Part(*one) for one in added if one[-1])]
