"""How long does an operation hold Redis while the ranker rescores a million URLs that wait?

    python bench/rescoring.py [--urls 1000000] [--servers 1,10000] [--first] [--json FILE]

Fills catalog and frontier (mode blend) with the same URLs, on one server and on many. Then a ranker in a
process of its own gives each of them another priority, while a worker here leases and completes pages with 50
links, as fast as it can. What holds Redis for longer than a millisecond is in its SLOWLOG; an embedded server
in a temporary folder. On a busy machine these are also the times in which Redis was not let run, but with
--first it goes before all other processes (for root).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from hashlib import sha1
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from memory import numbered
from rich.console import Console
from rich.table import Table
from synthetic import Pages

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import Connection, connect
from webcrawler.frontier import Done, Frontier, Politeness, Report, ordering
from webcrawler.frontier.slots import operations, source
from webcrawler.linkgraph.frontier_updates import FrontierUpdates
from webcrawler.records import Entry, Fetch, Lease
from webcrawler.urls import url_id

MODE = "blend"
LEASES = 16
WARM_UP = 50  # of the worker's rounds, before the ranker begins
SLOW_MICROSECONDS = 1_000
LIMIT_MS = 20.0  # that no operation may reach
Figures = dict[str, Any]


def main() -> None:
    arguments = _arguments()
    runs = [
        _measure(arguments.urls, int(servers), arguments.first) for servers in arguments.servers.split(",")
    ]
    for run in runs:
        Console().print(_table(run))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(runs, indent=2))
    if any(run["longest_ms"] > LIMIT_MS for run in runs):
        sys.exit(f"something held Redis for longer than {LIMIT_MS:g} ms")


def _measure(urls: int, servers: int, first: bool) -> Figures:
    with tempfile.TemporaryDirectory() as name, connect(None, folder := Path(name)) as connection:
        if first:
            pid = connection.client.info("server")["process_id"]
            os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))
        _fill(folder, connection, urls, servers)
        print(f"filled with {urls:,} URLs on {servers:,} servers", file=sys.stderr, flush=True)
        worker = _Worker(connection, servers)
        alone = [worker.round() for _ in range(WARM_UP)]
        _listen(connection)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes:
            told = processes.submit(rescore, folder)
            beside = [worker.round() for _ in iter(told.done, True)]
        slow = _heard(connection)
    return {
        "urls": urls,
        "servers": servers,
        "seconds": told.result(),
        "longest_ms": max((max(times) for times in slow.values()), default=0.0),
        "slow": {name: _of(times) for name, times in slow.items()},
        "worker_round_ms": {"alone": median(alone) * 1000, "beside the ranker": median(beside) * 1000},
    }


def rescore(folder: Path) -> float:
    """What the ranker does when it meets a frontier; in a process of its own."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        reordering = FrontierUpdates(catalog, {"CRAWL_DIR": str(folder)})
        began = perf_counter()
        reordering.step(lambda: True)
        seconds = perf_counter() - began
        reordering.disconnect()
    return seconds


class _Worker:
    """Leases and completes."""

    def __init__(self, connection: Connection, servers: int) -> None:
        self._frontier = _open(connection)
        self._pages = Pages(max(servers, 50), first_number=10**9)

    def round(self) -> float:
        """Seconds."""
        links = self._pages.even()
        began = perf_counter()
        leases = self._frontier.lease(LEASES).leases
        self._frontier.fetched([Report(lease, 0.0) for lease in leases])
        self._frontier.complete([Done(lease, "document", True, links) for lease in leases[:1]])
        self._frontier.complete([Done(lease, "document", True) for lease in leases[1:]])
        return perf_counter() - began


def _open(connection: Connection) -> Frontier:
    frontier = Frontier(connection.new_client(), ordering(MODE), politeness=Politeness(delay=0.0))
    frontier.open(MODE)
    return frontier


def _fill(folder: Path, connection: Connection, urls: int, servers: int) -> None:
    """Pages of a thousand links, ten to a transaction."""
    frontier = _open(connection)
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        for entries in _in_tens(_pages(urls, servers)):
            catalog.write([(entry, None) for entry in entries])
            for entry in entries:
                frontier.discover(entry.links, within_budgets=False)


def _pages(urls: int, servers: int) -> Iterator[Entry]:
    for number, links in enumerate(numbered(urls, servers)):
        url = f"http://seeds.example/{number}"
        lease = Lease(url_id(url), url, url, "http://seeds.example", 1)
        yield Entry(Fetch(lease, "done", "document", 1.0, status=200), links=tuple(links))


def _in_tens(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while some := [entry for entry, _ in zip(entries, range(10), strict=False)]:
        yield some


def _listen(connection: Connection) -> None:
    connection.client.config_set("slowlog-max-len", 1_000_000)
    connection.client.config_set("slowlog-log-slower-than", SLOW_MICROSECONDS)
    connection.client.slowlog_reset()


def _heard(connection: Connection) -> dict[str, list[float]]:
    """Milliseconds by operation, of those that were slow."""
    name_of = _names()
    found = defaultdict(list)
    for entry in connection.client.slowlog_get(1_000_000):
        words = entry["command"].decode(errors="replace").split(" ")
        name = name_of(words[1]) if words[0].lower() == "evalsha" else words[0]
        found[name].append(entry["duration"] / 1000)
    return dict(sorted(found.items()))


def _of(times: list[float]) -> Figures:
    return {"times": len(times), "median_ms": median(times), "longest_ms": max(times)}


def _names() -> Callable[[str], str]:
    names = {sha1(source(name).encode()).hexdigest(): name for name in operations()}
    return lambda sha: names.get(sha, "another script")


def _table(run: Figures) -> Table:
    rate = run["urls"] / run["seconds"]
    title = (
        f"{run['urls']:,} URLs on {run['servers']:,} servers: {run['seconds']:.1f} s, {rate:,.0f} a second"
    )
    table = Table("held Redis for over 1 ms", "times", "median, ms", "longest, ms", title=title)
    for name, slow in run["slow"].items():
        table.add_row(name, f"{slow['times']:,}", f"{slow['median_ms']:.1f}", f"{slow['longest_ms']:.1f}")
    for name, ms in run["worker_round_ms"].items():
        table.add_row(f"a worker's round, {name}", "", f"{ms:.1f}", "")
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--servers", default="1,10000", help="1,10000")
    parser.add_argument("--first", action="store_true", help="Redis goes first, on a machine that is busy")
    parser.add_argument("--json", metavar="FILE", help="the same figures")
    return parser.parse_args()


if __name__ == "__main__":
    main()
