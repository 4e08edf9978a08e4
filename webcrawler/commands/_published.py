"""`scrapy frontier` in every Scrapy project; Scrapy loads it at every command, so it imports little."""

from __future__ import annotations

import argparse
from typing import Any

from scrapy.commands import ScrapyCommand


class Frontier(ScrapyCommand):
    """Becomes the command itself, `_elsewhere.py`, when it is the one that was asked for."""

    # Scrapy offers every command class that a module of this folder defines.
    __module__ = "webcrawler.commands"

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}

    def short_desc(self) -> str:
        return "Show what the frontier of a spider holds, fetch pages again, block servers"

    def syntax(self) -> str:
        return str(self._command().syntax())

    def long_desc(self) -> str:
        return str(self._command().long_desc())

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        self._command().add_options(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        self._command().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        command = self._command()
        command.run(args, opts)
        self.exitcode = command.exitcode

    def _command(self) -> Any:
        from webcrawler.commands._elsewhere import Elsewhere

        command = Elsewhere()
        command.settings = self.settings
        return command
