"""Days on which many pages changed at once, as by a release, which no page's own rate of changes explains.

A page has stayed unchanged with the chance that its own rate gives times e^(-G), where G is common to all
pages: a gamma process, the sum of what each day adds, which grows in few and large steps (Kalbfleisch 1978,
"Non-parametric Bayesian Analysis of Survival Time Data"). It is learnt from checks, each of which says only
whether one page changed between two days.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.value import Floats

# Changes of a page by bursts, a day, before any is known, and the days for which this counts: one in ten
# years. One in two years finds releases sooner, and loses 2 % of the oracle's freshness where there are none.
EXPECTED = (1 / 3650, 365)


class Bursts:
    """By day since the epoch: the changes that it explains, of how many checks of pages that waited then.

    What a day adds to G is believed to be gamma-distributed, of shape `often` + changes and rate 1 + checks.
    Memory: 32 bytes a day.
    """

    state = ("counts", "news")

    def __init__(self) -> None:
        self.counts = np.zeros((2, 1))
        self.news = np.zeros((2, 1))  # what `learn` adds

    def often(self) -> float:
        """Changes of a page by bursts, a day, on the mean of all days that checks have told of."""
        changes, checks = self.counts[:, self.counts[1] > 0]
        often, days = EXPECTED
        return float((often * days + (changes / (1 + checks)).sum()) / (days + len(checks)))

    def passed(self, since: Floats, until: Floats) -> Floats:
        """-log of the chance that no burst of this time has changed the page.

        It is 0 before the first `learn`: what is expected of pages' own rates holds all changes then.
        """
        by_day = self._lasting(1) * self.counts.any()
        sums, last = np.concatenate(([0.0], np.cumsum(by_day))), len(by_day) - 1

        def until_then(at: Floats) -> Floats:
            day = np.clip(np.asarray(at).astype(np.int64), 0, last)  # the last day stands for all that follow
            return sums[day] + (at - day) * by_day[day]

        return np.asarray(np.maximum(until_then(until) - until_then(since), 0))

    def see(self, since: Floats, until: Floats, chance: Floats, changed: NDArray[np.bool_]) -> None:
        """Take in checks: one step of expectation-maximization, never taken back; `chance` was predicted."""
        first, last = (np.rint(at).astype(np.int64) for at in (since, until))
        days = max(int(last.max(initial=0)) + 2, self.counts.shape[1])  # the last one is never seen
        more = ((0, 0), (0, days - self.counts.shape[1]))
        self.counts, self.news = np.pad(self.counts, more), np.pad(self.news, more)
        found, one = np.where(changed, 1 / np.maximum(chance, 1e-9), 0), np.ones(len(first))
        waited = [
            np.cumsum(np.bincount(first, of, days) - np.bincount(last, of, days)) for of in (found, one)
        ]
        self.news += waited * np.array([self._lasting(1), np.ones(days)])

    def learn(self) -> None:
        """Believe what checks have told since the last call."""
        self.counts, self.news = self.counts + self.news, np.zeros_like(self.news)

    def error(self, shares: Floats, since: Floats, now: float) -> float:
        """Standard deviation, by bursts that nobody saw, of Σ `shares`, which pages are expected to add."""
        day = np.clip(np.rint(since).astype(np.int64), 0, max(int(now), 0))
        exposed = np.cumsum(np.bincount(day, shares, int(now) + 1))[: int(now)]  # by day
        more = np.exp(2 * self._lasting(1) - self._lasting(2)) - 1
        more = np.pad(more, (0, max(0, len(exposed) - len(more))), "edge")[: len(exposed)]
        return float(np.sqrt(exposed**2 @ more * self.counts.any()))

    def _lasting(self, pages: int) -> Floats:
        """By day, -log of the chance that it changed none of so many pages."""
        changes, checks = self.counts
        return np.asarray((self.often() + changes) * np.log1p(pages / (1 + checks)))
