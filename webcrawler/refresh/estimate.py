"""How much of the collection is current, how right were such estimates, and what would more cost?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.value import Floats, expected_freshness, expected_value

BINS = 10
DOUBT = 100  # checks in each bin that count as if they had turned out as predicted
NORMAL_90 = 1.645  # standard deviations on each side that hold 90 % of a normal distribution
SAMPLE = 5_000  # pages, for the curve of costs
PRICES = 80  # points of that curve
LONGEST = 1e5  # days between two fetches
HALVINGS = 40  # of an interval, to find when a fetch is worth its price


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

    def table(self) -> list[tuple[int, float, float]]:
        """Of each bin that has checks: how many, the mean chance predicted, the share that had changed."""
        return [
            (int(checks), float(predicted / checks), float(changed / checks))
            for checks, predicted, changed in self.counts
            if checks
        ]

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


def costs(a: Floats, b: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Numbers of fetches a page and day, and what share of the importance each would keep current; ascending.

    At each price of a fetch, a page is fetched as often as that is worth it by the belief (see `Gamma.of`).
    It is computed for 5,000 pages; one whose fetch is never worth the price counts as not current.
    """
    step = max(1, len(a) // SAMPLE)
    a, b, weights = (array[::step].astype(np.float64) for array in (a, b, weights))
    prices = np.geomspace(1e4, 1e-3, PRICES) * weights.mean()
    rates, shares = np.empty(PRICES), np.empty(PRICES)
    for at, price in enumerate(prices):
        days = _worth_it(a, b, price / weights)
        rates[at] = (1 / days).mean()
        fresh = np.where(np.isfinite(days), expected_freshness(a, b, np.minimum(days, LONGEST)), 0)
        shares[at] = weights @ fresh / weights.sum()
    return rates, shares


def _worth_it(a: Floats, b: Floats, price: Floats) -> Floats:
    """After how many days a fetch has this value; infinity for never."""
    low, high = np.full(len(a), np.log(1e-3)), np.full(len(a), np.log(LONGEST))
    never = expected_value(a, b, np.exp(high)) < price
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = expected_value(a, b, np.exp(middle)) >= price
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(never, np.inf, np.exp(high))
