"""The frontier side by side with scrapy-redis on the same server, in one run.

    python bench/frontier.py [--rounds 5] [--json FILE]         speed
    python bench/frontier.py --memory [--urls 1000000]          bytes per waiting and per seen URL

Speed is from the Python call to its answer, mode breadth, defaults but for a delay of 0; links and requests
are made before. Rounds are interleaved, the table shows medians. scrapy-redis: `enqueue_request`, that is
request_seen and push, and pop, one request each, as its scheduler does. An embedded server in a temporary
folder serves both. The `webcrawler` that is measured is that of the current folder (or of PYTHONPATH).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

if "PYTHONPATH" not in os.environ:
    sys.path.insert(0, str(Path.cwd()))

import memory
from rich.console import Console
from rich.table import Table
from synthetic import BATCH, Pages, ScrapyRedis, open_frontier, request

import webcrawler
from webcrawler.connection import Connection, connect
from webcrawler.frontier import Done, Frontier, Report
from webcrawler.records import Link

LEASES = 16
PEER_SHARE = 10  # scrapy-redis gets a tenth of the work: figures are per URL
Rates = dict[str, float]  # URLs a second, by operation
Batches = list[list[Link]]

PEERS = {  # what of scrapy-redis an operation stands beside
    "discover, new": "scrapy-redis enqueue, new",
    "discover, new, 50 servers": "scrapy-redis enqueue, new",
    "discover, known by Redis": "scrapy-redis enqueue, known",
    "discover, known by the client": "scrapy-redis enqueue, known",
    "lease, fetched, complete": "scrapy-redis pop",
    "… with 50 links known by Redis": "scrapy-redis pop",
    "… with 50 links known by the client": "scrapy-redis pop",
}


def main() -> None:
    arguments = _arguments()
    print(f"webcrawler: {Path(webcrawler.__file__).parent}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    if arguments.memory:
        figures: object = memory.measure(arguments.urls, arguments.urls_per_server)
    else:
        figures = _speed(arguments.rounds, arguments.batches, arguments.servers)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of everything (5)")
    parser.add_argument("--batches", type=int, default=500, metavar="N", help="of 50 links, a round (500)")
    parser.add_argument(
        "--servers", type=int, default=10_000, metavar="N", help="that are linked to (10,000)"
    )
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--urls", type=int, default=1_000_000, metavar="N", help="for --memory (1,000,000)")
    parser.add_argument(
        "--urls-per-server", type=int, default=memory.URLS_PER_SERVER, metavar="N", help="for --memory (100)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the same figures, and every round's")
    return parser.parse_args()


def _speed(rounds: int, batches: int, servers: int) -> object:
    runs: list[Rates] = []
    with tempfile.TemporaryDirectory() as folder, connect(None, Path(folder)) as connection:
        pages = Pages(servers)
        for number in range(rounds):
            runs.append(_ours(connection, pages, batches, number) | _peer(connection, pages, batches))
            print(f"round {number + 1}: load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    medians = {operation: median(run[operation] for run in runs) for operation in runs[0]}
    _print(medians)
    return {"rounds": runs, "median": medians, "ratios": _ratios(medians)}


def _ours(connection: Connection, pages: Pages, batches: int, number: int) -> Rates:
    """One round: URLs a second by operation."""
    first, second = (open_frontier(connection, f"{worker}-{number}") for worker in ("ann", "bob"))
    new, spread = ([page() for _ in range(batches)] for page in (pages.zipf, pages.distinct))
    rates = {
        "discover, new": _discover(first, new),
        "discover, new, 50 servers": _discover(first, spread),
        "discover, known by Redis": _discover(second, new),
        "discover, known by the client": _discover(second, new),
    }
    third = open_frontier(connection, f"cid-{number}")
    cycles: dict[str, tuple[Frontier, Batches]] = {
        "lease, fetched, complete": (third, [[] for _ in new]),
        "… with 50 links known by Redis": (third, new),
        "… with 50 links known by the client": (second, new),
    }
    rates |= {name: _cycles(frontier, links) for name, (frontier, links) in cycles.items()}
    for frontier in (first, second, third):
        frontier.leave()
    return rates


def _peer(connection: Connection, pages: Pages, batches: int) -> Rates:
    peer = ScrapyRedis(connection.new_client())
    links = [link for _ in range(batches // PEER_SHARE) for link in pages.zipf()]
    requests = [request(link) for link in links]
    return {
        "scrapy-redis enqueue, new": _rate(len(requests), lambda: peer.enqueue(requests)),
        "scrapy-redis enqueue, known": _rate(len(requests), lambda: peer.enqueue(requests)),
        "scrapy-redis pop": _rate(len(requests), lambda: peer.pop(len(requests))),
    }


def _discover(frontier: Frontier, batches: Batches) -> float:
    def run() -> None:
        for batch in batches:
            frontier.discover(batch)

    return _rate(len(batches) * BATCH, run)


def _cycles(frontier: Frontier, pages: Batches) -> float:
    """Leases 16 at a time, one a page: reports its download, completes it with the page's links."""

    def run() -> None:
        at = 0
        while at < len(pages):
            leases = frontier.lease(min(LEASES, len(pages) - at)).leases
            if not leases:
                sys.exit("bench: nothing is due")
            frontier.fetched([Report(lease, 0.0) for lease in leases])
            frontier.complete(
                [Done(lease, "document", True, pages[at + i]) for i, lease in enumerate(leases)]
            )
            at += len(leases)

    return _rate(len(pages), run)


def _rate(urls: int, run: Callable[[], None]) -> float:
    started = perf_counter()
    run()
    return urls / (perf_counter() - started)


def _ratios(medians: Rates) -> Rates:
    return {name: medians[name] / medians[peer] for name, peer in PEERS.items()}


def _print(medians: Rates) -> None:
    table = Table("operation", "URLs/s", "x scrapy-redis")
    for column in table.columns[1:]:
        column.justify = "right"
    ratios = _ratios(medians)
    for name, rate in medians.items():
        table.add_row(name, f"{rate:,.0f}", f"{ratios[name]:.1f}" if name in ratios else "")
    Console().print(table)


if __name__ == "__main__":
    main()
