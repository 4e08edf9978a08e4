"""Does an operation take longer in a frontier of ten million waiting URLs than in one of a hundred thousand?

Three servers side by side, so that all sizes are measured in the same minutes: 100,000 URLs with as many on
a server as in the big one; 100,000 URLs on as many servers as the big one has; the big one.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from memory import URLS_PER_SERVER, numbered, used
from rich.console import Console
from rich.table import Table
from synthetic import BATCH, Pages, link, open_frontier

from webcrawler.connection import connect
from webcrawler.frontier import Done, Failed, Frontier, Report, inspect
from webcrawler.records import Lease, Link

SMALL = 100_000
CALLS = 20  # of each operation in a round
LEASES = 16
FILLERS = 2
Times = dict[str, list[float]]  # seconds of each call, by operation


class Size(NamedTuple):
    urls: int
    servers: int

    def __str__(self) -> str:
        return f"{self.urls:,} over {self.servers:,}"


def measure(urls: int, rounds: int) -> dict[str, dict[str, float]]:
    """Prints a table; the figures by size and operation."""
    servers = max(1, urls // URLS_PER_SERVER)
    sizes = [Size(SMALL, SMALL // URLS_PER_SERVER), Size(SMALL, servers), Size(urls, servers)]
    with ExitStack() as opened:
        filled = [opened.enter_context(_Filled(size)) for size in sizes]
        for number in range(rounds):
            for one in filled:
                one.round(number)
            print(f"round {number + 1}: load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
        figures = {str(one.size): one.figures() for one in filled}
    _print(figures)
    return figures


class _Filled:
    """A server of its own that holds a frontier of one size, and what was measured in it."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self._times: Times = {}
        self._pages = Pages(size.servers, first_number=size.urls)

    def __enter__(self) -> _Filled:
        self._opened = ExitStack()
        folder = Path(self._opened.enter_context(tempfile.TemporaryDirectory()))
        self._connection = self._opened.enter_context(connect(None, folder))
        # A log that is rewritten in the background would take one of two processors.
        self._connection.client.config_set("auto-aof-rewrite-percentage", 0)
        before, started = used(self._connection.client), perf_counter()
        _fill(folder, self.size)
        seconds = perf_counter() - started
        self._bytes = used(self._connection.client)["used_memory"] - before["used_memory"]
        rate = f"{self.size.urls / seconds:,.0f} URLs/s, {FILLERS} processes"
        print(f"filled {self.size}: {rate}", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def round(self, number: int) -> None:
        frontiers = [open_frontier(self._connection, f"{name}-{number}") for name in ("ann", "bob")]
        for name, seconds in _Round(*frontiers).run(self._pages, self.size).items():
            self._times.setdefault(name, []).extend(seconds)

    def figures(self) -> dict[str, float]:
        """Milliseconds of each operation, in the median; and the frontier's memory."""
        times = {name: median(seconds) * 1000 for name, seconds in self._times.items()}
        return {**times, "bytes/URL": self._bytes / self.size.urls}


class _Round:
    """Times every operation a few times, on other URLs each time."""

    def __init__(self, ann: Frontier, bob: Frontier) -> None:
        self._ann, self._bob = ann, bob
        self._times: Times = {}

    def run(self, pages: Pages, size: Size) -> Times:
        ann, bob = self._ann, self._bob
        for _ in range(CALLS):
            self._time("heartbeat", ann.expire, 60.0)
            self._time("50 new", ann.discover, pages.even())
            self._time("50 known", bob.discover, _known(size))
            self._time("16 through", self._visit)
            failed = [Failed(lease, "failed/timeout", True) for lease in self._fetched()]
            self._time("fail 16", ann.fail, failed)
            leases = ann.lease(LEASES).leases
            self._time("release 16", ann.release, leases)
            self._time("postpone", ann.postpone, leases[0].server, 0.0)
            bob.expire(60.0)
            bob.lease(LEASES)
            self._time("expire 16", ann.expire_dead, lambda worker: worker == bob.worker)
            self._time("stats", inspect.stats, ann)
        ann.leave()
        return self._times

    def _visit(self) -> None:
        """Lease, fetched, complete."""
        self._ann.complete([Done(lease, "document", True) for lease in self._fetched()])

    def _fetched(self) -> list[Lease]:
        leases = self._ann.lease(LEASES).leases
        self._ann.fetched([Report(lease, 0.0) for lease in leases])
        return leases

    def _time(self, name: str, call: Callable[..., object], *arguments: object) -> None:
        started = perf_counter()
        call(*arguments)
        self._times.setdefault(name, []).append(perf_counter() - started)


def _known(size: Size) -> list[Link]:
    """A page's worth of what the frontier was filled with: 20 in a row, and 30 anywhere."""
    start = random.randrange(size.urls - BATCH)
    numbers = [*range(start, start + 20), *random.sample(range(size.urls), BATCH - 20)]
    return [link(number * size.servers // size.urls, number) for number in numbers]


def _fill(folder: Path, size: Size) -> None:
    """In several processes, a share of the servers each."""
    share = -(-size.urls // FILLERS)
    fork = get_context("fork")
    processes = [
        fork.Process(target=_fill_part, args=(folder, size, start, min(start + share, size.urls)))
        for start in range(0, size.urls, share)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            sys.exit("bench: filling failed")


def _fill_part(folder: Path, size: Size, first: int, last: int) -> None:
    with connect(None, folder) as connection:
        frontier = open_frontier(connection, f"filler-{first}")
        for links in numbered(*size, first, last):
            frontier.discover(links)


def _print(figures: dict[str, dict[str, float]]) -> None:
    same, as_many, big = figures.values()
    table = Table(
        "ms a call", *figures, "growth", "… same servers", title="Waiting URLs over servers, medians"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for name, now in big.items():
        cells = [f"{size[name]:.3f}" for size in figures.values()]
        table.add_row(name, *cells, f"{now / same[name]:.2f}", f"{now / as_many[name]:.2f}")
    Console().print(table)
