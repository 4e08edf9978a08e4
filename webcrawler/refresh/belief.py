"""What is believed of how often each page changes, and how a check changes that.

`Gamma` is the default; EP and EB are the estimators of Cho and Garcia-Molina 2000 (named by the survey of
crawlers), for comparison. What is expected of a page that was never checked is learnt by server: with one
prior for all, the reported freshness is wrong by twice as much.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaincinv, polygamma

from webcrawler.refresh.value import Floats, Numbers, Pages, after_change, expected_value, value_at_rate

INTERVAL = (0.05, 0.5, 0.95)  # quantiles that `intervals` gives
LOG_MAX = 60.0  # of 1 + age / b: no sign makes a page older than e^60 times what is known of it
START = (0.5, 30.0)  # shape, rate in days: before anything is known, half of the pages change within 90 days
# Pages: how much the whole counts beside a server's own. 20 is as good on synthetic worlds, and loses 0.8 %
# of the oracle's freshness on recorded traces with few fetches (`webcrawler evaluate --freshness`).
WEIGHT = 3
SHAPES = (0.05, 20.0)  # least and greatest
SMOOTHING = (0.5, 20.0)  # changes, days
CLASSES = (1.0, 7.0, 30.0, 120.0, 365.0)  # days between two changes


class Beliefs(ABC):
    """Arrays over pages, numbered from 0 in the order in which they were added.

    Each subclass is a policy: `see` takes checks in, `chance` and `value` say what follows. They are named in
    `POLICIES`. Only `Gamma` heeds signs, which multiply the odds of a change with `odds`, and bursts: what
    `Bursts.passed` says of this time, and `Bursts.often`.
    """

    state: ClassVar[tuple[str, ...]] = ("servers",)  # names of the arrays that are kept over restarts

    def __init__(self) -> None:
        self.servers = np.empty(0, np.int32)

    def add(self, servers: Numbers) -> None:
        """Know more pages, of which nothing is known but the number of their server. Cost: O(all pages)."""
        self.servers = np.concatenate((self.servers, servers.astype(np.int32)))

    @abstractmethod
    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_], bursts: Floats) -> None:
        """Take in checks, at most one of each page; `days` have passed since the check before."""

    @abstractmethod
    def chance(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats) -> Floats:
        """Probability that the page has changed after this time."""

    @abstractmethod
    def value(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats, often: float) -> Floats:
        """The value of a fetch after this time, in days of freshness."""

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

    def of(self, pages: Pages) -> tuple[Floats, Floats]:
        """Shape and rate (days) of what is believed of these pages."""
        servers = self.servers[pages]
        return self.prior_a[servers] + self.added_a[pages], self.prior_b[servers] + self.added_b[pages]

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_], bursts: Floats) -> None:
        self.added_b[pages[~changed]] += days[~changed]
        a, b = self.of(pages[changed])
        after_a, after_b = after_change(a, b, days[changed], bursts[changed])
        wider = np.maximum(b / after_b, 1)  # what may have been a burst is no reason to forget
        self.added_a[pages[changed]] += np.maximum(after_a * wider - a, 0)
        self.added_b[pages[changed]] += np.maximum(after_b * wider - b, 0)

    def chance(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats) -> Floats:
        return -np.expm1(-self._lasting(pages, days, odds) - bursts)

    def value(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats, often: float) -> Floats:
        """Signs and bursts act as time: the page is as old as makes it as likely to have changed.

        What a fetch gains lasts until the next change, its own or by a burst: a gamma distribution with mean
        and variance of both rates together.
        """
        a, b = self.of(pages)
        passed = self._lasting(pages, days, odds) + bursts
        a, b = (a + often * b) ** 2 / a, (a + often * b) * b / a
        return expected_value(a, b, b * np.expm1(np.minimum(passed / a, LOG_MAX)))

    def _lasting(self, pages: Pages, days: Floats, odds: Floats) -> Floats:
        """-log of the chance that a page has not changed by its own rate and a sign."""
        a, b = self.of(pages)
        lasting = a * np.log1p(days / b)
        return lasting if (odds == 1).all() else np.log1p(odds * np.expm1(lasting))  # mostly there is no sign

    def intervals(self, pages: Numbers) -> NDArray[np.float64]:
        """Days between two changes of a page: least, middle, most with a chance of 90 %; shape (3, pages)."""
        a, b = self.of(pages)
        return np.array([b / np.maximum(gammaincinv(a, 1 - part), 1e-300) for part in INTERVAL])

    def learn(self) -> None:
        known = np.flatnonzero((self.added_a > 0) | (self.added_b > 0))
        self.prior_a, self.prior_b = fit(*self.of(known), self.servers[known], len(self.prior_a))

    def _whole(self) -> tuple[float, float]:
        """What is expected of a server that has no page yet."""
        if not len(self.prior_a):
            return START
        return float(np.median(self.prior_a)), float(np.median(self.prior_b))


def fit(a: Floats, b: Floats, servers: NDArray[np.integer], number: int) -> tuple[Floats, Floats]:
    """The gamma distributions that the beliefs of each server's pages come from: shape and rate by server.

    It is one step of expectation-maximization: of each server, the mean of E λ and of E log λ over its pages,
    with three pages' worth of the whole added, and of the whole with as many of the start.

    Args:
        a, b: the beliefs, shape (pages,); servers: their numbers, below `number`.
    """
    shape, rate = (np.array([value]) for value in START)
    nowhere = np.zeros(len(a), np.int64)
    whole = _shrunk(a / b, nowhere, 1, shape / rate), _shrunk(_log(a, b), nowhere, 1, _log(shape, rate))
    mean = _shrunk(a / b, servers, number, whole[0])
    shapes = _shape(np.log(mean) - _shrunk(_log(a, b), servers, number, whole[1]))
    return shapes, shapes / mean


def _log(a: Floats, b: Floats) -> Floats:
    """E log λ."""
    return digamma(a) - np.log(b)


def _shrunk(values: Floats, servers: NDArray[np.integer], number: int, towards: Floats) -> Floats:
    sums = np.bincount(servers, values, number) + WEIGHT * towards
    return sums / (np.bincount(servers, minlength=number) + WEIGHT)


def _shape(spread: Floats) -> Floats:
    """The a with log a - ψ(a) = spread, as Minka 2002 finds it ("Estimating a Gamma distribution")."""
    spread = np.maximum(spread, 1e-6)
    a = (3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)
    for _ in range(2):
        a = 1 / (1 / a + (np.log(a) - digamma(a) - spread) / (a**2 * (1 / a - polygamma(1, a))))
    return np.clip(a, *SHAPES)


class EP(Beliefs):
    """A Poisson rate for each page: checks that found a change over the days watched, (X + ½) / (T + 20).

    The naive X / T starves what had not changed at its first check. The rate is taken as if it were known.
    Memory: 8 bytes a page.
    """

    state = ("servers", "changes", "watched")

    def __init__(self) -> None:
        super().__init__()
        self.changes, self.watched = np.empty(0, np.float32), np.empty(0, np.float32)

    def add(self, servers: Numbers) -> None:
        super().add(servers)
        nothing = np.zeros(len(servers), np.float32)
        self.changes = np.concatenate((self.changes, nothing))
        self.watched = np.concatenate((self.watched, nothing))

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_], bursts: Floats) -> None:
        self.changes[pages] += changed
        self.watched[pages] += days.astype(np.float32)

    def chance(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats) -> Floats:
        return -np.expm1(-self._rate(pages) * days)

    def value(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats, often: float) -> Floats:
        return value_at_rate(self._rate(pages), days)

    def _rate(self, pages: Pages) -> Floats:
        changes, watched = SMOOTHING
        return (self.changes[pages] + changes) / (self.watched[pages] + watched).astype(np.float64)


class EB(Beliefs):
    """Bayes over five classes of pages, that change daily, weekly, monthly, in four months or in a year.

    The value is the expectation over the classes. Memory: 20 bytes a page.
    """

    state = ("servers", "classes")

    def __init__(self) -> None:
        super().__init__()
        self.classes = np.empty((0, len(CLASSES)), np.float32)  # the probability of each

    def add(self, servers: Numbers) -> None:
        super().add(servers)
        even = np.full((len(servers), len(CLASSES)), 1 / len(CLASSES), np.float32)
        self.classes = np.concatenate((self.classes, even))

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_], bursts: Floats) -> None:
        unchanged = np.exp(-np.outer(days, 1 / np.array(CLASSES)))
        likely = np.where(changed[:, None], 1 - unchanged, unchanged)
        after = self.classes[pages] * np.maximum(likely, 1e-9)
        self.classes[pages] = after / after.sum(axis=1, keepdims=True)

    def chance(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats) -> Floats:
        return self._mean(pages, [-np.expm1(-days / every) for every in CLASSES])

    def value(self, pages: Pages, days: Floats, odds: Floats, bursts: Floats, often: float) -> Floats:
        return self._mean(pages, [value_at_rate(np.full(len(days), 1 / every), days) for every in CLASSES])

    def _mean(self, pages: Pages, by_class: list[Floats]) -> Floats:
        mean: Floats = np.einsum("pc,cp->p", self.classes[pages], np.array(by_class))
        return mean


POLICIES: dict[str, type[Beliefs]] = {"expected": Gamma, "ep": EP, "eb": EB}
