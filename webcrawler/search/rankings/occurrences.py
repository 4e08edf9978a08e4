"""How often a word stands in a field of pages."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches


def normalised(name: str, word: str, b: float, matches: Matches, most: float = np.inf) -> NDArray[np.float64]:
    """Occurrences in a field, at most `most` of them, as if it were of mean length.

    `b` says how far those in a long text count less: 0 not at all, 1 in proportion.
    """
    counts = matches.counts(name, word)
    having, found = np.flatnonzero(counts), np.zeros(len(counts))
    if len(having):
        lengths = matches.lengths(name)[having] / matches.mean_length(name)
        found[having] = np.minimum(counts[having], most) / (1 - b + b * lengths)
    return found
