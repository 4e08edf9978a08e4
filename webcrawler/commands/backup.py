"""`webcrawler backup`: a second copy of the data folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from webcrawler.commands._terminal import JSON, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.repository import backup

REINDEX = "`webcrawler reindex` makes the index again that is left out"


class Backup(Command):
    arguments = "DEST"
    summary = "Copy the data folder, also while a crawl runs"
    details = (
        "Makes DEST a copy of all that cannot be made again: catalog, pages, frontier, scope, judgments, "
        "queries. Done again, it copies what is new. DEST is a data folder."
    )
    options = (JSON,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise BadInput("name one folder: `webcrawler backup DEST`")
        _, into = self.catalog_file, Path(args[0])
        with self.interruptible(lambda: "the same command goes on"), progress_bars() as progress:
            new = backup(self.crawl_dir, into, progress)
            says = f"{into} is up to date, with {new:,} more bytes of pages; a crawl or {REINDEX}"
            print(json.dumps({"new_bytes": new}) if opts.json else printable(says))
