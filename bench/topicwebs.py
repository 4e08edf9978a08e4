"""Where does Figure 5 beat Figure 4 in every order? Made webs whose links stay in their topic more and more.

    python bench/topicwebs.py [--densities 0.1,0.5,…] [--webs 6] [--pages 600] [--jobs 2] [--json FILE]

Cho 1998 let a crawler prefer what has a topic's word in its URL or anchor (Figure 4: `hot-anchor`), and also
what is within three links of a hot page (Figure 5: `hot`). A made web has topics of 20 pages, and each page
has six links: one stays in the topic with a probability, the density, and leads to any page otherwise. The
pages of one topic are hot; 3 of 8 of them have its word in the anchors that lead to them. All webs are
crawled in both ways with each order of the queues. The table says by how much the area under P_ST is
larger for `hot`, in points, with the 95 % interval over webs; * where a paired test tells it from chance
(p < .05), which with six webs it can only where all of them agree. The last column says whether all orders
gain so.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.evaluation import Metrics, Recorded, compare
from webcrawler.evaluation.chance import intervals, p_values
from webcrawler.linkgraph import Graph
from webcrawler.records import Text

ORDERS = ("fifo", "backlink", "pagerank", "random")
WORD = "owls"
DENSITIES = "0,0.3,0.6,0.8,0.9,0.95"
TOPIC, LINKS = 20, 6  # pages of a topic, links of a page
NAMED = 3 / 8  # of the hot pages: their anchors have the word


def web(density: float, seed: int, pages: int, topic: int = TOPIC) -> Recorded:
    """Topic 0 is hot; what cannot be reached from the last page does not count."""
    chance = np.random.default_rng(seed)
    sources = np.repeat(np.arange(pages), LINKS)
    near = topic * (sources // topic) + chance.integers(0, topic, len(sources))
    stays = chance.random(len(sources)) < density
    targets = np.where(stays & (near < pages), near, chance.integers(0, pages, len(sources)))
    graph = Graph.of(sources, targets, pages)
    named = chance.permutation(topic)[: round(NAMED * topic)]
    titles = [WORD if page < topic else "other" for page in range(pages)]
    return Recorded(
        graph,
        np.arange(pages),
        [f"http://web.example/{page}" for page in range(pages)],
        [WORD if page in set(named.tolist()) else "more" for page in graph.targets.tolist()],
        texts=lambda some: {page: Text(titles[page], "", "", "", "") for page in some},
    )


def gains(density: float, seed: int, pages: int, jobs: int = 1, topic: int = TOPIC) -> list[float]:
    """By how many points the area is larger for `hot`, for each of ORDERS."""
    orderings = [f"{mode}:{then}" for mode in ("hot-anchor", "hot") for then in ORDERS]
    graph, metrics = web(density, seed, pages, topic), Metrics(hot=(f"is:{WORD}",), query=WORD)
    found = compare(graph, orderings, starts=[str(pages - 1)], seeds=[seed], metrics=metrics, jobs=jobs)
    areas = {run.ordering: run.figures.auc[f"is:{WORD}"] for run in found.runs}
    return [areas[f"hot:{then}"] - areas[f"hot-anchor:{then}"] for then in ORDERS]


def compared(of_webs: Sequence[Sequence[float]]) -> dict[str, dict[str, float]]:
    """By order: the mean over webs, its interval, and the p of a paired test."""
    table = np.array(of_webs)
    columns = zip(ORDERS, table.mean(axis=0), *intervals(table), p_values(table), strict=True)
    return {
        order: {"gain": float(mean), "low": float(low), "high": float(high), "p": float(p)}
        for order, mean, low, high, p in columns
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--densities", default=DENSITIES, help=f"({DENSITIES})")
    parser.add_argument("--webs", type=int, default=6, help="of each density (6)")
    parser.add_argument("--pages", type=int, default=600, help="of a web (600)")
    parser.add_argument("--jobs", type=int, default=2, help="crawls at a time (2)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    told = parser.parse_args()
    rows: dict[str, Any] = {}
    for density in told.densities.split(","):
        seeds = range(1, told.webs + 1)
        rows[density] = compared([gains(float(density), seed, told.pages, told.jobs) for seed in seeds])
        print(f"{density}: {rows[density]}", flush=True)
        if told.json:
            told.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    _print(rows)


def _print(rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    table = Table("density", *ORDERS, "all improve")
    for density, row in rows.items():
        improved = all(of["gain"] > 0 and of["p"] < 0.05 for of in row.values())
        table.add_row(density, *map(_shown, row.values()), "yes" if improved else "no")
    Console(width=120).print(table)


def _shown(of: Mapping[str, float]) -> str:
    star = "*" if of["p"] < 0.05 else ""
    return f"{of['gain']:+.1f}{star} [{of['low']:+.1f}, {of['high']:+.1f}]"


if __name__ == "__main__":
    main()
