"""How much of the collection is current, and how right were such estimates?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.value import Floats

BINS = 10
DOUBT = 100  # checks in each bin that count as if they had turned out as predicted
NORMAL_90 = 1.645  # standard deviations on each side that hold 90 % of a normal distribution


class Current(NamedTuple):
    """The share of the importance that is current, with an interval that holds the truth in 9 cases of 10."""

    share: float
    low: float
    high: float


def current(weights: Floats, changed: Floats, error: float = 0.0) -> Current:
    """Σ w · P(unchanged) / Σ w.

    Args:
        changed: the probability that each page has changed.
        error: by how much such probabilities were wrong on average (`Calibration.bias`); independent pages
            even out, this does not.
    """
    total = weights.sum(dtype=np.float64)
    if not total:
        return Current(1.0, 0.0, 1.0)
    share = 1 - float(weights @ changed / total)
    spread = float((weights.astype(np.float64) ** 2) @ (changed * (1 - changed))) / total**2
    half = NORMAL_90 * (spread + error**2) ** 0.5
    return Current(share, max(0.0, share - half), min(1.0, share + half))


class Calibration:
    """Had 3 pages of 10 changed where a chance of 30 % was predicted? Ten bins of predicted chances."""

    state = ("counts", "lately")

    def __init__(self) -> None:
        self.counts = np.zeros((BINS, 3))  # checks, sum of predicted chances, changed
        self.lately = np.zeros((BINS, 3))  # the same, the more faded the longer ago

    def see(self, predicted: Floats, changed: NDArray[np.bool_], pages: int) -> None:
        """Take in checks; with as many as there are pages, what was lately seen fades to a third."""
        bins = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
        self.lately *= np.exp(-len(bins) / pages)
        for counts in (self.counts, self.lately):
            np.add.at(counts, bins, np.stack((np.ones(len(bins)), predicted, changed), axis=1))

    def corrected(self, predicted: Floats) -> Floats:
        """Such chances as they turned out: of each bin the share seen, and straight lines between bins.

        By what was lately seen: the first predictions were made when nothing was known yet.
        """
        checks, chances, changed = self.lately.T
        middle = (np.arange(BINS) + 0.5) / BINS
        means = (chances + DOUBT * middle) / (checks + DOUBT)
        seen = (changed + DOUBT * middle) / (checks + DOUBT)
        found: Floats = np.interp(predicted, [0, *means, 1], [0, *seen, 1])
        return found

    def error(self) -> float:
        """The mean distance between predicted and seen; 0 before the first check."""
        checks, predicted, changed = self.counts.T
        return float(np.abs(predicted - changed).sum() / max(checks.sum(), 1))

    def bias(self) -> float:
        """Predicted minus seen, over all checks."""
        checks, predicted, changed = self.counts.T
        return float((predicted - changed).sum() / max(checks.sum(), 1))
