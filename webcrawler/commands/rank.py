"""`webcrawler rank`: the most important pages and servers, by the links in the catalog."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler import linkgraph
from webcrawler.archive.catalog import Catalog
from webcrawler.commands._terminal import JSON, Option, printable
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.linkgraph import DAMPING
from webcrawler.orderings import location, number, whole_number

Scores = NDArray[np.float64] | NDArray[np.int64]

FORMATS = {  # of a score
    "pagerank": ",.2f",  # the mean is 1
    "hits": ".6f",  # the sum is 1
    "backlink": ",d",
    "forward": ",d",
    "location": ",d",
}
WORDS, ENDINGS = ("home",), (".com",)  # of location (Cho 1998, 2 (5))


class Rank(Command):
    summary = "Show the most important pages and servers"
    details = "Every URL that was fetched or linked to counts. The score of a server is the sum of its pages."
    options = (
        Option("--algorithm", "pagerank", f"{', '.join(FORMATS)} (pagerank)"),
        Option("--damping", str(DAMPING), f"of pagerank, 0 to 1 ({DAMPING})"),
        Option("--engine", "scipy", "of pagerank and hits: scipy, networkx (scipy)"),
        Option("--top", "20", "how many to show (20)", "N"),
        Option("--servers", False, "show servers only"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.algorithm not in FORMATS:
            raise BadInput(f"no algorithm {opts.algorithm!r}: choose one of {', '.join(FORMATS)}")
        if opts.algorithm == "location" and opts.servers:
            raise BadInput("location looks at the URL of a page: servers have none")
        linkgraph.check_engine(opts.engine)
        top = whole_number("--top", opts.top, 1)
        damping = number("--damping", opts.damping, lambda it: 0 < it < 1, "between 0 and 1, as 0.85")
        found: dict[str, Any] = {"algorithm": opts.algorithm}
        with closing(self.catalog()) as catalog:
            scores, hubs = _scores(catalog, opts.algorithm, damping, opts.engine)
            if not opts.servers:
                found["pages"] = _pages(catalog, scores, hubs, top)
            if opts.algorithm != "location":
                found["servers"] = _servers(catalog, scores, top)
        print(json.dumps(found, indent=2) if opts.json else _tables(found, FORMATS[opts.algorithm]))


def _scores(catalog: Catalog, algorithm: str, damping: float, engine: str) -> tuple[Scores, Scores | None]:
    """The score of each page by number, from 1; for hits the authorities, and the hubs beside them."""
    if algorithm == "location":
        return np.fromiter((location(url, WORDS, ENDINGS) for _, url in catalog.urls.all()), np.int64), None
    graph = linkgraph.catalog_graph(catalog)
    if algorithm == "hits":
        hubs, authorities = linkgraph.hits(graph, engine)
        return authorities, hubs
    if algorithm == "pagerank":
        return linkgraph.pagerank(graph, damping, engine=engine), None
    return linkgraph.backlinks(graph) if algorithm == "backlink" else linkgraph.forward_links(graph), None


def _pages(catalog: Catalog, scores: Scores, hubs: Scores | None, top: int) -> list[dict[str, Any]]:
    best = _best(scores, top)
    urls = catalog.urls.of([page + 1 for page in best])
    pages = [{"url": urls[page + 1], "score": scores[page].item()} for page in best]
    if hubs is not None:
        for page, shown in zip(best, pages, strict=True):
            shown["hub"] = hubs[page].item()
    return pages


def _servers(catalog: Catalog, scores: Scores, top: int) -> list[dict[str, Any]]:
    names, of_page = catalog.urls.servers()
    of_page = of_page[: len(scores)]  # a crawl may have found more meanwhile
    sums: Any = np.bincount(of_page, scores, minlength=max(names, default=0) + 1).astype(scores.dtype)
    pages = np.bincount(of_page, minlength=len(sums))
    known = [server for server in _best(sums, len(sums)) if pages[server]][:top]
    return [{"server": names[n], "score": sums[n].item(), "pages": pages[n].item()} for n in known]


def _best(scores: Scores, top: int) -> list[int]:
    """The indices of the highest scores, highest first; of equal ones the first comes first."""
    best: list[int] = np.argsort(-scores, kind="stable")[:top].tolist()
    return best


def _tables(found: dict[str, Any], form: str) -> str:
    lines: list[str] = []
    for kind in ("pages", "servers"):
        if kind in found:
            lines += ["", f"Top {kind} by {found['algorithm']}"]
        for place, row in enumerate(found.get(kind, ()), 1):
            name = row["url"] if "url" in row else f"{row['server']} ({row['pages']:,} pages)"
            hub = f"{row['hub']:>12{form}}" if "hub" in row else ""
            lines.append(f"{place:>4} {row['score']:>12{form}}{hub}  {printable(name)}")
    return "\n".join(lines[1:])
