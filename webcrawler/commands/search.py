"""`scrapy search`: what Pinkerton's Figure 3 shows, on a terminal or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from textwrap import fill

from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput
from webcrawler.records import Hit
from webcrawler.search import Results, Searcher
from webcrawler.search.matches import Contribution
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.search.reference import load

_INDENT = " " * 5  # under the title, behind "1000 "


class Search(Command):
    def syntax(self) -> str:
        return '[options] "molecular biology"'

    def short_desc(self) -> str:
        return "Search the pages that were crawled"

    def long_desc(self) -> str:
        return (
            "Pages with some or all of the words, the most relevant first. "
            '+word is demanded, -word excluded, "some words" stand next to each other; '
            "title:word and site:example.org restrict; OR."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-n", dest="limit", default="15", help="hits to show (15)")
        parser.add_argument("--ranking", default=DEFAULT, help=f"{', '.join(RANKINGS)} ({DEFAULT})")
        parser.add_argument("--explain", action="store_true", help="say what each word adds")
        parser.add_argument("--json", action="store_true", help="for programs")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        reference = self.project.get("SEARCH_REFERENCE")
        searcher = Searcher(self.crawl_dir, load(Path(reference)) if reference else None)
        results = searcher.search(" ".join(args), _count(opts.limit), opts.ranking)
        if results.note:
            print(f"note: {printable(results.note)}", file=sys.stderr)
        print(as_json(results) if opts.json else as_text(results, explain=opts.explain))


def as_text(results: Results, explain: bool = False) -> str:
    """A header, then per hit relevance and title, URL, snippet, and on demand the sum behind it."""
    found = "1 document" if results.total == 1 else f"{results.total:,} documents"
    lines = [
        f'Search results for the query "{printable(results.query)}":',
        f"{found} in {results.seconds:.3f} s",
    ]
    for position, hit in enumerate(results.hits):
        lines += ["", *_hit(hit), *_folded(results.near_duplicates[position])]
        if explain:
            lines += [_contribution(part) for part in results.explanations[position]]
    return "\n".join(lines)


def as_json(results: Results) -> str:
    """The contract with programs; `fetched` is ISO 8601, UTC."""
    hits = [
        hit._asdict() | {"fetched": _iso(hit.fetched), "near_duplicates": folded}
        for hit, folded in zip(results.hits, results.near_duplicates, strict=True)
    ]
    answer = {"query": results.query, "total": results.total, "seconds": results.seconds, "hits": hits}
    return json.dumps(answer, indent=2)


def _hit(hit: Hit) -> list[str]:
    snippet = fill(printable(hit.snippet), 100, initial_indent=_INDENT, subsequent_indent=_INDENT)
    lines = [f"{hit.relevance:04d} {printable(hit.title)}", f"{_INDENT}{printable(hit.url)}", snippet]
    return [line for line in lines if line]


def _folded(number: int) -> list[str]:
    return [f"{_INDENT}and {number:,} near-duplicate{'s' if number > 1 else ''}"] if number else []


def _contribution(part: Contribution) -> str:
    return (
        f"{_INDENT}{printable(part.word)}: document weight {part.document_weight:.4g}, "
        f"query weight {part.query_weight:.4g}, contribution {part.contribution:.4g}"
    )


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _count(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadInput(f"-n wants a number of hits, not {text[:60]!r}") from None
