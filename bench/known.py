"""Known items: who asks for a page by the name that it gives itself, does that page come first?

    python bench/known.py CRAWL_DIR [--half even|odd] [--misses] [--json FILE]
    python bench/known.py CRAWL_DIR --pages REGEX [--source REGEX] [--language ko] [--headings] [--misses]

CRAWL_DIR is any crawl, with index and ranks. The queries are made of its titles by rule: the head of a title
is what stands before the first dash, bar or colon that divides it ("string" of "string — Common string
operations — Python"), or all of it. A head of one to three words, that does not begin with a digit and that
no other page's title has, wants its page: so no copies. A seed chooses among them.

MRR is the mean of 1 / place of the wanted page, 0 behind the first 1,000 hits. Constants of bm25f
were tuned on the even half of the queries of seed 1.

The second form asks in another language for pages in it: those whose URLs fit REGEX, but no copies of pages
that fit --source, as what is not translated is shown in the source's language. A query is all that stands
before the last dash or bar of a title, or with --headings a numbered heading without its number; one that
two such pages have is left out. The same page in other languages does not count. --language is that of who
asks, as browsers send it. Result pages are judged as served.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live
from webcrawler.search import Searcher
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.text.analysis import terms

MOST_WORDS = 3
HALVES = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}

_DIVIDED = re.compile(r"\s+[-–—|·»]+\s+|:\s")
_NAME = re.compile(r"[^\W\d][\w .]*")
_SITE = re.compile(r"\s+[-–—|]\s+[^-–—|]*$")
_NUMBERED = re.compile(r"\w+(?:\.\d+)+\.?\s+(.+)")

Figures = dict[str, str | float]


def known_items(crawl_dir: Path, most: int, seed: int) -> list[tuple[str, int]]:
    """Queries, each with the number of the one page that it wants; the same for the same titles."""
    heads = defaultdict[tuple[str, ...], list[tuple[str, int]]](list)
    for number, title in _titles(crawl_dir):
        head = _DIVIDED.split(title.strip())[0].strip().lower()
        heads[tuple(terms(head))].append((head, number))
    found = sorted(pages[0] for head, pages in heads.items() if head and len(pages) == 1)
    found = [(head, number) for head, number in found if _is_query(head)]
    return random.Random(seed).sample(found, min(most, len(found)))


def _is_query(head: str) -> bool:
    return bool(_NAME.fullmatch(head)) and len(head.split()) <= MOST_WORDS


def items_of(crawl_dir: Path, pages: str, source: str, headings: bool) -> list[tuple[str, int]]:
    """Queries for pages whose URLs fit an expression, each with the number of the one that it wants."""
    found, copies = defaultdict[str, set[int]](set), defaultdict[int, list[str]](list)
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        urls = dict(catalog.urls.all())
        for number, document in catalog.documents(list(urls)).items():
            copies[document.duplicate_of or number].append(urls[number])
        wanted = [number for number, of in copies.items() if _fits(pages, of) and not _fits(source, of)]
        for number, text in catalog.texts(wanted).items():
            for query in _headings(text.headings) if headings else [_SITE.sub("", text.title.strip())]:
                found[" ".join(query.split())].add(number)
    return sorted((query, *pages) for query, pages in found.items() if query and len(pages) == 1)


def _fits(expression: str, urls: list[str]) -> bool:
    return any(re.search(expression, url) for url in urls) if expression else False


def _headings(lines: str) -> list[str]:
    return [found[1] for line in lines.splitlines() if (found := _NUMBERED.fullmatch(line.strip()))]


def _titles(crawl_dir: Path) -> Iterator[tuple[int, str]]:
    """Of the pages in the index."""
    reading = Live(crawl_dir).reading()
    numbers = np.flatnonzero(reading.indexed).tolist() if reading else []
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        for start in range(0, len(numbers), 1_000):
            for number, text in catalog.texts(numbers[start : start + 1_000]).items():
                yield number, text.title


def main() -> None:
    arguments = _arguments()
    crawl_dir, most, seed = arguments.crawl_dir, arguments.queries, arguments.seed
    searcher = Searcher(crawl_dir)
    if arguments.pages:
        items = items_of(crawl_dir, arguments.pages, arguments.source, arguments.headings)
        items = random.Random(seed).sample(items, min(most, len(items)))
        ask = partial(searcher.served, language=arguments.language)
    else:
        items, ask = known_items(crawl_dir, most, seed), partial(_ranked, searcher)
    items = items[HALVES[arguments.half]]
    places = {ranking: _places(ask, items, ranking) for ranking in RANKINGS}
    rows = [{"ranking": ranking, **_figures(found)} for ranking, found in places.items()]
    _print(rows, len(items))
    if arguments.misses:
        _print_misses(arguments.crawl_dir, items, places[DEFAULT])
    if arguments.json:
        arguments.json.write_text(json.dumps({"queries": len(items), "rankings": rows}, indent=2) + "\n")


def _ranked(searcher: Searcher, query: str, ranking: str) -> list[int]:
    return [number for number, _ in searcher.rank(query, ranking)]


def _places(ask: Callable[[str, str], list[int]], items: list[tuple[str, int]], ranking: str) -> list[int]:
    """Of the wanted pages, from 1; 0 where one is not among the hits."""
    return [_place(ask(query, ranking), page) for query, page in items]


def _place(pages: list[int], wanted: int) -> int:
    return pages.index(wanted) + 1 if wanted in pages else 0


def _figures(places: list[int]) -> Figures:
    asked = len(places) or 1
    return {
        "mrr": sum(1 / place for place in places if place) / asked,
        "first": sum(place == 1 for place in places) / asked,
        "first_10": sum(0 < place <= 10 for place in places) / asked,
    }


def _print(rows: list[Figures], queries: int) -> None:
    table = Table("ranking", "MRR", "first", "in the first 10", title=f"{queries} known items")
    for row in rows:
        table.add_row(
            str(row["ranking"]), f"{row['mrr']:.3f}", f"{row['first']:.0%}", f"{row['first_10']:.0%}"
        )
    Console().print(table)


def _print_misses(crawl_dir: Path, items: list[tuple[str, int]], places: list[int]) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        urls = catalog.urls.of([page for _, page in items])
    for (query, page), place in zip(items, places, strict=True):
        if place != 1:
            print(f"{place or '-':>4}  {query}: {urls[page]}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crawl_dir", type=Path, metavar="CRAWL_DIR")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--half", choices=HALVES, default="all", help="of the queries, by their places")
    parser.add_argument("--pages", metavar="REGEX", help="ask for these in their language")
    parser.add_argument("--source", metavar="REGEX", default="", help="of these, copies are left out")
    parser.add_argument("--language", metavar="CODE", default="", help="of who asks")
    parser.add_argument("--headings", action="store_true", help="by headings, not by titles")
    parser.add_argument("--misses", action="store_true", help="show what bm25f does not get first")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
