"""How good was the order of visits? Pure arithmetic over arrays.

Percentages throughout. An order is an array of different page numbers, T of them when all pages were visited;
`hot` says of each page whether it is hot. Source: Cho 1998, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.evaluation.hotness import METRICS, Importance, conditions, threshold_of_best
from webcrawler.evaluation.recorded import Recorded
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


@dataclass(frozen=True)
class Metrics:
    """What is measured of each crawl."""

    hot: tuple[str, ...] = ("ib:10", "ib:100", "ir:13")
    buffer: float = 0.0  # share of all pages that can be kept; 0: no limited buffer
    flush: str = "ir"
    reorder_percent: float = 1.0  # of all pages, between two updates of ranks
    query: str = ""


class Figures(NamedTuple):
    """In percent, by item of --hot; None where no page is hot, or after the last visit."""

    auc: dict[str, float | None]
    p_st: dict[str, list[float | None]]
    p_cs: dict[str, list[float | None]]
    p_bc: dict[str, float]


class Evaluator:
    """Measures crawls of one graph.

    Args:
        reached: the pages that can be reached; no others count.
    Raises:
        BadInput: no such --hot, or the graph lacks what it needs.
    """

    def __init__(self, reached: Recorded, metrics: Metrics) -> None:
        self._graph, self._metrics = reached.graph, metrics
        self.pages = reached.graph.pages
        parsed = {name: conditions(name) for name in metrics.hot}
        importance = Importance(reached, metrics.query)
        self.hot = {
            name: importance.hot(items) for name, items in parsed.items() if all(item.least for item in items)
        }
        found = dict.fromkeys(item.metric for items in parsed.values() for item in items)
        self._importance = {metric: importance.of(metric) for metric in found if metric in METRICS}

    @property
    def interval(self) -> int:
        """Visits between two updates of ranks."""
        return max(1, round(self.pages * self._metrics.reorder_percent / 100))

    def figures(self, order: NDArray[np.integer]) -> Figures:
        curves = {name: p_st(order, hot) for name, hot in self.hot.items()}
        visits = visits_at(self.pages)
        made = visits[visits <= len(order)]
        later = [None] * (len(visits) - len(made))
        return Figures(
            auc={name: _rounded([area(curve)])[0] for name, curve in curves.items()},
            p_st={name: _rounded(at_percents(curve, self.pages)) for name, curve in curves.items()},
            p_cs={
                name: _rounded([*p_cs(order, importance, made), *later])
                for name, importance in self._importance.items()
            },
            p_bc=self._p_bc(order) if self._metrics.buffer else {},
        )

    def _p_bc(self, order: NDArray[np.integer]) -> dict[str, float]:
        """By threshold, and by metric: for a metric the best pages that would fill the buffer are hot."""
        size = max(1, round(self._metrics.buffer * self.pages))
        left = kept(self._graph, order, size, self._metrics.flush, self.interval)
        hot = dict(self.hot)
        for name, importance in self._importance.items():
            hot[name] = importance >= threshold_of_best(importance, size)
        return {name: round(100 * float(of[left].mean()), 3) for name, of in hot.items()}


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or math.isnan(value) else round(float(value), 3) for value in values]
