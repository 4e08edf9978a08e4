"""A search and its hits, as text or JSON (Pinkerton 1994, Figure 3); without Scrapy, see `_terminal`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import fill

from webcrawler import clock
from webcrawler.background import is_crawling
from webcrawler.commands._searched import cluster_searcher
from webcrawler.commands._terminal import JSON, Option, printable, progress_bars
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.index import follower
from webcrawler.orderings import whole_number
from webcrawler.records import Hit
from webcrawler.search import SORTS, Part, Results, Searcher, as_dict, seen
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.text.query import MAX_CHARACTERS

_INDENT = " " * 5  # as wide as "1000 " before the title

OPTIONS = (
    Option("-n", "15", "how many hits to show (15)", "LIMIT"),
    Option("--ranking", DEFAULT, f"{', '.join(RANKINGS)} ({DEFAULT})"),
    Option("--sort", SORTS[0], f"what comes first: {' or '.join(SORTS)} ({SORTS[0]})"),
    Option("--exact", False, "do not correct misspelled words"),
    Option("--explain", False, "show how each score is made up"),
    JSON,
)


def search(args: Sequence[str], opts: argparse.Namespace, crawl_dir: Path, cluster: str) -> None:
    """Print the hits in a data folder, or in a cluster.

    Raises:
        BadInput: wrong usage. Any other WebcrawlerError: nothing can be searched.
    """
    text = " ".join(args).encode("utf-8", "replace").decode()  # arguments may be bytes that are not UTF-8
    if not text.strip():
        raise BadInput("the query is empty: type a word to look for")
    if len(text) > MAX_CHARACTERS:
        raise BadInput(f"a query of {len(text):,} characters is too long: at most {MAX_CHARACTERS:,}")
    searcher = cluster_searcher(cluster, crawl_dir) if cluster else Searcher(crawl_dir)
    find = partial(
        searcher.search,
        text,
        whole_number("-n", opts.n),
        opts.ranking,
        explain=opts.explain,
        sort=opts.sort,
        exact=opts.exact,
    )
    results = find()
    if not cluster and not results.indexed and _made_first_index(crawl_dir):
        results = find()
    if not results.asks:
        raise BadInput(results.note or "the query has no word to look for")
    notes = [results.note]
    if not cluster and results.indexed and (behind := follower.lag(crawl_dir)):
        notes.append(
            f"the index is behind the crawl, {behind:,} changes to go: `webcrawler report` waits for it"
        )
    for note in filter(None, notes):
        print(f"note: {printable(note)}", file=sys.stderr)
    print(json.dumps(as_dict(results), indent=2) if opts.json else as_text(results))


def _made_first_index(crawl_dir: Path) -> bool:
    """Wait for what a crawl that is over has left to its follower: until then nothing can be found."""
    with suppress(OSError, WebcrawlerError):  # as in a folder that is only readable: nothing is found then
        if follower.lag(crawl_dir) and not is_crawling(crawl_dir):
            with progress_bars() as progress:
                follower.wait_until_caught_up(crawl_dir, partial(progress, "indexing"))
            return True
    return False


def as_text(results: Results) -> str:
    """A header; then of each hit relevance, title, where it leads, snippet, further sections, explanation."""
    pages = "1 page" if results.total == 1 else f"{results.total:,} pages"
    lines = [
        f'Search results for the query "{printable(results.query)}":',
        f"{'more than ' if results.at_least else ''}{pages} in {results.seconds:.3f} s",
    ]
    if results.corrected:
        lines.append(f"results for: {printable(results.corrected)} (--exact searches for the query as typed)")
    if results.other_reading:
        lines.append(f"other reading: {printable(results.other_reading)}")
    if results.did_you_mean:
        lines.append(f"did you mean: {printable(results.did_you_mean)}")
    for related, label in ((results.added, "searched for, too"), (results.related, "related")):
        if related:
            lines.append(f"{label}: {', '.join(printable(word.spelled) for word in related)}")
    for place, hit in enumerate(results.hits):
        lines += ["", *_hit(hit)]
        if place < len(results.explanations):
            lines += _explanation(results.explanations[place])
    return "\n".join(lines)


def _hit(hit: Hit) -> list[str]:
    snippet = fill(printable(hit.snippet), 100, initial_indent=_INDENT, subsequent_indent=_INDENT)
    title = f"{hit.title} › {hit.sections[0].heading}" if hit.sections else hit.title
    lines = [f"{hit.relevance:04d} {printable(title)}", f"{_INDENT}{printable(hit.href)}", snippet]
    lines += [f"{_INDENT}{printable(one.heading)}: {printable(one.url)}" for one in hit.sections[1:]]
    said = seen(hit, clock.now()) or "never fetched: this is what links to it say"
    lines.append(f"{_INDENT}{said}")
    if hit.near_duplicates:
        lines.append(f"{_INDENT}and {hit.near_duplicates:,} near-duplicate{'s'[: hit.near_duplicates - 1]}")
    return [line for line in lines if line]


def _explanation(parts: list[Part]) -> list[str]:
    """A line for each part: what it adds to the score, and how."""
    widest = max((len(printable(part.what)) for part in parts), default=0)
    rows = [
        f"{_INDENT}{part.contribution:12.4g}  {printable(part.what):{widest}}  {printable(part.detail)}"
        for part in parts
    ]
    return [*rows, f"{_INDENT}{sum(part.contribution for part in parts):12.4g}  in all"]
