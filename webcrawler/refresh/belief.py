"""What is believed of how often each page changes, and how a check changes that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from webcrawler.refresh import priors
from webcrawler.refresh.choice import Numbers
from webcrawler.refresh.value import Floats, after_change, age_by_odds, chance_of_change, expected_value

INTERVAL = (0.05, 0.5, 0.95)  # quantiles that `intervals` gives


class Beliefs(ABC):
    """Arrays over pages, numbered from 0 in the order in which they were added.

    Each subclass is a policy: `see` takes checks in, `chance` and `value` say what follows. They are named in
    `schedule.POLICIES`.
    """

    state: ClassVar[tuple[str, ...]] = ("servers",)  # names of the arrays that are kept over restarts

    def __init__(self) -> None:
        self.servers = np.empty(0, np.int32)

    def add(self, servers: Numbers) -> None:
        """Know more pages, of which nothing is known but the number of their server. Cost: O(all pages)."""
        self.servers = np.concatenate((self.servers, servers.astype(np.int32)))

    @abstractmethod
    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_]) -> None:
        """Take in checks, at most one of each page; `days` have passed since the check before."""

    @abstractmethod
    def chance(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        """Probability that the page has changed after this time.

        Args:
            odds: what a sign multiplies the odds of a change with. Only `Gamma` heeds signs.
        """

    @abstractmethod
    def value(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        """The value of a fetch after this time, in days of freshness; `odds` as for `chance`."""

    def learn(self) -> None:  # noqa: B027  most policies have nothing to learn
        """Learn from all pages what to expect of each. Cost: O(pages), a tenth of a second for a million."""


class Gamma(Beliefs):
    """A gamma distribution for each page: what its server's pages are like, and what its own checks add.

    An unchanged check after τ days adds τ to b, which is exact; a change: `value.after_change`. Memory:
    8 bytes a page.
    """

    state = ("servers", "added_a", "added_b", "prior_a", "prior_b")

    def __init__(self) -> None:
        super().__init__()
        self.added_a, self.added_b = np.empty(0, np.float32), np.empty(0, np.float32)
        self.prior_a: Floats = np.empty(0)  # by server
        self.prior_b: Floats = np.empty(0)

    def add(self, servers: Numbers) -> None:
        super().add(servers)
        nothing = np.zeros(len(servers), np.float32)
        self.added_a = np.concatenate((self.added_a, nothing))
        self.added_b = np.concatenate((self.added_b, nothing))
        if new := max(0, int(servers.max(initial=-1)) + 1 - len(self.prior_a)):
            a, b = self._whole()
            self.prior_a = np.concatenate((self.prior_a, np.full(new, a)))
            self.prior_b = np.concatenate((self.prior_b, np.full(new, b)))

    def of(self, pages: Numbers | slice) -> tuple[Floats, Floats]:
        """Shape and rate (days) of what is believed of these pages."""
        servers = self.servers[pages]
        return self.prior_a[servers] + self.added_a[pages], self.prior_b[servers] + self.added_b[pages]

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_]) -> None:
        self.added_b[pages[~changed]] += days[~changed]
        a, b = self.of(pages[changed])
        after_a, after_b = after_change(a, b, days[changed])
        self.added_a[pages[changed]] += np.maximum(after_a - a, 0)
        self.added_b[pages[changed]] += np.maximum(after_b - b, 0)

    def chance(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return chance_of_change(*self._aged(pages, days, odds))

    def value(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return expected_value(*self._aged(pages, days, odds))

    def _aged(
        self, pages: Numbers | slice, days: Floats, odds: Floats | None
    ) -> tuple[Floats, Floats, Floats]:
        """A sign acts as time: the page is as old as makes it as likely to have changed as the sign does."""
        a, b = self.of(pages)
        return a, b, days if odds is None else age_by_odds(a, b, days, odds)

    def intervals(self, pages: Numbers) -> NDArray[np.float64]:
        """Days between two changes of a page: least, middle, most with a chance of 90 %; shape (3, pages)."""
        a, b = self.of(pages)
        return np.array([b / np.maximum(gammaincinv(a, 1 - part), 1e-300) for part in INTERVAL])

    def learn(self) -> None:
        known = np.flatnonzero((self.added_a > 0) | (self.added_b > 0))
        self.prior_a, self.prior_b = priors.fit(*self.of(known), self.servers[known], len(self.prior_a))

    def _whole(self) -> tuple[float, float]:
        """What is expected of a server that has no page yet."""
        if not len(self.prior_a):
            return priors.START
        return float(np.median(self.prior_a)), float(np.median(self.prior_b))
