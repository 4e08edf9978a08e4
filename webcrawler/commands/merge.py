"""`webcrawler merge`: several data folders become one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from webcrawler.commands._terminal import JSON, printable, progress_bars
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.repository import merge


class Merge(Command):
    arguments = "FOLDER FOLDER … INTO"
    summary = "Make one data folder of several"
    details = (
        "Makes a new data folder INTO of what several machines or crawls have stored: pages, links, "
        "duplicates, index and ranks of all together. The others stay as they are; WARC files are linked "
        "where the file system can."
    )
    options = (JSON,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise BadInput(f"name the folders, and last the new one: `webcrawler merge {self.arguments}`")
        *folders, into = map(Path, args)
        with self.interruptible(lambda: "the same command goes on"):
            print(f"merging {len(folders)} data folders into {printable(str(into))} …", file=sys.stderr)
            with progress_bars() as progress:
                found = merge(folders, into, self.project, progress)._asdict()
            self.show(found, opts)
