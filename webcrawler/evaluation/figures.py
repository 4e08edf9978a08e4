"""The figures of crawls from one start page: how many important pages were found, and how early?"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.evaluation import measures
from webcrawler.evaluation.hotness import METRICS, Importance, conditions
from webcrawler.evaluation.measures import SURE, Difference, Mean, difference
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


Value = Callable[[Run], Mapping[str, float | None]]  # by the name of its column

VALUES: dict[str, tuple[str, Value]] = {
    "auc": ("area under P_ST, %", lambda run: run.figures.auc),
    "early": (
        f"hot pages found at {EARLY} % crawled, %",
        lambda run: {name: curve[EARLY] for name, curve in run.figures.p_st.items()},
    ),
    "p_bc": ("P_BC: hot in the final buffer, %", lambda run: run.figures.p_bc),
}
LEGEND = (
    "[ ]: 95 % interval over seeds, or over starts in rows of all. Differences are of the same seeds and "
    f'starts; "none": a paired test cannot tell it from chance (p ≥ {SURE}), nor where it says '
    '"too few crawls", but there the interval lies on one side of 0.'
)


class Comparison(NamedTuple):
    """The figure of an ordering from one start, or over all of them (start None)."""

    measure: str
    of: str  # which column of that
    ordering: str
    start: int | str | None
    mean: Mean
    difference: Difference | None  # from the first ordering; None for that one


def tables(runs: Sequence[Run]) -> str:
    """Area under P_ST, hot pages found early, what a limited buffer keeps; each then as differences.

    A row for each ordering and start; differences are from the first ordering.
    """
    shown: list[str] = []
    rows = {row[:4]: row for row in comparisons(runs)}
    for measure, (title, value) in VALUES.items():
        names = list(dict.fromkeys(name for run in runs for name in value(run)))
        means = [[title, "start", *names, *(["seconds"] if measure == "auc" else [])]]
        measured = [name for name in names if any(row[:2] == (measure, name) for row in rows)]
        others = [[f"… compared with {runs[0].ordering}", "start", *measured]]
        for (ordering, start), some in grouped(runs).items():
            place = [ordering, "all" if start is None else str(start)]
            found = {name: rows.get((measure, name, ordering, start)) for name in names}
            seconds = [f"{fmean(run.seconds for run in some):.1f}"] if measure == "auc" else []
            means.append([*place, *(row.mean.shown() if row else "–" for row in found.values()), *seconds])
            if ordering != runs[0].ordering:
                beside = [row.difference if (row := found[name]) else None for name in measured]
                others.append([*place, *(one.shown() if one else "–" for one in beside)])
        shown += [aligned(means)] if names else []
        shown += [aligned(others)] if measured and len(others) > 1 else []
    return "\n\n".join([*shown, *([LEGEND] if any("[" in table for table in shown) else [])])


def comparisons(runs: Sequence[Run]) -> list[Comparison]:
    rows = []
    for measure, (_, value) in VALUES.items():
        found = {(name, start): trials(some, start, value) for (name, start), some in grouped(runs).items()}
        for (ordering, start), by_column in found.items():
            first = found[runs[0].ordering, start]
            for name, of in by_column.items():
                other = difference(of, first.get(name, {})) if ordering != runs[0].ordering else None
                rows.append(Comparison(measure, name, ordering, start, Mean.of(list(of.values())), other))
    return rows


def compared(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """`comparisons` with the keys of docs/reference/commands.md."""
    return [
        {
            **row._asdict(),
            "mean": row.mean.as_json(),
            "difference": row.difference and row.difference.as_json(),
        }
        for row in comparisons(runs)
    ]


def grouped(runs: Sequence[Run]) -> dict[tuple[str, int | str | None], list[Run]]:
    """By ordering and start; if there are several starts, also by ordering over all of them (start None)."""
    starts = list(dict.fromkeys(run.start for run in runs))
    found: dict[tuple[str, int | str | None], list[Run]] = {}
    for run in runs:
        found.setdefault((run.ordering, run.start), []).append(run)
    for run in runs if len(starts) > 1 else ():
        found.setdefault((run.ordering, None), []).append(run)
    return found


def trials(runs: Sequence[Run], start: int | str | None, value: Value) -> dict[str, dict[Hashable, float]]:
    """By column, the figure of each trial: of each seed from one start, or of each start (start None).

    Of a start the trial is the mean of its seeds: other seeds would vary less than other starts.
    """
    found: dict[str, dict[Hashable, list[float]]] = {}
    for run in runs:
        for name, figure in value(run).items():
            if figure is not None:
                of = found.setdefault(name, {})
                of.setdefault(run.seed if start is not None else run.start, []).append(figure)
    return {name: {trial: fmean(of) for trial, of in by.items()} for name, by in found.items()}


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
