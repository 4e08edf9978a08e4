"""`webcrawler reindex`: build a new index by following the catalog from its first change."""

from __future__ import annotations

import argparse
import sys

from webcrawler.commands._terminal import printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.index import reindex
from webcrawler.search.vocabulary import remake


class Reindex(Command):
    summary = "Rebuild the index and the vocabulary from the catalog"
    details = (
        "Builds a new index from all changes in the catalog. Searches use the old index until the new "
        "one is complete."
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        self.catalog().close()  # says what is wrong with it before anything begins
        with self.interruptible(lambda: "what was not finished is left as it was"):
            with progress_bars() as progress:
                print(f"rebuilding the index in {printable(str(self.crawl_dir))} …", file=sys.stderr)

                def show(applied: int, last: int) -> None:
                    progress("changes", applied, last)
                    if applied == last:
                        progress("anchors", 0, None)

                reindex(self.crawl_dir, show)
                progress("words", 0, None)
                remake(self.crawl_dir)
            print(f"the index and the vocabulary in {self.crawl_dir} have been rebuilt")
