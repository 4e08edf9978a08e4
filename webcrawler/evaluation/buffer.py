"""Limited Buffer Crawl: only some pages can be kept; which are left in the end? (Cho 1998, section 3)

The crawl has been recorded as an order of visits, and is gone through again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webcrawler.errors import BadInput
from webcrawler.linkgraph import Estimate, Graph

FLUSHES = ("ir", "ib", "fifo")


def check(flush: str) -> None:
    """Raises BadInput: there is no such way to flush."""
    if flush not in FLUSHES:
        raise BadInput(f"--flush={flush[:60]}: choose one of {', '.join(FLUSHES)}")


def kept(
    graph: Graph, order: NDArray[np.integer], size: int, flush: str, interval: int
) -> NDArray[np.integer]:
    """The pages in the buffer after the last visit.

    When it is full, the least important page leaves it, of equal ones the longest kept: by IR' or IB' over
    the links of all pages visited so far, flushed ones too, or by age alone. Pages are rated every
    `interval` visits, or half the size if that is less; one that was not rated yet does not leave, as
    little is known of it.
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
            buffer = _best(buffer, _importance(estimate, flush)[buffer], room)
        buffer = np.concatenate((buffer, arriving))
        for page in arriving.tolist():
            estimate.add(page, graph.outlinks(page))
    return buffer


def _importance(estimate: Estimate, flush: str) -> NDArray[np.float64] | NDArray[np.int32]:
    if flush == "ib":
        return estimate.backlinks
    estimate.update()
    return estimate.ranks


def _best(
    buffer: NDArray[np.integer], importance: NDArray[np.float64] | NDArray[np.int32], size: int
) -> NDArray[np.integer]:
    """So many of the buffer, in its order; of equal ones the last."""
    leave = np.argsort(importance, kind="stable")[: len(buffer) - size]
    return np.delete(buffer, leave)
