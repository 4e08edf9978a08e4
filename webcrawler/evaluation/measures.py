"""How good was the order of visits? Pure arithmetic over arrays; percentages throughout.

An order is an array of different page numbers, T of them when all pages were visited; `hot` says of each
page whether it is hot. Source: Cho 1998, section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
