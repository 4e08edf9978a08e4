"""Virtual crawls in many orders over one recorded graph, measured, and what came out.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.figures import Evaluator, Metrics, Run, compared, tables
from webcrawler.evaluation.recorded import Recorded, as_number, read
from webcrawler.evaluation.runner import Progress, each, processors
from webcrawler.evaluation.virtual import Web, crawl
from webcrawler.orderings import arguments_of, ordering, ordering_type


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


@dataclass(frozen=True)
class Results:
    """The crawls of one graph, by start and ordering, and their figures."""

    graph: Recorded
    runs: Sequence[Run]

    def __str__(self) -> str:
        return tables(self.runs)

    def compared(self) -> list[dict[str, Any]]:
        """Means with 95 % intervals, and differences from the first ordering, each with a paired test."""
        return compared(self.runs)

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
