"""`scrapy frontier` in every Scrapy project; Scrapy loads it at every command, so it imports little."""

from __future__ import annotations

import argparse

from scrapy.commands import ScrapyCommand


class Frontier(ScrapyCommand):
    """Becomes the command itself, `_elsewhere.py`, when it is the one that was asked for."""

    # Scrapy offers every command class that a module of this folder defines.
    __module__ = "webcrawler.commands"

    requires_crawler_process = False

    def short_desc(self) -> str:
        return "Show what the frontier of a spider holds, fetch pages again, block servers"

    def syntax(self) -> str:
        """What Scrapy asks a command for first, once it is to run."""
        from webcrawler.commands._elsewhere import Elsewhere

        self.__class__ = Elsewhere  # type: ignore[assignment]
        return self.syntax()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Never called: it is that of `Elsewhere` by then."""
