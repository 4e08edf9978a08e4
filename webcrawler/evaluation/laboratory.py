"""Virtual crawls in many orders over one graph, measured."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from webcrawler.connection import Connection, connect
from webcrawler.errors import BadInput
from webcrawler.evaluation.figures import Figures, Judge, Wanted
from webcrawler.evaluation.recorded import Recorded, as_number
from webcrawler.evaluation.virtual import Web, crawl
from webcrawler.orderings import arguments_of, ordering, ordering_type


class Experiment(NamedTuple):
    """One crawl to be made."""

    ordering: str  # as it was asked for: "blend", "hot:backlink"
    mode: str  # as the frontier knows it: "blend?seed=1"
    seed: int | None


def experiments(orderings: Sequence[str], seeds: Sequence[int], query: str = "") -> list[Experiment]:
    """One for each ordering, or for each seed of those that take one.

    `hot:MODE` is the ordering `hot` with both queues in the order of MODE. Orderings that take a query get
    that one. `name?word=value` is left as it is.

    Raises:
        BadInput: there is no such ordering.
    """
    found = []
    for name in orderings:
        for seed in seeds if _takes_seed(name) else (None,):
            mode = _mode(name, seed, query)
            ordering(mode)
            found.append(Experiment(name, mode, seed))
    return found


def _arguments(name: str) -> tuple[str, ...]:
    """Those that are still to be given."""
    if "?" in name:
        return ()
    return arguments_of(ordering_type(name, by_path=True))


def _takes_seed(name: str) -> bool:
    first, _, then = name.partition(":")
    return "seed" in _arguments(first) or bool(then and _takes_seed(then))


def _mode(name: str, seed: int | None, query: str) -> str:
    first, _, then = name.partition(":")
    takes, given = _arguments(first), {}
    if "query" in takes:
        if not query:
            raise BadInput(f"--orderings: {name} wants a query: add --query WORDS")
        given["query"] = query
    if "seed" in takes and seed is not None:
        given["seed"] = str(seed)
    if then and "then" not in takes:
        raise BadInput(f"--orderings: {first} takes no other ordering after a colon, as hot:backlink does")
    if then:
        given["then"] = _mode(then, seed, query)
    return f"{first}?{urlencode(given)}" if given else first


STOP_WHEN_ALONE = """
read -r never
kill "$1"
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
rm -rf "$2"
"""

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
    """An embedded server for as long as this lasts, which writes nothing to disk.

    It ends with this process, even where that is killed with SIGKILL.
    """
    with (
        tempfile.TemporaryDirectory(prefix="webcrawler-") as folder,
        connect(None, Path(folder), fsync="no") as connection,
        _ended_with_this_process(connection.client.info("server")["process_id"], folder),
    ):
        connection.client.config_set("appendonly", "no")
        yield connection


@contextmanager
def _ended_with_this_process(server: int, folder: str) -> Iterator[None]:
    """A shell that waits at a pipe of ours: when it closes unasked, the shell stops the server."""
    command = ["sh", "-c", STOP_WHEN_ALONE, "sh", str(server), folder]
    shell = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield
    finally:
        shell.kill()
        shell.communicate()


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
