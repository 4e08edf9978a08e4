"""How close together are the pages of a topic? What Figures 4 and 5 of Cho 1998 depend on, of a crawl.

    python bench/locality.py FOLDER --words unicode,threads,security [--json FILE]

FOLDER is the data folder of a crawl. A page is hot if it has the word in its title, or ten times in its
body. The distance of a page is the number of links on the shortest way to it from a hot page, another one
where it is hot itself. The table says, for each word, which share of all pages is hot; of the pages at
distance 1, 2 and 3; which share of all pages is no farther than that; and which share of the links from hot
pages, and of those from any page, leads to a hot one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.sparse.csgraph import dijkstra

from webcrawler.evaluation import read
from webcrawler.evaluation.hotness import Importance, conditions
from webcrawler.linkgraph import Graph

FARTHEST = 3  # links, as in Figure 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the data folder of a crawl")
    parser.add_argument("--words", required=True, help="of topics, with commas")
    parser.add_argument("--json", type=Path, metavar="FILE")
    told = parser.parse_args()
    recorded = read(told.folder)
    importance = Importance(recorded)
    words = told.words.split(",")
    rows = {word: locality(recorded.graph, importance.hot(conditions(f"is:{word}"))) for word in words}
    _print(rows, recorded.graph.pages)
    if told.json:
        told.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def locality(graph: Graph, hot: NDArray[np.bool_]) -> dict[str, Any]:
    """Shares, 0 to 1; those at distances 1 to FARTHEST in lists."""
    distance = distances(graph, hot)
    steps = range(1, FARTHEST + 1)
    return {
        "hot": float(hot.mean()),
        "hot_at": [_share(hot[distance == step]) for step in steps],
        "within": [float((distance <= step).mean()) for step in steps],
        "links_from_hot": _share(hot[graph.targets[hot[graph.sources]]]),
        "links_from_any": _share(hot[graph.targets]),
    }


def distances(graph: Graph, hot: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of each page from the nearest hot page that is another one; infinite beyond FARTHEST."""
    found, links = np.full(graph.pages, np.inf), graph.matrix()
    for page in np.flatnonzero(hot).tolist():
        of_one = dijkstra(links, indices=page, unweighted=True, limit=FARTHEST)
        of_one[page] = np.inf
        found = np.minimum(found, of_one)
    return found


def _share(of: NDArray[np.bool_]) -> float:
    return float(of.mean()) if len(of) else 0.0


def _print(rows: dict[str, Any], pages: int) -> None:
    table = Table("topic", "hot", "hot at 1 · 2 · 3", "within 1 · 2 · 3", "links to hot: from hot, any")
    for word, of in rows.items():
        table.add_row(
            f"{word} ({round(of['hot'] * pages)})",
            f"{of['hot']:.2%}",
            " · ".join(f"{share:.1%}" for share in of["hot_at"]),
            " · ".join(f"{share:.0%}" for share in of["within"]),
            f"{of['links_from_hot']:.1%}, {of['links_from_any']:.1%}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
