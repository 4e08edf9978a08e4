"""Virtual crawls in many orders over one graph, measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler.connection import Connection, connect
from webcrawler.evaluation.experiments import Experiment
from webcrawler.evaluation.judging import Figures, Judge, Wanted
from webcrawler.evaluation.recorded import Recorded
from webcrawler.evaluation.virtual import Web, crawl

Progress = Callable[[Experiment, str, int, int], None]  # a crawl, its start, all pages, pages visited


class Run(NamedTuple):
    """A crawl and its figures."""

    ordering: str
    start: int | str
    seed: int | None
    seconds: float
    pages: int  # that can be reached from the start: 100 %
    visits: int
    hot: dict[str, int]  # pages that are hot
    figures: Figures

    def as_json(self) -> dict[str, Any]:
        run = self._asdict()
        del run["figures"]
        return {**run, **self.figures._asdict()}


@contextmanager
def private_redis() -> Iterator[Connection]:
    """An embedded server for as long as this lasts, which writes nothing to disk."""
    with (
        tempfile.TemporaryDirectory(prefix="webcrawler-") as folder,
        connect(None, Path(folder), fsync="no") as connection,
    ):
        connection.client.config_set("appendonly", "no")
        yield connection


def runs(
    recorded: Recorded,
    starts: Sequence[str],
    experiments: Sequence[Experiment],
    wanted: Wanted,
    connection: Connection,
    progress: Progress,
    pages_max: int = 0,
) -> Iterator[Run]:
    """Each experiment from each start page, as soon as it is made.

    Args:
        connection: to a Redis of our own, that is emptied.
        pages_max: visits after which a crawl stops; 0: all pages.
    Raises:
        BadInput: there is no such start page, or --hot is wrong.
    """
    pages = [recorded.page(start) for start in starts]
    for start, page in zip(starts, pages, strict=True):
        reached = recorded.reachable(page)
        judge, web = Judge(reached, wanted), Web(reached)
        first = web.page_of[recorded.urls[page]]
        label = int(start) if start.isdecimal() else start or str(recorded.labels[page])
        hot = {name: int(pages.sum()) for name, pages in judge.hot.items()}
        for one in experiments:
            tell = partial(progress, one, start, judge.pages)
            began = time.perf_counter()
            order = crawl(web, one.mode, first, connection, judge.interval, pages_max, tell)
            seconds = round(time.perf_counter() - began, 3)
            figures = judge.figures(order)
            yield Run(one.ordering, label, one.seed, seconds, judge.pages, len(order), hot, figures)
