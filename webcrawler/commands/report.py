"""`scrapy report`: what was crawled, a search over it, and what to try next."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from rich.console import Console

from webcrawler.archive.catalog import Catalog
from webcrawler.commands.base import Command, printable
from webcrawler.commands.search import as_text
from webcrawler.errors import BadInput
from webcrawler.index import wait_until_caught_up
from webcrawler.search import Searcher
from webcrawler.search.vocabulary import wait_until_made
from webcrawler.text import analysis

DEMO_QUERY = "molecular biology"
HITS = 5


class Report(Command):
    def short_desc(self) -> str:
        return "Wait for the index, then show what was crawled and a sample search"

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        path = self.crawl_dir / "catalog.sqlite"
        if not path.exists():
            raise BadInput(f"nothing was crawled into {self.crawl_dir} yet: run `scrapy crawl index` first")
        _wait(self.crawl_dir)
        with closing(Catalog(path, readonly=True)) as catalog:
            stats, query = catalog.stats(), _sample_query(self.crawl_dir, catalog)
        print(
            f"Crawled {stats['documents']:,} documents ({stats['duplicates']:,} duplicates) on "
            f"{stats['servers']:,} servers, with {stats['links']:,} links. All are in {self.crawl_dir}/\n"
        )
        if query:
            print(as_text(Searcher(self.crawl_dir).search(query, HITS)))
            print(_next_commands(query))
        else:
            print("No page with a title was found. Why? Try\n  .venv/bin/scrapy frontier stats")
            print("  .venv/bin/scrapy frontier explain URL")


def _wait(crawl_dir: Path) -> None:
    """Until index and vocabulary hold what was crawled; says so where that takes a while."""
    console = Console(stderr=True)
    with console.status("indexing …") as status:
        wait_until_caught_up(
            crawl_dir, lambda done, last: status.update(f"indexing … {done:,} of {last:,}")
        )
        status.update("gathering words for suggestions …")
        wait_until_made(crawl_dir)


def _sample_query(crawl_dir: Path, catalog: Catalog) -> str:
    """Words of a title that many link to: something that is there."""
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


def _next_commands(query: str) -> str:
    return (
        "\nNext, try\n"
        "  make serve\n"
        f'  .venv/bin/scrapy search "{query}" --explain\n'
        "  .venv/bin/scrapy frontier stats\n"
        "  make crawl SEEDS=https://example.org/ MAX_PAGES=200"
    )
