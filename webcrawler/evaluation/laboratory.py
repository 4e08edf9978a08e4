"""Virtual crawls in many orders over one recorded graph, measured.

Virtual crawlers are the real frontier and ranker, with links from a recorded graph in place of HTTP.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.figures import Evaluator, Metrics, Run
from webcrawler.evaluation.pace import Pace
from webcrawler.evaluation.recorded import Recorded, as_number
from webcrawler.evaluation.runner import Progress, each
from webcrawler.evaluation.virtual import Web, crawl, paced_crawl
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
    pace: Pace | None = None,
) -> Iterator[tuple[int, Run]]:
    """Each experiment from each start page, as soon as it is over; its number says where it belongs.

    All errors come before the first. The runs are the same for any number of jobs, but for their seconds.

    Args:
        pages_max: visits after which a crawl stops; 0: all pages.
        jobs: crawls at a time, in processes with a Redis of their own.
        pace: of downloads, where time is to be measured as well.
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
        seconds, about = None, (web, one.mode, first, connection, evaluator.interval)
        if pace:
            order, seconds = paced_crawl(*about, pace, pages_max, tell)
        else:
            order = crawl(*about, pages_max, tell)
        return Run(
            ordering=one.ordering,
            start=(start or str(recorded.labels[page])) if label is None else label,
            seed=one.seed,
            seconds=round(time.perf_counter() - began, 3),
            pages=evaluator.pages,
            visits=len(order),
            hot={name: int(are_hot.sum()) for name, are_hot in evaluator.hot.items()},
            figures=evaluator.figures(order, seconds, pace),
        )

    tasks = [(start, one) for start in reachable for one in experiments]
    return each(tasks, work, jobs, progress)
