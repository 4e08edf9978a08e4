"""`webcrawler rebuild`: catalog, index and ranks from the WARC files alone."""

from __future__ import annotations

import argparse
import sys

from webcrawler.commands._terminal import JSON, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.repository import rebuild


class Rebuild(Command):
    summary = "Make catalog, index and ranks again from the WARC files"
    details = (
        "Reads all WARC files of the data folder and makes catalog, ranks, index and vocabulary of them. "
        "What is there stays in use until all is made. Removals (scope.json) are obeyed. What waits is known "
        "to Redis alone: if that is lost as well, run `webcrawler frontier rebuild` then."
    )
    options = (JSON,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        with self.interruptible(lambda: "all is as it was"):
            folder = printable(str(self.crawl_dir))
            print(f"rebuilding {folder} from its WARC files …", file=sys.stderr)
            with progress_bars() as progress:
                found = rebuild(self.crawl_dir, self.project, progress)._asdict()
            self.show(found, opts)
