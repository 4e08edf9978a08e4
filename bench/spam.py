"""Which pages of a crawl are marked as spam, which are nearest to it, and how much made spam is found?

    python bench/spam.py FOLDER [--near 100] [--pages 40] [--seed 1] [--crawl-only] [--json FILE]

FOLDER is the data folder of a crawl, with an index. First, all three rules are run over all of its documents.
Every mark is printed, and the documents nearest to a threshold, for a person to look at:

- stuffed: the three words of the main content that it has most, as if somebody asked for just these;
  two thirds are the threshold, of pages with 100 words or more;
- hidden: the five most frequent words of those that are hidden and count; .5 is the threshold, where 50 or
  more do and are a tenth of the page;
- farm: the groups of two domains or more that are connected by links both ways.

Then spam is made in steps of strength (bench/madespam.py), on as many honest pages of the crawl as --pages
says, and the share that each rule finds is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import madespam
import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live, Reading, wait_until_caught_up
from webcrawler.linkgraph import farms
from webcrawler.parsing import invisible
from webcrawler.parsing.markup import feed, markup
from webcrawler.parsing.reader import Reader
from webcrawler.search import spam
from webcrawler.search.matches import Matches
from webcrawler.text.function_words import telling
from webcrawler.text.query import QueryTerm

PERCENTILES = {"most": 100, "99 %": 99, "median": 50}


class Found(NamedTuple):
    """What a rule says of a page."""

    rule: str
    url: str
    is_marked: bool
    share: float  # 0 to 1: of the words that count, those that are most frequent
    counted: int  # words that count
    words: str  # the most frequent ones


class Crawled(NamedTuple):
    """What the rules say of a crawl."""

    pages: list[Found]  # those with enough words for a rule, the nearest to its threshold first
    marked: list[str]  # what is marked, rule and URL; of farms too
    groups: list[dict[str, Any]]  # of domains that link to each other
    documents: int
    hiding: int  # that hide any word
    shares: dict[str, float]  # of the page that is stuffed most, the 99th percentile and the median


def main() -> None:
    told = _arguments()
    crawled = looked_at(told.folder)
    _print(crawled, told.near)
    figures: dict[str, Any] = crawled._asdict() | {
        "pages": [one._asdict() for one in crawled.pages[: told.near]]
    }
    if not told.crawl_only:
        figures["made"] = madespam.figures(told.folder, told.pages, told.seed)
        for title, rows in figures["made"].items():
            _print_made(title, rows)
    if told.json:
        told.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="the data folder of a crawl")
    parser.add_argument("--near", type=int, default=100, help="documents that are printed (100)")
    parser.add_argument("--pages", type=int, default=40, help="honest pages that become spam (40)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--crawl-only", action="store_true", help="make no spam")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def looked_at(folder: Path) -> Crawled:
    """Run the rules over all documents of a crawl."""
    wait_until_caught_up(folder)
    reading = Live(folder).reading()
    assert reading, "the crawl has an index"
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        stuffed = [*_stuffed(reading, catalog)]
        hidden = [*_hidden(folder, catalog)]
        on_farms = catalog.urls.of(farms.find(catalog).pages.tolist()).values()
        groups, documents = [*_groups(catalog)], catalog.count_documents()
    marked = [f"{one.rule} {one.url}" for one in (*stuffed, *hidden) if one.is_marked]
    enough = [one for one in hidden if one.share]
    shares = np.array([one.share for one in stuffed] or [0.0])
    return Crawled(
        sorted((*stuffed, *enough), key=lambda one: (-one.share, one.url)),
        [*marked, *(f"farm {url}" for url in on_farms)],
        groups,
        documents,
        len(hidden),
        {
            name: float(np.percentile(shares, at))
            for name, at in (("most", 100), ("99 %", 99), ("median", 50))
        },
    )


def _stuffed(reading: Reading, catalog: Catalog) -> Iterator[Found]:
    """The pages with enough words for the rule."""
    counts, words = _most_frequent(reading)
    lengths = reading.lengths("body")
    pages = np.flatnonzero(lengths >= spam.FEWEST_WORDS)
    urls = catalog.urls.of(pages.tolist())
    for page in pages.tolist():
        asked = [QueryTerm(word, word, telling=telling(word)) for word in words[page]]
        one = Matches(np.array([page], np.int32), reading, lambda numbers: np.ones(len(numbers)))
        share = float(counts[page].sum() / lengths[page])
        is_marked = bool(spam.stuffed(asked, one).any())
        yield Found("stuffed", urls[page], is_marked, share, int(lengths[page]), " ".join(words[page]))


def _most_frequent(reading: Reading) -> tuple[np.ndarray, list[list[str]]]:
    """How often each page has its three most frequent words, counted by what they say, and these words."""
    vocabulary = [term for term, _ in reading.frequencies("body", "")]
    counts = np.zeros((reading.size, spam.MOST + 1), np.float32)  # the last is the one that has to go
    places = np.full((reading.size, spam.MOST + 1), -1)
    for place, term in enumerate(vocabulary):
        if not (says := telling(term)):
            continue
        posted = reading.posted("body", term)
        counts[posted.pages, -1], places[posted.pages, -1] = says * posted.counts, place
        order = np.argsort(-counts[posted.pages], axis=1, kind="stable")
        for table in (counts, places):
            table[posted.pages] = np.take_along_axis(table[posted.pages], order, axis=1)
    words = [[vocabulary[place] for place in row if place >= 0] for row in places[:, : spam.MOST].tolist()]
    return counts[:, : spam.MOST], words


def _hidden(folder: Path, catalog: Catalog) -> Iterator[Found]:
    """The pages that hide any word."""
    for body, url, content_type in madespam.bodies(folder, catalog):
        reader = Reader()
        feed(markup(body, content_type), reader)
        text, links = reader.flow.text, [(link.start, link.end) for link in reader.outlinks]
        if not (spans := reader.invisible.spans):
            continue
        words = invisible.counted_words(text, spans, reader.blocks.all, links)
        is_enough = len(words) >= max(invisible.FEWEST_WORDS, invisible.SHARE * len(text.split()))
        marked = invisible.stuffed_words(text, spans, reader.blocks.all, links) > 0
        share = invisible.share_of_most(words) if is_enough else 0.0
        often = [word for word, _ in Counter(words).most_common(invisible.MOST)]
        yield Found("hidden", url, marked, share, len(words), " ".join(often))


def _groups(catalog: Catalog) -> Iterator[dict[str, Any]]:
    sources, targets = catalog.links.arrays()
    names, domains = farms.by_domain(catalog)
    if not len(sources):
        return
    found = farms.groups(domains[sources - 1], domains[targets - 1], len(names))
    for group in np.flatnonzero(found.members > 1).tolist():
        members = [name for name, of in zip(names, found.of.tolist(), strict=True) if of == group]
        yield {
            "domains": len(members),
            "of": int(found.linking),
            "density": float(found.density[group]),
            "outside": float(found.outside[group]),
            "names": members[:10],
        }


def _print(crawled: Crawled, near: int) -> None:
    shares = ", ".join(f"{name} {share:.2f}" for name, share in crawled.shares.items())
    of = {rule: sum(one.rule == rule for one in crawled.pages) for rule in ("stuffed", "hidden")}
    print(
        f"{crawled.documents:,} documents; {of['stuffed']:,} with enough words; their three words: {shares}"
    )
    print(f"{crawled.hiding:,} hide words, {of['hidden']:,} enough of them")
    for group in crawled.groups:
        print("domains that link to each other: {domains} of {of}, density {density:.2f}, "
              "from outside {outside:.2f}: {names}".format(**group))  # fmt: skip
    print(f"{len(crawled.marked)} marks", *crawled.marked, sep="\n", end="\n\n")
    for place, one in enumerate(crawled.pages[:near], 1):
        print(f"{place:4} {one.rule:8} {one.share:.2f} of {one.counted:6,} words  {one.url}  {one.words}")


def _print_made(title: str, rows: Sequence[dict[str, Any]]) -> None:
    table = Table(*map(str, rows[0]), title=title)
    for row in rows:
        table.add_row(*(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
