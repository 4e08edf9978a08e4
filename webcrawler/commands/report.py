"""`webcrawler report`: what was crawled, a search over it, and what to try next."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.commands._hits import as_text
from webcrawler.commands._program import NAME
from webcrawler.commands._terminal import printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.index import wait_until_caught_up
from webcrawler.search import Searcher
from webcrawler.search.vocabulary import wait_until_made
from webcrawler.text import analysis

DEMO_QUERY = "molecular biology"
HITS = 5
NEXT_COMMANDS = """
Next, try
  {program} serve
  {program} search "{query}" --explain
  {program} frontier stats
  {program} crawl https://example.org/ -a max_pages=200"""


class Report(Command):
    summary = "Wait for the index, then show what was crawled and a sample search"

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        path, program = self.catalog_file, NAME if sys.argv[0] == NAME else f".venv/bin/{NAME}"
        with progress_bars() as progress:
            wait_until_caught_up(self.crawl_dir, lambda done, last: progress("indexing", done, last))
            progress("gathering words for suggestions", 0, None)
            wait_until_made(self.crawl_dir)
        with closing(Catalog(path, readonly=True)) as catalog:
            stats, query = catalog.stats(), _sample_query(self.crawl_dir, catalog)
        print(
            f"Crawled {stats['documents']:,} documents ({stats['duplicates']:,} duplicates) on "
            f"{stats['servers']:,} servers, with {stats['links']:,} links. All are in {self.crawl_dir}/\n"
        )
        if query:
            print(as_text(Searcher(self.crawl_dir).search(query, HITS)))
            print(NEXT_COMMANDS.format(query=query, program=program))
        else:
            print(f"No page with a title was found. To see why, try\n  {program} frontier stats")
            print(f"  {program} frontier explain URL")


def _sample_query(crawl_dir: Path, catalog: Catalog) -> str:
    """Words from the title of a page with many links to it: a query with an answer."""
    if (crawl_dir / "demo.json").exists():
        return DEMO_QUERY
    for url, _ in catalog.links.most_linked(50):
        document = catalog.find(url)
        texts = catalog.texts([document.number]) if document else {}
        for text in texts.values():
            words = [word for word in text.title.split() if analysis.terms(word)]
            if words:
                return printable(" ".join(words[:3]))
    return ""
