"""How good was the order of visits, and how much of a figure may be chance? Pure arithmetic over arrays.

Percentages throughout. An order is an array of different page numbers, T of them when all pages were visited;
`hot` says of each page whether it is hot. Source: Cho 1998, section 3.

A trial is what was drawn at random from many: a query that people ask, the seed of an ordering, a start page,
a topic; other trials would have given other figures. Below some twenty trials intervals are too narrow, and
below six no difference can be told from chance. Seeded: the same figures give the same answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, permutation_test

from webcrawler.errors import BadInput
from webcrawler.linkgraph import Estimate, Graph

PERCENTS = np.arange(101)

Order = NDArray[np.integer]
Hot = NDArray[np.bool_]
Curve = NDArray[np.float64]


def p_st(order: Order, hot: Hot) -> Curve:
    """Crawl & Stop with Threshold: how many of the hot pages the first K visits found, for K = 1 … visits.

    NaN where no page is hot.
    """
    with np.errstate(invalid="ignore"):
        return 100 * np.cumsum(hot[order]) / np.float64(hot.sum())


def area(curve: Curve) -> float:
    """The mean over all K: 50 for the diagonal, nearly 100 for an ideal crawler after few hot pages."""
    return float(curve.mean())


def p_cs(order: Order, importance: NDArray[np.float64 | np.int64], visits: NDArray[np.integer]) -> Curve:
    """Crawl & Stop: how many of the first K visits went to pages as important as the K-th best.

    Args:
        visits: the K, from 1 to the length of the order.
    """
    best = np.sort(importance)[::-1]
    visited = importance[order]
    return np.array([100 * np.mean(visited[:k] >= best[k - 1]) for k in visits.tolist()])


def visits_at(pages: int) -> NDArray[np.int64]:
    """The number of visits at 0, 1, … 100 % of the pages, rounded; at least one."""
    return np.maximum(1, (pages * PERCENTS + 50) // 100)


def at_percents(curve: Curve, pages: int) -> list[float | None]:
    """101 points of P_ST: 0 before the first visit, None after the last where the crawl stopped early."""
    at = visits_at(pages)
    points = [float(curve[k - 1]) if k <= len(curve) else None for k in at.tolist()]
    return [0.0, *points[1:]]


def ideal(pages: int, hot: int) -> Curve:
    """P_ST of a crawler that knows the hot pages beforehand, at 0 … 100 %."""
    visits: Curve = pages * PERCENTS / 100
    return np.minimum(100.0, 100 * visits / max(hot, 1))


def threshold_of_best(importance: NDArray[np.float64 | np.int64], number: int) -> float:
    """The importance of the `number`-th best page: the threshold of hot pages in Crawl & Stop."""
    return float(np.partition(importance, -number)[-number])


FLUSHES = ("ir", "ib", "fifo")


def check_flush(flush: str) -> None:
    """Raises BadInput: no such way to flush."""
    if flush not in FLUSHES:
        raise BadInput(f"--flush={flush[:60]}: choose one of {', '.join(FLUSHES)}")


def kept(graph: Graph, order: Order, size: int, flush: str, interval: int) -> Order:
    """The pages in the buffer after the last visit.

    When the buffer is full, the least important page leaves it; of equal ones, the one kept longest. Its
    importance is IR' or IB' over the links of all pages visited so far, including those that left, or age
    alone. It is computed every `interval` visits, or half the size if that is less; a page stays until it was
    computed once, since little is known of it.
    """
    if flush == "fifo":
        return order[-size:]
    interval = min(interval, max(1, size // 2))
    estimate = Estimate()
    estimate.know(graph.pages)
    buffer = order[:0]
    for start in range(0, len(order), interval):
        arriving = order[start : start + interval]
        room = size - len(arriving)
        if len(buffer) > room:
            if flush == "ir":
                estimate.update()
            importance = estimate.ranks if flush == "ir" else estimate.backlinks
            by_importance = np.argsort(importance[buffer], kind="stable")
            buffer = np.delete(buffer, by_importance[: len(buffer) - room])
        buffer = np.concatenate((buffer, arriving))
        for page in arriving.tolist():
            estimate.add(page, graph.outlinks(page))
    return buffer


ROUNDS = 10_000
AT_ONCE = 1_000  # rounds, which bounds memory
SEED = 1
SAME = 1e-9  # a smaller difference between two measures does not count
SURE = 0.05  # a difference with a lower p is called one

Table = NDArray[np.float64]  # a row for each trial, a column for each measure
Row = NDArray[np.float64]
Trials = Mapping[Hashable, float]  # one figure for each trial: a seed, a start page, a topic


def intervals(table: Table) -> tuple[Row, Row]:
    """Both ends of the 95 % interval of each column's mean; of one trial, the figure itself.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", 13.3 The percentile interval.
    """
    if len(table) < 2:
        return table[0], table[0]
    chance = np.random.default_rng(SEED)
    found = bootstrap(
        (table,), np.mean, n_resamples=ROUNDS, batch=AT_ONCE, method="percentile", random_state=chance
    )
    return np.asarray(found.confidence_interval.low), np.asarray(found.confidence_interval.high)


def p_values(differences: Table) -> Row:
    """How likely a mean difference as large, either way, is if both sides are equally good.

    Then a trial's two figures might as well be exchanged, which changes the sign of their difference.
    Source: Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation", 3.1 Randomization Test.
    """
    if len(differences) < 2:
        return np.ones(differences.shape[1])

    def mean(table: Table, axis: int) -> Row:
        return np.asarray(np.mean(table, axis=axis).round(9))

    chance = np.random.default_rng(SEED)
    found = permutation_test(
        (differences,),
        mean,
        permutation_type="samples",
        n_resamples=ROUNDS,
        batch=AT_ONCE,
        random_state=chance,
    )
    return np.asarray(found.pvalue)


class Mean(NamedTuple):
    """Over trials, with both ends of the 95 % interval; these are None where there was one trial only."""

    value: float
    low: float | None
    high: float | None
    trials: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        if len(values) < 2:
            return cls(fmean(values), None, None, len(values))
        low, high = intervals(np.array(values, float)[:, np.newaxis])
        return cls(fmean(values), float(low[0]), float(high[0]), len(values))

    def shown(self, sign: str = "") -> str:
        interval = "" if self.low is None else f" [{self.low:{sign}.1f}, {self.high:{sign}.1f}]"
        return f"{self.value:{sign}.1f}{interval}"

    def as_json(self) -> dict[str, Any]:
        return {name: _rounded(value) for name, value in self._asdict().items()}


class Difference(NamedTuple):
    """Of the same trials."""

    mean: Mean
    p: float | None  # of a paired test; None where there was one trial only

    @property
    def is_sure(self) -> bool:
        """It is no chance, or none was involved."""
        return self.p is None or self.p < SURE

    def shown(self) -> str:
        """Where it may be chance: the interval alone, in which the difference lies if there is one.

        An interval without 0 says that there is one: then more trials would show it.
        """
        shown, (_, low, high, _) = self.mean.shown("+"), self.mean
        if self.is_sure or low is None or high is None:
            return shown
        word = "none" if low <= 0 <= high else "too few crawls"
        return f"{word} {shown.partition(' ')[2]}"

    def as_json(self) -> dict[str, Any]:
        return {**self.mean.as_json(), "p": _rounded(self.p)}


def difference(mine: Trials, theirs: Trials) -> Difference | None:
    """By how much is one better than the other? None where they share no trial.

    What has a single trial called None took no chance: it is compared with each trial of the other.
    """
    shared = list(mine.keys() & theirs.keys())
    if not shared and set(mine) == {None}:
        return difference(dict.fromkeys(theirs, mine[None]), theirs)
    if not shared and set(theirs) == {None}:
        return difference(mine, dict.fromkeys(mine, theirs[None]))
    if not shared:
        return None
    values = [mine[trial] - theirs[trial] for trial in sorted(shared, key=str)]
    column = np.array(values, float)[:, np.newaxis]
    return Difference(Mean.of(values), float(p_values(column)[0]) if len(values) > 1 else None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
