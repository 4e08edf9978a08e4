"""Two workers on one crawl beside one worker: a frontier and a data folder, two `scrapy crawl index`.

    python bench/workers.py --docweb DIR [--rounds 3] [--concurrency 2] [--json FILE]

docweb answers after 50 ms, as a server far away does. A worker has few downloads at once, so that they and
nothing else bound it: no delays, no limit for a server. Then two workers have twice as many, and the ratio
says what they cost each other. Everything is on: parsers, WARC, catalog, index. Redis is a server at a
REDIS_URL. Wall time is from the start of the first to the exit of the last; rounds are interleaved, the
table shows medians. `twice` counts fetches of a URL that was fetched before.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contenders import Web, our_crawl
from processes import Measured, measure
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy

from webcrawler.connection import connect

GOAL = 1.6
TWICE = "SELECT count(*) - count(DISTINCT number) FROM fetches"


class Run(NamedTuple):
    """One crawl by some workers."""

    wall_seconds: float
    requests: int
    documents: int
    twice: int
    cpu_seconds: float  # of the workers
    others_cpu_seconds: float  # of what they started: parsers, follower
    redis_cpu_seconds: float
    requests_by_worker: list[int]


def main() -> None:
    arguments = _arguments()
    runs: dict[int, list[Run]] = {1: [], arguments.workers: []}
    with proxy(arguments.docweb, "", arguments.delay_ms) as url:
        for _ in range(arguments.rounds):
            for workers, done in runs.items():
                done.append(_crawl(Web(url, Path(), "breadth"), workers, arguments.concurrency))
                print(f"{workers}: {done[-1]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    ratio = _wall(runs[1]) / _wall(runs[arguments.workers])
    _print(runs, ratio)
    if arguments.json:
        rows = {str(workers): [run._asdict() for run in done] for workers, done in runs.items()}
        arguments.json.write_text(json.dumps({"runs": rows, "ratio": ratio, "goal": GOAL}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docweb", type=Path, metavar="DIR", required=True, help="made by `docweb.py build`")
    parser.add_argument("--delay-ms", type=int, default=50, metavar="MS", help="before each answer (50)")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="beside one (2)")
    parser.add_argument("--concurrency", type=int, default=2, metavar="N", help="downloads of a worker (2)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of both (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run and the ratio")
    return parser.parse_args()


def _crawl(web: Web, workers: int, concurrency: int) -> Run:
    """By workers that are started at the same time, on a new data folder and an empty Redis."""
    with tempfile.TemporaryDirectory() as name, connect(None, Path(name) / "redis") as connection:
        folder = Path(name)
        socket = connection.client.connection_pool.connection_kwargs["path"]
        settings = {"REDIS_URL": f"unix://{socket}", "CONCURRENT_REQUESTS": str(concurrency)}
        own = [folder / str(worker) for worker in range(workers)]
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            measured = list(pool.map(lambda each: _work(web, folder, each, settings), own))
        wall = time.perf_counter() - started
        counts = [json.loads((each / "counts.json").read_text()) for each in own]
        used = connection.client.info("cpu")
        with closing(sqlite3.connect(folder / "crawl" / "catalog.sqlite")) as catalog:
            (twice,) = catalog.execute(TWICE).fetchone()
    requests = [count["requests"] for count in counts]
    documents = sum(count["documents"] for count in counts)
    cpu, others = (sum(times) for times in zip(*(one[2:] for one in measured), strict=True))
    redis = used["used_cpu_user"] + used["used_cpu_sys"]
    return Run(wall, sum(requests), documents, twice, cpu, others, redis, requests)


def _work(web: Web, folder: Path, own: Path, settings: dict[str, str]) -> Measured:
    """One worker; its log and counts go into a folder of its own."""
    own.mkdir()
    command, environment = our_crawl(web, own)
    environment |= {"CRAWL_DIR": str(folder / "crawl"), **settings}
    measured = measure(command, environment, ROOT, own / "log")
    if measured.status:
        sys.exit(f"bench: a worker ended with {measured.status}:\n{(own / 'log').read_text()[-3000:]}")
    return measured


def _wall(runs: list[Run]) -> float:
    return median(run.wall_seconds for run in runs)


def _print(runs: dict[int, list[Run]], ratio: float) -> None:
    columns = ("workers", "wall s", "requests", "documents", "twice", "CPU s", "others", "Redis", "of each")
    table = Table(*columns, title=f"ratio {ratio:.2f} (goal {GOAL})")
    for workers, done in runs.items():
        run = sorted(done)[len(done) // 2]
        *numbers, by_worker = run
        cells = (f"{number:,.1f}" if isinstance(number, float) else f"{number:,}" for number in numbers)
        table.add_row(str(workers), *cells, " + ".join(map(str, by_worker)))
    Console().print(table)


if __name__ == "__main__":
    main()
