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
from webcrawler.errors import BadInput
from webcrawler.evaluation.experiments import Experiment
from webcrawler.evaluation.figures import Figures, Judge, Wanted
from webcrawler.evaluation.recorded import Recorded, as_number
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
    """Each experiment from each start page, as soon as it is made; what is wrong is said before the first.

    Args:
        connection: to a Redis of our own, that is emptied.
        pages_max: visits after which a crawl stops; 0: all pages.
    Raises:
        BadInput: there is no such start page, or --hot is wrong.
    """
    _refuse_without_anchors(recorded, experiments)
    places = [_place(recorded, start, wanted) for start in starts]  # what is wrong comes before any crawl
    for place, start in zip(places, starts, strict=True):
        judge, web = place.judge, Web(place.reached)
        first = web.page_of[place.url]
        hot = {name: int(pages.sum()) for name, pages in judge.hot.items()}
        for one in experiments:
            tell = partial(progress, one, start, judge.pages)
            began = time.perf_counter()
            order = crawl(web, one.mode, first, connection, judge.interval, pages_max, tell)
            seconds = round(time.perf_counter() - began, 3)
            figures = judge.figures(order)
            yield Run(one.ordering, place.label, one.seed, seconds, judge.pages, len(order), hot, figures)


def _refuse_without_anchors(recorded: Recorded, experiments: Sequence[Experiment]) -> None:
    """Else orderings by words would say what fifo says."""
    by_words = [one.ordering for one in experiments if "query=" in one.mode]
    if by_words and not recorded.anchors:
        raise BadInput(
            f"{by_words[0]} needs anchors, which this graph has none of: name a crawl's data folder"
        )


class _Place(NamedTuple):
    """A start page."""

    label: int | str
    url: str
    reached: Recorded  # what can be, from there
    judge: Judge


def _place(recorded: Recorded, start: str, wanted: Wanted) -> _Place:
    page, number = recorded.page(start), as_number(start)
    label = (start or str(recorded.labels[page])) if number is None else number
    reached = recorded.reachable(page)
    return _Place(label, recorded.urls[page], reached, Judge(reached, wanted))
