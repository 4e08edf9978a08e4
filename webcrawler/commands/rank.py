"""`scrapy rank`: the most important pages and servers, by the links in the catalog."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

from webcrawler.archive.catalog import Catalog
from webcrawler.commands.base import Command, printable, whole_number
from webcrawler.errors import BadInput
from webcrawler.orderings import location

if TYPE_CHECKING:  # slow to import, and each `scrapy` command imports all of them
    import numpy as np
    from numpy.typing import NDArray

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
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Show the most important pages and servers"

    def long_desc(self) -> str:
        return (
            "Every URL that was fetched or linked to counts. The score of a server is the sum of its pages."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        from webcrawler.linkgraph import DAMPING

        super().add_options(parser)
        parser.add_argument("--algorithm", default="pagerank", help=f"{', '.join(FORMATS)} (pagerank)")
        parser.add_argument("--damping", default=str(DAMPING), help=f"of pagerank, 0 to 1 ({DAMPING})")
        parser.add_argument("--engine", default="scipy", help="of pagerank and hits: scipy, networkx (scipy)")
        parser.add_argument("--top", default="20", metavar="N", help="how many to show (20)")
        parser.add_argument("--servers", action="store_true", help="show servers only")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        _check(args, opts)
        top, damping = whole_number(opts.top, "--top", 1), _damping(opts.damping)
        found: dict[str, Any] = {"algorithm": opts.algorithm}
        with closing(self.catalog()) as catalog:
            scores, hubs = _scores(catalog, opts.algorithm, damping, opts.engine)
            if not opts.servers:
                found["pages"] = _pages(catalog, scores, hubs, top)
            if opts.algorithm != "location":
                found["servers"] = _servers(catalog, scores, top)
        print(json.dumps(found, indent=2) if opts.json else _tables(found, FORMATS[opts.algorithm]))


def _check(args: list[str], opts: argparse.Namespace) -> None:
    from webcrawler.linkgraph import check_engine

    if args:
        raise BadInput(f"rank takes options only, not {args[0][:60]!r}")
    if opts.algorithm not in FORMATS:
        raise BadInput(f"no algorithm {opts.algorithm!r}: choose one of {', '.join(FORMATS)}")
    if opts.algorithm == "location" and opts.servers:
        raise BadInput("location looks at the URL of a page: servers have none")
    check_engine(opts.engine)


def _damping(text: str) -> float:
    try:
        if 0 < float(text) < 1:
            return float(text)
    except ValueError:
        pass
    raise BadInput(f"--damping must be a number between 0 and 1, as 0.85: not {text[:60]!r}")


def _scores(catalog: Catalog, algorithm: str, damping: float, engine: str) -> tuple[Scores, Scores | None]:
    """The score of each page by number, from 1; for hits the authorities, and the hubs beside them."""
    import numpy as np

    from webcrawler import linkgraph

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
    import numpy as np

    names, of_page = catalog.urls.servers()
    of_page = of_page[: len(scores)]  # a crawl may have found more meanwhile
    sums: Any = np.bincount(of_page, scores, minlength=max(names, default=0) + 1).astype(scores.dtype)
    pages = np.bincount(of_page, minlength=len(sums))
    known = [server for server in _best(sums, len(sums)) if pages[server]][:top]
    return [{"server": names[n], "score": sums[n].item(), "pages": pages[n].item()} for n in known]


def _best(scores: Scores, top: int) -> list[int]:
    """The indices of the highest scores, highest first; of equal ones the first comes first."""
    import numpy as np

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
