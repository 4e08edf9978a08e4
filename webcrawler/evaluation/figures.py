"""The figures of crawls from one start page: how many important pages were found, and how early?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.evaluation import measures
from webcrawler.evaluation.hotness import METRICS, Importance, conditions
from webcrawler.evaluation.recorded import Recorded

EARLY = 5  # percent crawled, for the second table


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


class Run(NamedTuple):
    """A crawl and its figures."""

    ordering: str
    start: int | str
    seed: int | None
    seconds: float
    pages: int  # that can be reached from the start: 100 %
    visits: int
    hot: dict[str, int]  # how many pages are hot
    figures: Figures

    def as_json(self) -> dict[str, Any]:
        run = self._asdict()
        del run["figures"]
        return {**run, **self.figures._asdict()}


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
        curves = {name: measures.p_st(order, hot) for name, hot in self.hot.items()}
        visits = measures.visits_at(self.pages)
        made = visits[visits <= len(order)]
        later = [None] * (len(visits) - len(made))
        return Figures(
            auc={name: _rounded([measures.area(curve)])[0] for name, curve in curves.items()},
            p_st={name: _rounded(measures.at_percents(curve, self.pages)) for name, curve in curves.items()},
            p_cs={
                name: _rounded([*measures.p_cs(order, importance, made), *later])
                for name, importance in self._importance.items()
            },
            p_bc=self._p_bc(order) if self._metrics.buffer else {},
        )

    def _p_bc(self, order: NDArray[np.integer]) -> dict[str, float]:
        """By threshold, and by metric: for a metric the best pages that would fill the buffer are hot."""
        size = max(1, round(self._metrics.buffer * self.pages))
        left = measures.kept(self._graph, order, size, self._metrics.flush, self.interval)
        hot = dict(self.hot)
        for name, importance in self._importance.items():
            hot[name] = importance >= measures.threshold_of_best(importance, size)
        return {name: round(100 * float(of[left].mean()), 3) for name, of in hot.items()}


def _rounded(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or math.isnan(value) else round(float(value), 3) for value in values]


def tables(runs: Sequence[Run]) -> str:
    """Area under P_ST, hot pages found early, what a limited buffer keeps: a row an ordering and start."""
    shown = [
        _table("area under P_ST, %", runs, lambda run: run.figures.auc, with_seconds=True),
        _table(
            f"hot pages found at {EARLY} % crawled, %",
            runs,
            lambda run: {name: curve[EARLY] for name, curve in run.figures.p_st.items()},
        ),
        _table("P_BC: hot in the final buffer, %", runs, lambda run: run.figures.p_bc),
    ]
    return "\n\n".join(filter(None, shown))


def grouped(runs: Sequence[Run]) -> dict[tuple[str, int | str | None], list[Run]]:
    """By ordering and start; if there are several starts, also by ordering over all of them (start None)."""
    starts = list(dict.fromkeys(run.start for run in runs))
    found: dict[tuple[str, int | str | None], list[Run]] = {}
    for run in runs:
        found.setdefault((run.ordering, run.start), []).append(run)
    for run in runs if len(starts) > 1 else ():
        found.setdefault((run.ordering, None), []).append(run)
    return found


def _table(
    title: str,
    runs: Sequence[Run],
    values: Callable[[Run], Mapping[str, float | None]],
    with_seconds: bool = False,
) -> str:
    """A table with a column for each name of a value; "" where there is none."""
    names = list(dict.fromkeys(name for run in runs for name in values(run)))
    rows = [[title, "start", *names, *(["seconds"] if with_seconds else [])]]
    for (ordering, start), some in grouped(runs).items():
        cells = [_cell([values(run).get(name) for run in some]) for name in names]
        seconds = [f"{fmean(run.seconds for run in some):.1f}"] if with_seconds else []
        rows.append([ordering, "all" if start is None else str(start), *cells, *seconds])
    return aligned(rows) if names else ""


def _cell(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    spread = f" ± {stdev(known):.1f}" if len(known) > 1 else ""
    return f"{fmean(known):.1f}{spread}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table as text: the first two columns flush left, figures flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
