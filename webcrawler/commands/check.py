"""`webcrawler check`: do catalog, pages, frontier and index belong together?"""

from __future__ import annotations

import argparse
import json

from webcrawler.commands._terminal import JSON, Option, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.repository import check


class Check(Command):
    summary = "Say whether the stores of the data folder belong together, and what mends them"
    details = (
        "Looks at frontier, catalog, pages and index, also while a crawl runs, and names the command that "
        "mends what is wrong; then the exit status is 1. Starts the private Redis for a moment if need be."
    )
    options = (
        Option("--deep", False, "read all pages and compare their digests"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not (self.crawl_dir / "pages").exists():
            _ = self.catalog_file  # raises where nothing was crawled
        with progress_bars() as progress:
            found = check(self.crawl_dir, self.project, opts.deep, progress)
        said = {store: printable(fault) or "good" for store, fault in found.items()}
        self.exitcode = int(any(found.values()))
        print(
            json.dumps(said) if opts.json else "\n".join(f"{store:<9} {says}" for store, says in said.items())
        )
