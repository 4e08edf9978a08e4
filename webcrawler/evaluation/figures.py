"""The figures of crawls from one start page: how important is what could be reached, and found when?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.evaluation import measures
from webcrawler.evaluation.hotness import Importance, conditions
from webcrawler.evaluation.recorded import Recorded


@dataclass(frozen=True)
class Wanted:
    """What is to be known of each crawl."""

    hot: tuple[str, ...] = ("ib:10", "ib:100", "ir:13")
    buffer: float = 0.0  # share of all pages that can be kept; 0: no limited buffer
    flush: str = "ir"
    reorder_percent: float = 1.0  # of all pages, between two updates of ranks
    query: str = ""


class Figures(NamedTuple):
    """In percent, by what --hot names; None where no page is hot, or after the last visit."""

    auc: dict[str, float | None]
    p_st: dict[str, list[float | None]]
    p_cs: dict[str, list[float | None]]
    p_bc: dict[str, float]


class Judge:
    """Knows how important the pages are.

    Args:
        reached: all that counts.
    Raises:
        BadInput: no such --hot, or this graph cannot tell.
    """

    def __init__(self, reached: Recorded, wanted: Wanted) -> None:
        self._graph, self._wanted = reached.graph, wanted
        parsed = {name: conditions(name) for name in wanted.hot}
        importance = Importance(reached, wanted.query)
        self.hot = {
            name: importance.hot(items) for name, items in parsed.items() if all(item.least for item in items)
        }
        metrics = {item.metric: item for items in parsed.values() for item in items if not item.by_word}
        self._importance = {name: importance.of(item.importance_name) for name, item in metrics.items()}

    @property
    def pages(self) -> int:
        return self._graph.pages

    @property
    def interval(self) -> int:
        """Visits between two updates of ranks."""
        return max(1, round(self.pages * self._wanted.reorder_percent / 100))

    def figures(self, order: NDArray[np.integer]) -> Figures:
        curves = {name: measures.p_st(order, hot) for name, hot in self.hot.items()}
        return Figures(
            {name: _number(measures.area(curve)) for name, curve in curves.items()},
            {name: self._points(curve) for name, curve in curves.items()},
            {name: self._p_cs(order, importance) for name, importance in self._importance.items()},
            self._p_bc(order) if self._wanted.buffer else {},
        )

    def _points(self, curve: NDArray[np.float64]) -> list[float | None]:
        points = measures.at_percents(curve, self.pages)
        return [_number(point) for point in points]

    def _p_cs(
        self, order: NDArray[np.integer], importance: NDArray[np.float64 | np.int64]
    ) -> list[float | None]:
        visits = measures.visits_at(self.pages)
        made = visits[visits <= len(order)]
        points = [round(float(point), 3) for point in measures.p_cs(order, importance, made)]
        return [*points, *[None] * (len(visits) - len(made))]

    def _p_bc(self, order: NDArray[np.integer]) -> dict[str, float]:
        """By threshold, and by metric: then the best that would fill the buffer are hot."""
        size = max(1, round(self._wanted.buffer * self.pages))
        left = measures.kept(self._graph, order, size, self._wanted.flush, self.interval)
        hot = dict(self.hot)
        for name, importance in self._importance.items():
            hot[name] = importance >= measures.threshold_of_best(importance, size)
        return {name: round(100 * float(of[left].mean()), 3) for name, of in hot.items()}


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 3)
