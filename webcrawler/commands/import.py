"""`webcrawler import`: takes in what other crawlers have stored."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from webcrawler.commands._frontier_shown import rows
from webcrawler.commands.base import Command, Option, printable, progress_bars
from webcrawler.errors import BadInput
from webcrawler.repository import Imported, import_files

GO_ON = "to go on from these pages: `webcrawler frontier rebuild`, then `webcrawler crawl index`"


class Import(Command):
    arguments = "FILE.warc.gz …"
    summary = "Take in the pages of WARC files that others have made"
    details = (
        "Reads WARC and ARC files (of wget, browsertrix, Heritrix, or another data folder) and takes their "
        "pages in as if they had been crawled: archived, searched, linked. Nothing is fetched. Files that "
        "were taken in before change nothing."
    )
    options = (Option("--json", False, "print JSON"),)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise BadInput(f"name the files: `webcrawler import {self.arguments}`")
        how_to_go_on = "what was taken in stays; the same command takes in the rest"
        with self.interruptible(lambda: how_to_go_on):
            print(f"importing into {printable(str(self.crawl_dir))} …", file=sys.stderr)
            with progress_bars() as progress:
                found = import_files(self.crawl_dir, [Path(arg) for arg in args], self.project, progress)
            self._tell(found, opts)

    def _tell(self, found: Imported, opts: argparse.Namespace) -> None:
        if opts.json:
            print(json.dumps(found._asdict(), indent=2))
        else:
            told = {k: v for k, v in found._asdict().items() if v not in (None, {}) and k != "faults"}
            print("\n".join(rows(told, "")))
            if found.frontier is None:
                print(GO_ON, file=sys.stderr)
        if found.faults:
            raise BadInput("; ".join(found.faults))
