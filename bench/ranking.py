"""PageRank of a catalog to 1e-8, beside networkx and igraph.

    python bench/ranking.py GRAPH [--json FILE]

GRAPH is a *.graph-txt.gz: the number of pages, then a line a page with the pages that it links to. It is
written to a catalog first. From there to ranks in a file, ours (the tables of the catalog, scipy, `ranks/`)
beside networkx (a DiGraph of the same rows, its PageRank until the error is the same, an array in a file);
and the ranking alone beside igraph (PRPACK), the best of three. Processor time of one process.
"""

import argparse
import gzip
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import igraph
import networkx
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.linkgraph import Graph, catalog_graph, pagerank
from webcrawler.linkgraph.stored import store
from webcrawler.urls import url_id

DAMPING, TOLERANCE = 0.85, 1e-8
SERVER = "http://a.example"
LINKS = "SELECT source, target FROM links WHERE rel <> 'nofollow' AND source <> target"


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_catalog(arguments.graph, folder / "catalog.sqlite")
        rows, graph, ranks = _ours(folder)
        rows += _networkx(folder, ranks)
        rows += _alone(graph, ranks)
    _print(rows, graph)
    if arguments.json:
        figures = {"pages": graph.pages, "links": graph.links, "seconds": rows}
        arguments.json.write_text(json.dumps(figures | _ratios(rows), indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("graph", type=Path, help="a *.graph-txt.gz")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _write_catalog(file: Path, path: Path) -> None:
    """Past the writer of batches, which is made for pages as they come."""
    with gzip.open(file, "rt", encoding="ascii") as lines:
        pages = int(next(lines))
        links = [
            (source, int(target) + 1, f"page {target}", "")
            for source, line in zip(range(1, pages + 1), lines, strict=False)
            for target in line.split()
        ]
    urls = ((n, url_id(f"{SERVER}/{n}"), 1, f"/{n}") for n in range(1, pages + 1))
    Catalog(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO servers (number, name) VALUES (1, ?)", (SERVER,))
        db.executemany("INSERT INTO urls (number, id, server, path) VALUES (?, ?, ?, ?)", urls)
        db.executemany("INSERT INTO links VALUES (?, ?, ?, ?)", links)


Rows = list[dict[str, Any]]


def _ours(folder: Path) -> tuple[Rows, Graph, NDArray[np.float64]]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        read, graph = _timed(lambda: catalog_graph(catalog))
        ranked, ranks = _timed(lambda: pagerank(graph, DAMPING, TOLERANCE))
        stored, _ = _timed(lambda: store(folder / "ranks", ranks, catalog.last_seq(), catalog.identity))
    return [_row("ours", read, ranked, stored)], graph, ranks


def _networkx(folder: Path, ranks: NDArray[np.float64]) -> Rows:
    """Its `tol` is a change of shares that sum to 1, by page; ours is an error of ranks whose mean is 1."""
    pages = len(ranks)
    tolerance = TOLERANCE * (1 - DAMPING) / DAMPING / pages
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as db:
        read, graph = _timed(lambda: _digraph(db, pages))
    ranked, shares = _timed(lambda: networkx.pagerank(graph, DAMPING, tol=tolerance, max_iter=1000))
    found = np.fromiter(map(shares.__getitem__, range(1, pages + 1)), np.float64, pages) * pages
    _agree(found, ranks)
    stored, _ = _timed(lambda: np.save(folder / "networkx.npy", found))
    return [_row("networkx", read, ranked, stored)]


def _digraph(db: sqlite3.Connection, pages: int) -> Any:
    graph: Any = networkx.DiGraph()
    graph.add_nodes_from(range(1, pages + 1))
    graph.add_edges_from(db.execute(LINKS))
    return graph


def _alone(graph: Graph, ranks: NDArray[np.float64]) -> Rows:
    other = igraph.Graph(graph.pages, np.column_stack((graph.sources, graph.targets)), directed=True)
    _agree(np.array(other.pagerank(damping=DAMPING)) * graph.pages, ranks)
    ours = min(_timed(lambda: pagerank(graph, DAMPING, TOLERANCE))[0] for _ in range(3))
    theirs = min(_timed(lambda: other.pagerank(damping=DAMPING))[0] for _ in range(3))
    return [_row("ours, ranking alone", 0, ours, 0), _row("igraph, ranking alone", 0, theirs, 0)]


def _agree(others: NDArray[np.float64], ranks: NDArray[np.float64]) -> None:
    error = float(np.abs(others - ranks).mean())
    if error > 2 * TOLERANCE:
        raise SystemExit(f"the ranks differ by {error:g} in the mean")


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = run()
    return time.process_time() - started, result


def _row(name: str, read: float, ranked: float, stored: float) -> dict[str, Any]:
    return {"run": name, "read": read, "rank": ranked, "store": stored, "all": read + ranked + stored}


def _ratios(rows: Rows) -> dict[str, float]:
    ours, theirs, alone, igraphs = rows
    return {
        "networkx_to_ours": theirs["all"] / ours["all"],
        "ours_to_igraph": alone["rank"] / igraphs["rank"],
    }


def _print(rows: Rows, graph: Graph) -> None:
    table = Table(
        "seconds", "read", "rank", "store", "all", title=f"{graph.pages:,} pages, {graph.links:,} links"
    )
    for name, *figures in (row.values() for row in rows):
        table.add_row(name, *(f"{figure:.2f}" if figure else "" for figure in figures))
    Console().print(table)
    ratios = _ratios(rows)
    print(f"catalog to stored ranks: {ratios['networkx_to_ours']:.1f} times as fast as networkx")
    print(f"ranking alone: {ratios['ours_to_igraph']:.1f} times igraph's time")


if __name__ == "__main__":
    main()
