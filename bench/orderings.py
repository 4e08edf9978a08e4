"""Live crawls in different orders, beside each other: how soon have they found the important pages?

    python bench/orderings.py --docweb DIR [--documents 5000] [--modes fifo,breadth,backlink,pagerank,blend]

First the whole of docweb is crawled; the importance of its pages is their PageRank (d = 0.9) in that. Then
mode crawls its first documents, from an empty data folder, delays off, everything on. The table says
which share of the hot pages they found by then, and the area under that curve (50 where the crawl finds them
as evenly as it goes). Hot are documents of high PageRank: the best 1 % and the best 10 % of the whole.
`--whole FOLDER` takes the data folder of a whole crawl that is there already; `--rounds` repeats all.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from contenders import Web, our_crawl
from processes import measure
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy

from webcrawler.archive.catalog import Catalog
from webcrawler.index import follower
from webcrawler.linkgraph import catalog_graph, pagerank

MODES = "fifo,breadth,random,backlink,pagerank,blend"
HOT = (1, 10)  # percent of the documents
FETCHED = """
    SELECT s.name || u.path FROM documents d JOIN urls u ON u.number = d.number
    JOIN servers s ON s.number = u.server ORDER BY d.fetched"""


def main() -> None:
    asked = _arguments()
    found: dict[str, list[dict[str, float]]] = {mode: [] for mode in asked.modes.split(",")}
    with tempfile.TemporaryDirectory() as temporary, proxy(asked.docweb, asked.proxy) as url:
        whole = asked.whole or _crawl(Path(temporary) / "whole", url, "breadth")
        ranks = ranks_of(whole)
        for number in range(asked.rounds):
            for mode, runs in found.items():
                folder = Path(temporary) / f"{len(runs)}-{mode.partition('?')[0]}-{number}"
                order = _order(_crawl(folder, url, mode, asked.documents))
                runs.append(figures_of(order, ranks, asked.documents))
                print(f"{mode}: {runs[-1]}", file=sys.stderr, flush=True)
    _print(found, len(ranks))
    if asked.json:
        asked.json.write_text(json.dumps({"documents": len(ranks), "runs": found}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docweb", type=Path, metavar="DIR", help="made by `docweb.py build`")
    parser.add_argument("--proxy", default="", metavar="URL", help="where it is served already")
    parser.add_argument("--whole", type=Path, metavar="FOLDER", help="CRAWL_DIR of a whole crawl")
    parser.add_argument("--documents", type=int, default=5000, metavar="N", help="of each mode (5000)")
    parser.add_argument("--modes", default=MODES, help=f"({MODES})")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of all (1)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _crawl(folder: Path, proxy_url: str, mode: str, documents: int = 0) -> Path:
    """The data folder of a crawl that is over, its follower too."""
    folder.mkdir(parents=True)
    command, environment = our_crawl(Web(proxy_url, Path(), mode, documents), folder)
    done = measure(command, environment, ROOT, folder / "log")
    if done.status:
        sys.exit(f"bench: the crawl ended with {done.status}:\n{(folder / 'log').read_text()[-3000:]}")
    follower.wait_until_caught_up(folder / "crawl")
    return folder / "crawl"


def ranks_of(folder: Path) -> dict[str, float]:
    """IR of each document, by URL; mean 1 over all URLs known."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        ranks = pagerank(catalog_graph(catalog), damping=0.9)
        number = {url: n - 1 for n, url in catalog.urls.all()}
    return {url: float(ranks[number[url]]) for url in _order(folder)}


def _order(folder: Path) -> list[str]:
    """Documents in the order of fetching."""
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as catalog:
        return [url for (url,) in catalog.execute(FETCHED)]


def figures_of(order: list[str], ranks: dict[str, float], documents: int) -> dict[str, float]:
    """Percent of the hot pages found, and area under that curve over the documents fetched, in percent."""
    figures: dict[str, float] = {}
    best = sorted(ranks, key=lambda url: -ranks[url])
    for percent in HOT:
        hot = set(best[: len(best) * percent // 100])
        curve = np.cumsum([url in hot for url in order[:documents]]) * 100 / len(hot)
        ideal = np.minimum(np.arange(1, len(curve) + 1) / len(hot), 1) * 100
        figures[f"best {percent} %"] = round(float(curve[-1]), 1)
        figures[f"{percent} %, area"] = round(float(curve.mean()), 1)
        figures[f"{percent} %, of ideal"] = round(float(curve.mean() / ideal.mean()) * 100, 1)
    total = sum(ranks.values())
    figures["all PageRank"] = round(sum(ranks.get(url, 0) for url in order) / total * 100, 1)
    return figures


def _print(found: dict[str, list[dict[str, float]]], documents: int) -> None:
    names = list(next(iter(found.values()))[0])
    table = Table("mode", *names, title=f"of {documents:,} documents, in percent")
    for mode, runs in found.items():
        table.add_row(mode, *(_cell([run[name] for run in runs]) for name in names))
    Console().print(table)


def _cell(values: list[float]) -> str:
    spread: Any = f" ± {(max(values) - min(values)) / 2:.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{spread}"


if __name__ == "__main__":
    main()
