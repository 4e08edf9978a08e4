"""Odd queries, one after the other: no exception, none too slow, and no memory that grows.

    python bench/queries.py CRAWL_DIR [--queries 100000] [--seed 1] [--json FILE]

A hundred of the worst by hand, with each ranking, then fuzzed ones (see oddqueries.py), each with a ranking,
a result page, added words, an explanation and a search within as it comes. One Searcher; memory is its
private one after the first tenth and at the end. A query that ends in an exception is printed.
"""

import argparse
import json
import re
import time
from array import array
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from oddqueries import odd_queries, worst_queries
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.search import Searcher
from webcrawler.search.rankings import RANKINGS
from webcrawler.text.analysis import terms

_SHOWN = 8  # of the slowest


class Tally:
    """What is known of some queries, in little memory."""

    def __init__(self) -> None:
        self.seconds, self.processor_seconds = array("d"), array("d")
        self.answered = self.exceptions = self.partial = 0
        self.slowest: list[tuple[float, float, str]] = []

    def add(self, seconds: float, processor_seconds: float, name: str) -> None:
        self.seconds.append(seconds)
        self.processor_seconds.append(processor_seconds)
        if len(self.slowest) < _SHOWN or seconds > self.slowest[-1][0]:
            self.slowest = sorted([*self.slowest, (seconds, processor_seconds, name)], reverse=True)[:_SHOWN]

    def figures(self) -> dict[str, Any]:
        by_time = sorted(self.seconds)
        return {
            "queries": len(by_time),
            "with hits": self.answered,
            "exceptions": self.exceptions,
            "stopped by the deadline": self.partial,
            "median_ms": 1000 * by_time[len(by_time) // 2],
            "p99_ms": 1000 * by_time[len(by_time) * 99 // 100],
            "slowest_ms": 1000 * by_time[-1],
            "slowest_processor_ms": 1000 * max(self.processor_seconds),
            "the slowest": [[name, 1000 * wall, 1000 * busy] for wall, busy, name in self.slowest],
        }


def main() -> None:
    arguments = _arguments()
    searcher = Searcher(arguments.crawl_dir)
    common, hosts = _words(arguments.crawl_dir)
    rankings = list(RANKINGS)
    worst, fuzzed = Tally(), Tally()
    for name, text in worst_queries(common, hosts).items():
        for ranking in rankings:
            _ask(searcher, worst, text, name, ranking=ranking)
    stream = _fuzzed(arguments.seed, rankings, common, hosts)
    private = []
    for share in (0.1, 0.9):
        for text, options in islice(stream, int(arguments.queries * share)):
            _ask(searcher, fuzzed, text, text[:60], **options)
        private.append(_private_bytes())
    figures = {
        "by hand": worst.figures(),
        "fuzzed": fuzzed.figures(),
        "private_bytes": {"after a tenth": private[0], "at the end": private[1]},
    }
    _print(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crawl_dir", type=Path, help="a data folder with an index")
    parser.add_argument("--queries", type=int, default=100_000, help="fuzzed ones (100,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _words(crawl_dir: Path) -> tuple[list[str], list[str]]:
    """Words of some thousand pages, the most frequent first, and hosts."""
    numbers = range(1, 20_000, 5)
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        found = Counter(
            term
            for text in catalog.texts(numbers).values()
            for term in terms(f"{text.title} {text.body[:3000]}")
        )
        servers = sorted({document.server for document in catalog.documents(numbers).values()})
    common = [term for term, _ in found.most_common(5_000)]
    return common, [server.partition("://")[2] for server in servers]


def _fuzzed(
    seed: int, rankings: list[str], common: list[str], hosts: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    chance = Random(-seed)
    for text in odd_queries(seed, common, hosts):
        yield (
            text,
            {
                "ranking": chance.choice(rankings),
                "start": chance.choice((0, 0, 0, 15, 900)),
                "within": chance.choices(common, k=chance.choice((0, 0, 0, 1, 2))),
                "add": chance.choices(common, k=chance.choice((0, 0, 0, 1, 3))),
                "explain": chance.random() < 0.1,
            },
        )


def _ask(searcher: Searcher, tally: Tally, text: str, name: str, **options: Any) -> None:
    started = time.perf_counter(), time.process_time()
    try:
        results = searcher.search(text, **options)
        tally.answered += results.total > 0
        tally.partial += "stopped after" in results.note
    except Exception as error:  # what is measured is that there is none
        tally.exceptions += 1
        print(f"{text[:500]!r} {options}: {error!r}")
    tally.add(time.perf_counter() - started[0], time.process_time() - started[1], name)


def _private_bytes() -> int:
    """Memory that is not a mapped file: the index is mapped, and counts as resident where it was read."""
    found = re.search(r"Anonymous: +(\d+) kB", Path("/proc/self/smaps_rollup").read_text())
    assert found
    return int(found[1]) * 1024


def _print(figures: dict[str, Any]) -> None:
    table = Table("", "by hand", "fuzzed")
    for row, value in figures["fuzzed"].items():
        if not isinstance(value, list):
            table.add_row(row.replace("_", " "), f"{figures['by hand'][row]:,.4g}", f"{value:,.4g}")
    Console().print(table)
    for column in ("by hand", "fuzzed"):
        for name, wall, busy in figures[column]["the slowest"]:
            print(f"{wall:8.0f} ms, {busy:6.0f} ms of processor  {ascii(name)[:60]}")
    for when, private in figures["private_bytes"].items():
        print(f"{private / 2**20:8.0f} MiB private {when}")


if __name__ == "__main__":
    main()
