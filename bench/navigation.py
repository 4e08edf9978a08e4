"""What links give: is the home page of a site first when its name is asked for?

    python bench/navigation.py CRAWL_DIR [--queries FILE] [--without SERVER] [--misses] [--json FILE]

CRAWL_DIR is a crawl of docweb full, with index and ranks. Each ranking answers each query, bm25f also without
anchors and without PageRank. MRR is the mean of 1 / place of the wanted page, 0 behind the first 1,000 hits.
"bare" counts the queries whose first hit is a wrong page that is only the query's words plus a few.

navigation.tsv was made by rule from docweb's sites.json before any ranking was tried on it, `query TAB URL`;
any URL of a query is right, and all are documents of the crawl:
- the title of a site, its name, and the name with "documentation" want the site's home;
- the title of a manual (a mount that has one) wants the manual's start page.
The name is the first label of the host that is not www, docs, doc, en, developer or legacy. The home is the
start page of the first manual, unless that has a title of its own, and what stands at the root of the host.

One host is a directory whose links call the sites by these very titles, as directories do. `--without
http://directory.test` forgets its links, in a copy of the crawl with new anchors and ranks: two minutes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput
from webcrawler.index.follower import wait_until_caught_up
from webcrawler.linkgraph import catalog_graph, pagerank
from webcrawler.linkgraph.stored import store
from webcrawler.search import Searcher
from webcrawler.search.matches import Ranking
from webcrawler.search.rankings import RANKINGS, Row
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.second_pass import with_feedback
from webcrawler.text.analysis import terms
from webcrawler.text.reference import Reference

QUERIES = Path(__file__).with_name("navigation.tsv")
FEW = 10  # words beside those of the query that a bare page has at most

FORGET = """DELETE FROM links
    WHERE source IN (SELECT u.number FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = ?)"""

BOTH = BM25F()
NO_ANCHORS = replace(
    BOTH,
    fields={name: of for name, of in BOTH.fields.items() if name != "anchor"},
    names={name: of for name, of in BOTH.names.items() if name != "cited"},
)
VARIANTS = {
    "bm25f": BOTH,
    "bm25f, no anchors": NO_ANCHORS,
    "bm25f, no PageRank": replace(BOTH, importance=0),
    "bm25f, neither": replace(NO_ANCHORS, importance=0),
}
ROWS = (*VARIANTS, "hitlists", "peculiarity")


class Found(NamedTuple):
    """The answer to one query."""

    place: int  # of the wanted page, from 1; 0 where it is not among the hits
    first: int  # page number of the first hit, 0 without any


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.without:
            arguments.crawl_dir = _without(arguments.without, arguments.crawl_dir, Path(folder) / "crawl")
        _measure(arguments)


def _without(server: str, crawl_dir: Path, copy: Path) -> Path:
    """A copy in which nothing is linked from a server."""
    shutil.copytree(
        crawl_dir, copy, ignore=shutil.ignore_patterns("pages", "anchors", "ranks", "*.lock", "redis")
    )
    with closing(sqlite3.connect(copy / "catalog.sqlite")) as db, db:
        forgotten = db.execute(FORGET, (server,))
        print(f"{forgotten.rowcount:,} links of {server} forgotten")
    with closing(Catalog(copy / "catalog.sqlite", readonly=True)) as catalog:
        store(copy / "ranks", pagerank(catalog_graph(catalog)), catalog.last_seq(), catalog.identity)
    wait_until_caught_up(copy)
    return copy


def _measure(arguments: argparse.Namespace) -> None:
    with closing(Catalog(arguments.crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        wanted = _wanted(arguments.queries, catalog)
        answers = _answers(arguments.crawl_dir, wanted)
        rows = [{"ranking": name, **_figures(found, wanted, catalog)} for name, found in answers.items()]
        _print(rows, len(wanted))
        if arguments.misses:
            _print_misses(answers["bm25f"], catalog)
    if arguments.json:
        arguments.json.write_text(json.dumps({"queries": len(wanted), "rankings": rows}, indent=2) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crawl_dir", type=Path, metavar="CRAWL_DIR")
    parser.add_argument("--without", default="", metavar="SERVER", help="forget its links")
    parser.add_argument("--queries", type=Path, default=QUERIES, metavar="FILE")
    parser.add_argument(
        "--misses", action="store_true", help="show the queries that bm25f does not get first"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _wanted(file: Path, catalog: Catalog) -> dict[str, set[int]]:
    """The page numbers that are right by query: a duplicate's is that of its original, which is indexed."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for line in file.read_text("utf-8").splitlines():
        query, _, url = line.partition("\t")
        document = catalog.find(url)
        if document is None:
            raise BadInput(f"{url} is not a document of this crawl: crawl docweb full")
        wanted[query].add(document.duplicate_of or document.number)
    return wanted


def _answers(crawl_dir: Path, wanted: dict[str, set[int]]) -> dict[str, dict[str, Found]]:
    """By ranking and query; the variants have names for as long as this process lives."""
    RANKINGS.update((name, Row(partial(_ranking, variant), name)) for name, variant in VARIANTS.items())
    searcher = Searcher(crawl_dir)
    return {
        name: {query: _ask(searcher, query, name, right) for query, right in wanted.items()} for name in ROWS
    }


def _ranking(variant: BM25F, reference: Reference) -> Ranking:
    """As `bm25f` is made."""
    return with_feedback(variant)


def _ask(searcher: Searcher, query: str, ranking: str, right: set[int]) -> Found:
    numbers = [number for number, _ in searcher.rank(query, ranking)]
    places = (place for place, number in enumerate(numbers, 1) if number in right)
    return Found(next(places, 0), numbers[0] if numbers else 0)


def _figures(found: dict[str, Found], wanted: dict[str, set[int]], catalog: Catalog) -> dict[str, Any]:
    places = [one.place for one in found.values()]
    words = catalog.documents([one.first for one in found.values()])
    bare = [
        query
        for query, one in found.items()
        if one.first in words
        and one.first not in wanted[query]
        and words[one.first].word_count <= len(terms(query)) + FEW
    ]
    return {
        "mrr": sum(1 / place for place in places if place) / len(places),
        "first": sum(place == 1 for place in places) / len(places),
        "first_10": sum(0 < place <= 10 for place in places) / len(places),
        "bare": len(bare),
    }


def _print(rows: list[dict[str, Any]], queries: int) -> None:
    table = Table(
        "ranking", "MRR", "first", "in the first 10", "bare", title=f"{queries} navigational queries"
    )
    for row in rows:
        shares = (f"{row['first']:.0%}", f"{row['first_10']:.0%}")
        table.add_row(row["ranking"], f"{row['mrr']:.3f}", *shares, str(row["bare"]))
    Console().print(table)


def _print_misses(found: dict[str, Found], catalog: Catalog) -> None:
    urls = catalog.urls.of([one.first for one in found.values()])
    for query, one in found.items():
        if one.place != 1:
            print(f"{one.place or '-':>4}  {query}: {urls.get(one.first, '')}")


if __name__ == "__main__":
    main()
