"""`scrapy reindex`: build a new index by following the catalog from its first change."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from webcrawler.archive.catalog import Catalog
from webcrawler.commands._output import Progress, progress_bars
from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput
from webcrawler.index import reindex
from webcrawler.search.vocabulary import remake


class Reindex(Command):
    def short_desc(self) -> str:
        return "Rebuild the index and the vocabulary from the catalog"

    def long_desc(self) -> str:
        return (
            "Builds a new index from all changes in the catalog. Searches use the old index until the new "
            "one is complete. A catalog of an older version is upgraded first."
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise BadInput(f"reindex takes no arguments, not {args[0][:60]!r}")
        path = self.catalog_file
        with closing(Catalog(path)):  # opened for writing, so that one of an older version is upgraded
            pass
        with self.interruptible(lambda: "what was not finished is left as it was"):
            print(f"rebuilding the index in {printable(str(self.crawl_dir))} …", file=sys.stderr)
            with progress_bars() as progress:
                self._build(progress)
            print(f"the index and the vocabulary in {self.crawl_dir} have been rebuilt")

    def _build(self, progress: Progress) -> None:
        def show(applied: int, last: int) -> None:
            progress("changes", applied, last)
            if applied == last:
                progress("anchors", 0, None)

        reindex(self.crawl_dir, show)
        progress("words", 0, None)
        remake(self.crawl_dir)
