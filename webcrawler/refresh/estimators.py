"""EP and EB, estimators of Cho and Garcia-Molina 2000 (named by the survey of crawlers), for comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.refresh.belief import Beliefs
from webcrawler.refresh.choice import Numbers
from webcrawler.refresh.value import Floats, value_at_rate

SMOOTHING = (0.5, 20.0)  # changes, days
CLASSES = (1.0, 7.0, 30.0, 120.0, 365.0)  # days between two changes


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

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_]) -> None:
        self.changes[pages] += changed
        self.watched[pages] += days.astype(np.float32)

    def chance(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return -np.expm1(-self._rate(pages) * days)

    def value(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return value_at_rate(self._rate(pages), days)

    def _rate(self, pages: Numbers | slice) -> Floats:
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

    def see(self, pages: Numbers, days: Floats, changed: NDArray[np.bool_]) -> None:
        unchanged = np.exp(-np.outer(days, 1 / np.array(CLASSES)))
        likely = np.where(changed[:, None], 1 - unchanged, unchanged)
        after = self.classes[pages] * np.maximum(likely, 1e-9)
        self.classes[pages] = after / after.sum(axis=1, keepdims=True)

    def chance(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return self._mean(pages, [-np.expm1(-days / every) for every in CLASSES])

    def value(self, pages: Numbers | slice, days: Floats, odds: Floats | None = None) -> Floats:
        return self._mean(pages, [value_at_rate(np.full(len(days), 1 / every), days) for every in CLASSES])

    def _mean(self, pages: Numbers | slice, by_class: list[Floats]) -> Floats:
        mean: Floats = np.einsum("pc,cp->p", self.classes[pages], np.array(by_class))
        return mean
