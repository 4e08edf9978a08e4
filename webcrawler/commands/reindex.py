"""`scrapy reindex`: throw the index away and follow the catalog from the start."""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import closing

from rich.console import Console
from rich.progress import Progress

from webcrawler.archive.catalog import Catalog
from webcrawler.commands._interrupts import made_of
from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.index import reindex
from webcrawler.search.vocabulary import remake


class Reindex(Command):
    def short_desc(self) -> str:
        return "Build the index anew from the catalog, and the vocabulary"

    def long_desc(self) -> str:
        return (
            "Follows the catalog from its first change into a new index. "
            "Searches see the old one until the new one is complete. "
            "What an older version has crawled is brought up to date first."
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise BadInput(f"reindex takes no arguments, not {args[0][:60]!r}")
        path = self.crawl_dir / "catalog.sqlite"
        if not path.exists():
            raise BadInput(f"there is no catalog in {self.crawl_dir}: `scrapy crawl index` makes one")
        with closing(Catalog(path)):  # open for writing: an older version's gets the tables of this one
            pass
        try:
            with made_of(signal.SIGTERM, signal.SIGHUP):
                print(f"building the index in {printable(str(self.crawl_dir))} anew …", file=sys.stderr)
                self._build()
        except KeyboardInterrupt:
            raise WebcrawlerError("interrupted: what was not complete is as it was before") from None
        print(f"the index in {self.crawl_dir} is built anew, and the vocabulary")

    def _build(self) -> None:
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("changes", total=None)

            def show(applied: int, last: int) -> None:
                bar.update(task, completed=applied, total=last)
                if applied == last:
                    bar.add_task("anchors", total=None)

            reindex(self.crawl_dir, show)
            bar.add_task("words", total=None)
            remake(self.crawl_dir)
