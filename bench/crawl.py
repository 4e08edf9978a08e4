"""This project side by side with bare Scrapy, scrapy-redis and crawlee-python on docweb.

    python bench/crawl.py --docweb DIR [--rounds 3] [--only ours,plain] [--json FILE]

All start at http://directory.test/ with the same rules: no robots.txt, no delays, 32 connections to a
server, http only, no retries. Rounds are interleaved, the table shows medians. Wall time is that of the
crawling process from its start to its exit.

    CPU s   of the crawling process            others  of those it started (parsers, Redis, follower)
    index   seconds after its exit until the index held every document (ours alone has one)
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

from contenders import CONTENDERS, Result, Web
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy

REQUESTS_TOLERANCE = 0.02


def main() -> None:
    arguments = _arguments()
    with proxy(arguments.docweb, arguments.proxy) as url:
        web = Web(url, arguments.peer_env.absolute(), arguments.mode, arguments.pages)
        results = _rounds(arguments.only, arguments.rounds, web)
    medians = {name: _median(runs) for name, runs in results.items()}
    _print(medians)
    if arguments.json:
        rows = {name: [run._asdict() for run in runs] for name, runs in results.items()}
        arguments.json.write_text(json.dumps({"runs": rows, "median": _rows(medians)}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--docweb", type=Path, metavar="DIR", help="a folder made by `docweb.py build`; is served"
    )
    parser.add_argument("--proxy", default="", metavar="URL", help="of a docweb that is served already")
    parser.add_argument(
        "--rounds", type=int, default=1, metavar="N", help="of all of them, one after the other (1)"
    )
    parser.add_argument("--pages", type=int, default=0, metavar="N", help="of each crawl (all)")
    parser.add_argument(
        "--only", type=_names, default=list(CONTENDERS), metavar="NAMES", help="; ".join(CONTENDERS)
    )
    parser.add_argument("--mode", default="breadth", help="of our crawl (breadth)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every run and the medians")
    parser.add_argument(
        "--peer-env",
        type=Path,
        default=ROOT / ".bench-env",
        metavar="DIR",
        help="for crawlee (.bench-env)",
    )
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - CONTENDERS.keys():
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(CONTENDERS)}")
    return names


def _rounds(names: list[str], rounds: int, web: Web) -> dict[str, list[Result]]:
    results: dict[str, list[Result]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                results[name].append(CONTENDERS[name](web, Path(folder)))
            print(f"{name}: {results[name][-1]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    return results


def _median(runs: list[Result]) -> Result:
    columns = zip(*runs, strict=True)
    return Result._make(None if None in column else median(column) for column in columns)


def _rows(medians: dict[str, Result]) -> dict[str, dict[str, float | None]]:
    return {
        name: result._asdict()
        | {f"ratio_to_{peer}": _ratio(medians, name, peer) for peer in ("plain", "scrapy-redis")}
        for name, result in medians.items()
    }


def _ratio(medians: dict[str, Result], name: str, peer: str) -> float | None:
    return medians[name].wall_seconds / medians[peer].wall_seconds if peer in medians else None


COLUMNS: dict[str, Callable[[dict[str, Result], str], str]] = {
    "wall s": lambda all, name: f"{all[name].wall_seconds:.1f}",
    "CPU s": lambda all, name: f"{all[name].cpu_seconds:.1f}",
    "others": lambda all, name: f"{all[name].others_cpu_seconds:.1f}",
    "requests": lambda all, name: f"{all[name].requests:,.0f}",
    "documents": lambda all, name: f"{all[name].documents:,.0f}",
    "× plain": lambda all, name: _number(_ratio(all, name, "plain")),
    "× scrapy-redis": lambda all, name: _number(_ratio(all, name, "scrapy-redis")),
    "index": lambda all, name: _number(all[name].catch_up_seconds),
}


def _print(medians: dict[str, Result]) -> None:
    table = Table("", *COLUMNS)
    for name in medians:
        table.add_row(name, *(column(medians, name) for column in COLUMNS.values()))
    Console(width=100).print(table)
    requests = [result.requests for result in medians.values()]
    spread = max(requests) / min(requests) - 1
    verdict = "within" if spread <= REQUESTS_TOLERANCE else "NOT within"
    print(f"Requests are {verdict} {REQUESTS_TOLERANCE:.0%} of each other ({spread:.2%}).")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    main()
