"""Virtual crawls in many orders over one graph, measured."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from webcrawler.connection import Connection, connect
from webcrawler.errors import BadInput
from webcrawler.evaluation.figures import Evaluator, Metrics, Run
from webcrawler.evaluation.recorded import Recorded, as_number
from webcrawler.evaluation.virtual import Web, crawl
from webcrawler.orderings import arguments_of, ordering, ordering_type

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much

STOP_WHEN_ALONE = """
read -r never
kill "$1"
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
rm -rf "$2"
"""


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


def _arguments(name: str) -> tuple[str, ...]:
    """The arguments of an ordering that are not written out yet."""
    if "?" in name:
        return ()
    return arguments_of(ordering_type(name, by_path=True))


def _mode(name: str, seed: int | None, query: str) -> str:
    first, _, then = name.partition(":")
    takes, given = _arguments(first), {}
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


@contextmanager
def private_redis() -> Iterator[Connection]:
    """An embedded server without files; it ends with the block, or with this process if that is killed.

    For the latter a shell waits at a pipe of ours: when it closes unasked, the shell stops the server.
    """
    with (
        tempfile.TemporaryDirectory(prefix="webcrawler-") as folder,
        connect(None, Path(folder), fsync="no") as connection,
    ):
        server = connection.client.info("server")["process_id"]
        command = ["sh", "-c", STOP_WHEN_ALONE, "sh", str(server), folder]
        shell = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        try:
            connection.client.config_set("appendonly", "no")
            yield connection
        finally:
            shell.kill()
            shell.communicate()


def runs(
    recorded: Recorded,
    starts: Sequence[str],
    experiments: Sequence[Experiment],
    metrics: Metrics,
    connection: Connection,
    progress: Progress,
    pages_max: int = 0,
) -> Iterator[Run]:
    """Each experiment from each start page, as soon as it is over. All errors come before the first.

    Args:
        connection: to a Redis of our own; it is emptied.
        pages_max: visits after which a crawl stops; 0: all pages.
    Raises:
        BadInput: there is no such start page, --hot is wrong, or an ordering by words needs anchors.
    """
    by_words = [one.ordering for one in experiments if "query=" in one.mode]
    if by_words and not recorded.anchors:  # they would order as fifo does
        raise BadInput(
            f"{by_words[0]} needs anchors, which this graph lacks: name the data folder of a crawl"
        )
    reachable = [recorded.reachable(recorded.page(start)) for start in starts]
    evaluators = [Evaluator(reached, metrics) for reached in reachable]
    for start, reached, evaluator in zip(starts, reachable, evaluators, strict=True):
        web, page, label = Web(reached), recorded.page(start), as_number(start)
        first = web.page_of[recorded.urls[page]]
        hot = {name: int(are_hot.sum()) for name, are_hot in evaluator.hot.items()}
        for one in experiments:
            tell = partial(progress, f"{one.mode} {start}".rstrip())
            began = time.perf_counter()
            order = crawl(web, one.mode, first, connection, evaluator.interval, pages_max, tell)
            yield Run(
                ordering=one.ordering,
                start=(start or str(recorded.labels[page])) if label is None else label,
                seed=one.seed,
                seconds=round(time.perf_counter() - began, 3),
                pages=evaluator.pages,
                visits=len(order),
                hot=hot,
                figures=evaluator.figures(order),
            )
