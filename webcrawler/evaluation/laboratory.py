"""Virtual crawls in many orders over one recorded graph, measured, and what came out.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation import chance
from webcrawler.evaluation.chance import Compared
from webcrawler.evaluation.measures import Evaluator, Figures, Metrics
from webcrawler.evaluation.recorded import Recorded, as_number, read
from webcrawler.evaluation.runner import Progress, each, processors
from webcrawler.evaluation.virtual import Web, crawl
from webcrawler.orderings import arguments_of, ordering, ordering_type


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


class Experiment(NamedTuple):
    """A crawl to make."""

    ordering: str  # as the user wrote it: "blend", "hot:backlink"
    mode: str  # as the frontier takes it: "blend?seed=1"
    seed: int | None


def experiments(orderings: Sequence[str], seeds: Sequence[int], query: str = "") -> list[Experiment]:
    """An experiment for each ordering, or for each seed if the ordering takes one.

    `hot:MODE` is the ordering `hot` with both queues in the order of MODE. The query goes to orderings that
    take one. `name?word=value` stays as it is.

    Raises:
        BadInput: there is no such ordering.
    """
    found = []
    for name in orderings:
        takes_seed = _mode(name, 0, query) != _mode(name, None, query)
        for seed in seeds if takes_seed else (None,):
            mode = _mode(name, seed, query)
            ordering(mode)
            found.append(Experiment(name, mode, seed))
    return found


def _mode(name: str, seed: int | None, query: str) -> str:
    first, _, then = name.partition(":")
    # What is written out after a question mark stays as it is.
    takes = () if "?" in first else arguments_of(ordering_type(first, by_path=True))
    given = {}
    if "query" in takes:
        if not query:
            raise BadInput(f"--orderings: {name} needs a query: add --query WORDS")
        given["query"] = query
    if "seed" in takes and seed is not None:
        given["seed"] = str(seed)
    if then and "then" not in takes:
        raise BadInput(f"--orderings: {first} takes no other ordering after a colon, as hot:backlink does")
    if then:
        given["then"] = _mode(then, seed, query)
    return f"{first}?{urlencode(given)}" if given else first


def runs(
    recorded: Recorded,
    starts: Sequence[str],
    experiments: Sequence[Experiment],
    metrics: Metrics,
    progress: Progress = lambda step, done, all: None,
    pages_max: int = 0,
    jobs: int = 1,
) -> Iterator[tuple[int, Run]]:
    """Each experiment from each start page, as soon as it is over; its number says where it belongs.

    All errors come before the first. The runs are the same for any number of jobs, but for their seconds.

    Args:
        pages_max: visits after which a crawl stops; 0: all pages.
        jobs: crawls at a time, in processes with a Redis of their own.
    Raises:
        BadInput: there is no such start page, --hot is wrong, or an ordering by words needs anchors.
    """
    by_words = [one.ordering for one in experiments if "query=" in one.mode]
    if by_words and not recorded.anchors:  # they would order as fifo does
        raise BadInput(
            f"{by_words[0]} needs anchors, which this graph lacks: name the data folder of a crawl"
        )
    reachable = {start: recorded.reachable(recorded.page(start)) for start in starts}
    evaluators = {start: Evaluator(reached, metrics) for start, reached in reachable.items()}

    @lru_cache(1)
    def web_of(start: str) -> Web:
        return Web(reachable[start])

    def work(task: tuple[str, Experiment], connection: Connection, progress: Progress) -> Run:
        start, one = task
        web, evaluator, page = web_of(start), evaluators[start], recorded.page(start)
        first, label = web.page_of[recorded.urls[page]], as_number(start)
        tell = partial(progress, f"{one.mode} {start}".rstrip())
        began = time.perf_counter()
        order = crawl(web, one.mode, first, connection, evaluator.interval, pages_max, tell)
        return Run(
            ordering=one.ordering,
            start=(start or str(recorded.labels[page])) if label is None else label,
            seed=one.seed,
            seconds=round(time.perf_counter() - began, 3),
            pages=evaluator.pages,
            visits=len(order),
            hot={name: int(are_hot.sum()) for name, are_hot in evaluator.hot.items()},
            figures=evaluator.figures(order),
        )

    tasks = [(start, one) for start in reachable for one in experiments]
    return each(tasks, work, jobs, progress)


SEEDS = range(1, 11)  # of orderings that use chance


EARLY = 5  # percent crawled, for the second table
Value = Callable[[Run], Mapping[str, float | None]]  # by the name of its column
Cells = dict[tuple[str, int | str | None], dict[str, Compared]]  # by ordering and start, and column
VALUES: dict[str, tuple[str, Value]] = {
    "auc": ("area under P_ST, %", lambda run: run.figures.auc),
    "early": (
        f"hot pages found at {EARLY} % crawled, %",
        lambda run: {name: curve[EARLY] for name, curve in run.figures.p_st.items()},
    ),
    "p_bc": ("P_BC: hot in the final buffer, %", lambda run: run.figures.p_bc),
}


def comparisons(runs: Sequence[Run], value: Value) -> Cells:
    """Of each start, and where there are several of all of them together (start None)."""
    starts = list(dict.fromkeys(run.start for run in runs))
    cells: Cells = {}
    for start in [*starts, None] if len(starts) > 1 else starts:
        cells |= {(run.ordering, start): {} for run in runs}
        for column in value(runs[0]):
            for name, cell in chance.compared(_trials(runs, start, value, column)).items():
                cells[name, start][column] = cell
    return cells


def _trials(
    runs: Sequence[Run], start: int | str | None, value: Value, column: str
) -> dict[str, dict[Hashable, float]]:
    """By ordering, the figure of each trial: of each seed from one start, or of each start (start None).

    Of a start the trial is the mean of its seeds: other seeds would vary less than other starts.
    """
    figures: dict[str, dict[Hashable, list[float]]] = {}
    for run in runs:
        figure = value(run)[column]
        if figure is not None and start in (run.start, None):
            trial = run.seed if start is not None else run.start
            figures.setdefault(run.ordering, {}).setdefault(trial, []).append(figure)
    return {name: {trial: fmean(of) for trial, of in by.items()} for name, by in figures.items()}


@dataclass(frozen=True)
class Results:
    """The crawls of one graph, by start and ordering, and their figures."""

    graph: Recorded
    runs: Sequence[Run]

    def __str__(self) -> str:
        """Area under P_ST, hot pages found early, what a limited buffer keeps; each then as differences."""
        shown = []
        for title, value in VALUES.values():
            if columns := list(value(self.runs[0])):
                cells = comparisons(self.runs, value).items()
                rows = {(name, "all" if start is None else str(start)): of for (name, start), of in cells}
                shown.append(chance.tables((title, "start"), columns, rows))
        return "\n\n".join([*shown, *([chance.LEGEND] if any("[" in table for table in shown) else [])])

    def compared(self) -> list[dict[str, Any]]:
        """Means with 95 % intervals, and differences from the first ordering, each with a paired test."""
        return [
            {"measure": measure, "of": of, "ordering": ordering, "start": start, **cell.as_json()}
            for measure, (_, value) in VALUES.items()
            for (ordering, start), cells in comparisons(self.runs, value).items()
            for of, cell in cells.items()
        ]

    def as_json(self) -> dict[str, Any]:
        """All figures; keys as in docs/reference/commands.md."""
        return {
            "graph": {"pages": self.graph.graph.pages, "links": self.graph.graph.links},
            "compared": self.compared(),
            "runs": [run.as_json() for run in self.runs],
        }


def compare(
    graph: Recorded | Path | str,
    orderings: Sequence[str],
    *,
    starts: Sequence[str] = ("",),
    seeds: Sequence[int] = SEEDS,
    metrics: Metrics | None = None,
    pages_max: int = 0,
    jobs: int = 0,
    progress: Progress = lambda step, done, all: None,
) -> Results:
    """Crawl a graph in each order and measure it: what `webcrawler evaluate` does.

    Args:
        graph: or where it is, as `read` takes it.
        orderings: modes; also the path of a class of your own, "module.Class".
        starts: names, URLs or numbers of start pages; "": the first page with links.
        seeds: of orderings that use chance, a crawl for each.
        metrics: which pages are important, and what else is measured.
        pages_max: visits after which a crawl stops; 0: all pages.
        jobs: crawls at a time, in processes; 0: as many as there are processors. It changes no figure.
    Raises:
        BadInput: there is no such graph, ordering or start page, or --hot is wrong.
    """
    recorded, metrics = graph if isinstance(graph, Recorded) else read(graph), metrics or Metrics()
    crawls = experiments(orderings, seeds, metrics.query)
    found = runs(recorded, starts, crawls, metrics, progress, pages_max, jobs or processors())
    return Results(recorded, [run for _, run in sorted(found, key=lambda one: one[0])])
