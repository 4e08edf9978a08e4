"""`webcrawler import`: takes in what other crawlers have stored."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from webcrawler.commands._terminal import JSON, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.repository import import_files

GO_ON = "to go on from these pages: `webcrawler frontier rebuild`, then `webcrawler crawl index`"


class Import(Command):
    arguments = "FILE.warc.gz …"
    summary = "Take in the pages of WARC files that others have made"
    details = (
        "Reads WARC and ARC files (of wget, browsertrix, Heritrix, or another data folder) and takes their "
        "pages in as if they had been crawled: archived, searched, linked. Nothing is fetched. Files that "
        "were taken in before change nothing."
    )
    options = (JSON,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise BadInput(f"name the files: `webcrawler import {self.arguments}`")
        with self.interruptible(lambda: "what was taken in stays; the same command takes in the rest"):
            print(f"importing into {printable(str(self.crawl_dir))} …", file=sys.stderr)
            with progress_bars() as progress:
                found = import_files(self.crawl_dir, [Path(arg) for arg in args], self.project, progress)
            told = {k: v for k, v in found._asdict().items() if v not in (None, {}) and k != "faults"}
            self.show(found._asdict() if opts.json else told, opts)
            if found.frontier is None and not opts.json:
                print(GO_ON, file=sys.stderr)
            if found.faults:
                raise BadInput("; ".join(found.faults))
