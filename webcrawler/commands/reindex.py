"""`scrapy reindex`: throw the index away and follow the catalog from the start."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.progress import Progress

from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.index.follower import reindex
from webcrawler.vocabulary.lexicographer import remake


class Reindex(Command):
    def short_desc(self) -> str:
        return "Build the index anew from the catalog, and the vocabulary"

    def long_desc(self) -> str:
        return (
            "Follows the catalog from its first change into a new index. "
            "Searches see the old one until the new one is complete."
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise BadInput(f"reindex takes no arguments, not {args[0][:60]!r}")
        if not (self.crawl_dir / "catalog.sqlite").exists():
            raise BadInput(f"there is no catalog in {self.crawl_dir}: `scrapy crawl index` makes one")
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("changes indexed", total=None)
            reindex(
                self.crawl_dir,
                lambda applied, last: bar.update(task, completed=applied, total=last),
                str(self.project["INDEX_ENGINE"]),
            )
            bar.add_task("words", total=None)
            remake(self.crawl_dir)
        print(f"the index in {self.crawl_dir} is built anew, and the vocabulary")
