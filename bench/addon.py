"""Processor time of other people's spiders: queue in memory, scrapy-redis, and our frontier as an add-on.

    python bench/addon.py --docweb DIR [--proxy URL] [--rounds 5] [--spiders extractor,pattern] [--json FILE]
                          [--queues memory,scrapy-redis,add-on]
    python bench/addon.py --imports [--rounds 7]

Each spider crawls docweb over each queue in turn, by the rules of crawl.py. A ratio is the median over
rounds of the ratio within a round. The crawling process alone counts; Redis stands apart.

`--imports` measures instead how long the add-on takes to import beyond what a crawl of Scrapy imports: the
least of the rounds, as other programs only add to it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from contenders import Result, Web, add_on, plain, scrapy_redis
from rich.console import Console
from rich.table import Table
from serving import proxy

QUEUES: dict[str, Callable[[Web, Path, str], Result]] = {
    "memory": plain,
    "scrapy-redis": scrapy_redis,
    "add-on": add_on,
}
Round = dict[str, Result]
IMPORTS = """
from time import process_time
began = process_time()
import scrapy.crawler, scrapy.core.downloader.handlers.http11, scrapy.downloadermiddlewares.robotstxt
plain = process_time()
import webcrawler.addon, webcrawler.scheduler
print(plain - began, process_time() - plain)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docweb", type=Path, metavar="DIR", help="made by `docweb.py build`; is served")
    parser.add_argument("--proxy", default="", metavar="URL", help="of a docweb that is served already")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of all of them (5)")
    parser.add_argument("--spiders", default="extractor,pattern", help="of bench/peers (extractor,pattern)")
    parser.add_argument("--queues", default=",".join(QUEUES), help=f"some of {', '.join(QUEUES)} (all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run")
    parser.add_argument("--imports", action="store_true", help="measure imports, and nothing else")
    arguments = parser.parse_args()
    if arguments.imports:
        return _print_imports(arguments.rounds)
    queues = arguments.queues.split(",")
    with proxy(arguments.docweb, arguments.proxy) as url:
        web = Web(url, Path(), "")
        measured = {
            spider: [_round(spider, queues, web) for _ in range(arguments.rounds)]
            for spider in arguments.spiders.split(",")
        }
    _print(measured, queues)
    if arguments.json:
        rows = {
            spider: [{queue: result._asdict() for queue, result in one.items()} for one in rounds]
            for spider, rounds in measured.items()
        }
        arguments.json.write_text(json.dumps(rows, indent=2))


def _print_imports(rounds: int) -> None:
    runs = [subprocess.check_output([sys.executable, "-c", IMPORTS], text=True) for _ in range(rounds)]
    plain, ours = (min(map(float, column)) for column in zip(*map(str.split, runs), strict=True))
    print(f"processor time of imports, s: Scrapy {plain:.2f}, the add-on {ours:.2f} more")


def _round(spider: str, queues: list[str], web: Web) -> Round:
    results: Round = {}
    for queue in queues:
        with tempfile.TemporaryDirectory() as folder:
            results[queue] = QUEUES[queue](web, Path(folder), spider)
        print(f"{spider} {queue}: {results[queue]}", file=sys.stderr, flush=True)
    return results


def _print(measured: dict[str, list[Round]], queues: list[str]) -> None:
    table = Table(
        "spider", "queue", "CPU s", "Redis", "wall s", "requests", *(f"× {queue}" for queue in queues)
    )
    for spider, rounds in measured.items():
        for queue in queues:
            wall, cpu, redis, requests = (
                median(column) for column in zip(*(one[queue][:4] for one in rounds), strict=True)
            )
            ratios = [
                median(one[queue].cpu_seconds / one[other].cpu_seconds for one in rounds) for other in queues
            ]
            table.add_row(
                spider, queue, f"{cpu:.1f}", f"{redis:.1f}", f"{wall:.1f}", f"{requests:,.0f}",
                *(f"{ratio:.2f}" for ratio in ratios),
            )  # fmt: skip
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
