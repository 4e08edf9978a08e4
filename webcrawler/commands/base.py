"""What our commands share: exit status 0 did it, 1 ran and failed, 2 asked wrongly, with one clear line."""

from __future__ import annotations

import argparse
import sqlite3
import sys
import unicodedata
from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, TextIO

from redis.exceptions import RedisError
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.settings import complaint, removed


class Command(ScrapyCommand):
    """Subclasses say what to do in `answer`, and raise what is wrong."""

    # Scrapy offers every command class that a module of this folder defines; this one is none.
    __module__ = "webcrawler.commands"

    requires_project = True
    requires_crawler_process = False  # a command that crawls sets it
    default_settings: ClassVar[dict[str, object]] = {"LOG_ENABLED": False}

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do it, print to stdout.

        Raises:
            BadInput: asked wrongly. Any other WebcrawlerError: tried and failed.
        """

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        _tolerate(sys.stdout)
        _tolerate(sys.stderr)
        for line in removed(self.project):
            print(f"warning: {line}", file=sys.stderr)
        try:
            if why := complaint("INDEX_ENGINE", self.project.get("INDEX_ENGINE", "whoosh")):
                raise BadInput(f"{why}; after tantivy, `scrapy reindex` builds the index anew")
            self.answer(_positional(args), opts)
        except WebcrawlerError as error:
            self._fail(error, 2 if isinstance(error, BadInput) else 1)
        except BrokenPipeError:  # the reader has seen enough: `scrapy search … | head -1`
            sys.stdout = None  # else the interpreter flushes it and complains
        except (OSError, RedisError, sqlite3.Error) as error:  # a full disk, a file without rights
            self._fail(error, 1)
        except KeyboardInterrupt:
            self.exitcode = 1
            print("interrupted", file=sys.stderr)

    def _fail(self, error: Exception, exitcode: int) -> None:
        self.exitcode = exitcode
        print(f"error: {printable(str(error))}", file=sys.stderr)

    @property
    def project(self) -> Settings:
        assert self.settings is not None, "scrapy.cmdline sets it before it runs a command"
        return self.settings

    @property
    def crawl_dir(self) -> Path:
        return Path(self.project.get("CRAWL_DIR") or "crawl")

    def catalog(self) -> Catalog:
        """What was crawled, to be read; BadInput where nothing was."""
        path = self.crawl_dir / "catalog.sqlite"
        if not path.exists():
            raise BadInput(f"nothing was crawled into {path.parent} yet: run `scrapy crawl index` first")
        return Catalog(path, readonly=True)


def printable(text: str) -> str:
    """The text on one line, without what a terminal obeys: control codes, turns of direction."""
    return "".join(filter(_harmless, " ".join(text.split())))


def _harmless(character: str) -> bool:
    return (
        unicodedata.category(character) not in ("Cc", "Cs")
        and unicodedata.bidirectional(character) not in _TURNS
    )


_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _positional(args: list[str]) -> list[str]:
    """Scrapy passes options that it does not know on as arguments."""
    for argument in args:
        if argument.startswith("--") and " " not in argument and argument != "--":
            raise BadInput(f"unknown option {argument}: --help lists those that there are")
    return [argument for argument in args if argument != "--"]


def _tolerate(stream: TextIO) -> None:
    """A terminal that cannot show a character gets its code instead of an exception."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
