"""One, two and four workers on one crawl (`-a agents=N`): what they gain, and what they cost each other.

    python bench/workers.py --docweb DIR [--workers 1,2,4] [--rounds 3] [--json FILE]

The web answers after 50 ms, as servers far away do. A worker has few downloads at once, so that they and
nothing else bound it. Everything is on: parsers, WARC, catalog, index. Rounds are interleaved, the table
shows medians.

    pages/s   documents by wall time, from the start of the first process to the exit of the last
    ms/page   processor time of all processes, Redis included     own  that of the workers alone
    trips     reads of Redis by page, KB what went over its lines by page
    overlap   share of the hosts that two workers fetched from   twice  fetches of a URL fetched before
    order     share of all links that lead to the first half of the documents: the more, the better
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contenders import Web, catch_up, our_crawl
from processes import measure
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect

TWICE = "SELECT count(*) - count(DISTINCT number) FROM fetches"
ORDER = "SELECT number FROM fetches GROUP BY number ORDER BY min(fetched)"


class Run(NamedTuple):
    """One crawl by some workers; its fields are the columns of the table."""

    pages_s: float
    wall_s: float
    documents: float
    ms_page: float
    own: float
    redis_ms: float
    trips: float
    kb: float
    overlap: float
    twice: float
    order: float


def main() -> None:
    arguments = _arguments()
    runs: dict[int, list[Run]] = {workers: [] for workers in arguments.workers}
    with proxy(arguments.docweb, arguments.proxy, arguments.delay_ms) as url:
        for _ in range(arguments.rounds):
            for workers, done in runs.items():
                done.append(_crawl(Web(url, Path(), arguments.mode, arguments.pages), workers, arguments))
                print(f"{workers}: {done[-1]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    medians = {workers: Run._make(map(median, zip(*done, strict=True))) for workers, done in runs.items()}
    _print(medians)
    if arguments.json:
        rows = {str(workers): [run._asdict() for run in done] for workers, done in runs.items()}
        arguments.json.write_text(json.dumps(rows, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docweb", type=Path, metavar="DIR", help="made by `docweb.py build`")
    parser.add_argument(
        "--proxy", default="", metavar="URL", help="where it is served already, without delay"
    )
    parser.add_argument("--delay-ms", type=int, default=50, metavar="MS", help="before each answer (50)")
    parser.add_argument("--workers", type=_numbers, default=[1, 2, 4], metavar="N,N", help="(1,2,4)")
    parser.add_argument("--concurrency", type=int, default=2, metavar="N", help="downloads of a worker (2)")
    parser.add_argument("--pause", type=float, default=0.0, metavar="S", help="FRONTIER_DELAY (0)")
    parser.add_argument("--pages", type=int, default=0, metavar="N", help="of each crawl (all)")
    parser.add_argument("--mode", default="breadth", help="(breadth)")
    parser.add_argument("--partitions", type=int, default=0, metavar="N", help="(as agents have them)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of all (1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _crawl(web: Web, workers: int, arguments: argparse.Namespace) -> Run:
    """On a new data folder and an empty Redis."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        connect(None, Path(name) / "redis") as server,
    ):
        folder = Path(name)
        command, environment = our_crawl(web, folder)
        socket = server.client.connection_pool.connection_kwargs["path"]
        settings = {"REDIS_URL": f"unix://{socket}", "FRONTIER_DELAY": arguments.pause}
        settings |= {
            "CONCURRENT_REQUESTS": arguments.concurrency,
            "FRONTIER_PARTITIONS": arguments.partitions,
        }
        settings |= {"FRONTIER_SLOWNESS": 0, "FRONTIER_TRIES": 3} if arguments.pause else {}
        settings |= {"FRONTIER_SERVER_CONCURRENCY": 1} if arguments.pause else {}
        environment |= {name: str(value) for name, value in settings.items()}
        command += ["-a", f"agents={workers}"]
        before = server.client.info()
        measured = measure(command, environment, ROOT, folder / "log")
        if measured.status:
            sys.exit(
                f"bench: the crawl ended with {measured.status}:\n{(folder / 'log').read_text()[-3000:]}"
            )
        after = server.client.info()
        catch_up(folder / "crawl")  # the next run shall have the machine
        return _run(
            folder, measured.wall_seconds, measured.cpu_seconds, measured.others_cpu_seconds, before, after
        )


def _run(
    folder: Path, wall: float, cpu: float, others: float, before: dict[str, float], after: dict[str, float]
) -> Run:
    def used(*names: str) -> float:
        return sum(after[name] - before[name] for name in names)

    counts = [json.loads(file.read_text()) for file in folder.glob("counts.json*")]
    documents = max(count["documents"] for count in counts)  # the first has counted all
    own = max(cpu, sum(count["cpu_seconds"] for count in counts))
    domains = Counter(domain for count in counts for domain in count["domains"])
    redis = used("used_cpu_user", "used_cpu_sys")
    kb = used("total_net_input_bytes", "total_net_output_bytes") / 1000
    with closing(sqlite3.connect(folder / "crawl" / "catalog.sqlite")) as catalog:
        (twice,) = catalog.execute(TWICE).fetchone()
        fetched = [number for (number,) in catalog.execute(ORDER)]
    return Run(
        documents / wall,
        wall,
        documents,
        1000 * (cpu + others + redis) / documents,
        1000 * own / documents,
        1000 * redis / documents,
        used("total_reads_processed") / documents,
        kb / documents,
        sum(number > 1 for number in domains.values()) / len(domains),
        twice,
        _order(folder, fetched),
    )


def _order(folder: Path, fetched: list[int]) -> float:
    with closing(Catalog(folder / "crawl" / "catalog.sqlite", readonly=True)) as catalog:
        links = Counter(link.target for link in catalog.links.all())
    return sum(links[number] for number in fetched[: len(fetched) // 2]) / sum(links[n] for n in fetched)


def _print(medians: dict[int, Run]) -> None:
    first = next(iter(medians.values()))
    table = Table("workers", "x", *(field.replace("_", "/") for field in Run._fields))
    for workers, run in medians.items():
        table.add_row(str(workers), f"{run.pages_s / first.pages_s:.2f}", *(f"{value:.3g}" for value in run))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
