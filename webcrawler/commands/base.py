"""What our commands share: exit status 0 for success, 1 for failure, 2 for wrong usage."""

from __future__ import annotations

import argparse
import signal
import sqlite3
import sys
import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from redis.exceptions import RedisError
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.settings import complaint, removed

if TYPE_CHECKING:  # slow to import, and each `scrapy` command imports all of them
    from webcrawler.search import Searcher

TEXT_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


class Command(ScrapyCommand):
    """Subclasses do their work in `answer`, and raise what goes wrong."""

    # Scrapy offers every command class that a module of this folder defines; this one is only a base.
    __module__ = "webcrawler.commands"

    requires_project = True
    requires_crawler_process = False  # a command that crawls makes its own
    default_settings: ClassVar[dict[str, object]] = {"LOG_ENABLED": False}

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the work and print to standard output.

        Raises:
            BadInput: wrong usage. Any other WebcrawlerError: the command failed.
        """

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show is escaped
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        for line in removed(self.project):
            print(f"warning: {line}", file=sys.stderr)
        try:
            if why := complaint("INDEX_ENGINE", self.project.get("INDEX_ENGINE", "whoosh")):
                raise BadInput(f"{why}; after tantivy, `scrapy reindex` builds the index anew")
            self.answer(_positional(args), opts)
        except BrokenPipeError:  # the reader has seen enough: `scrapy search … | head -1`
            sys.stdout = None  # else the interpreter flushes it and complains
        except (WebcrawlerError, OSError, RedisError, sqlite3.Error) as error:
            self.exitcode = 2 if isinstance(error, BadInput) else 1
            print(f"error: {printable(str(error))}", file=sys.stderr)
        except KeyboardInterrupt:
            self.exitcode = 1
            print("interrupted", file=sys.stderr)

    @contextmanager
    def interruptible(self, outcome: Callable[[], str]) -> Iterator[None]:
        """End the block on Ctrl-C, `kill` or a closed terminal, and print the outcome; the exit status is 1.

        Later signals are ignored, since cleaning up takes a moment; one that is ignored (nohup) stays so.
        """
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        ours = [number for number, handler in before.items() if handler == signal.SIG_DFL]

        def interrupt(number: int, frame: object) -> None:
            for number in ours:
                signal.signal(number, signal.SIG_IGN)
            raise KeyboardInterrupt

        try:
            for number in ours:
                signal.signal(number, interrupt)
            yield
        except KeyboardInterrupt:
            self.exitcode = 1
            print(f"interrupted: {outcome()}", file=sys.stderr)
        finally:
            for number in ours:
                signal.signal(number, before[number])

    @property
    def project(self) -> Settings:
        assert self.settings is not None, "scrapy.cmdline sets it before it runs a command"
        return self.settings

    @property
    def crawl_dir(self) -> Path:
        return Path(self.project.get("CRAWL_DIR") or "crawl")

    @property
    def catalog_file(self) -> Path:
        """Raises BadInput: nothing was crawled yet."""
        path = self.crawl_dir / "catalog.sqlite"
        if not path.exists():
            raise BadInput(f"nothing was crawled into {path.parent} yet: run `scrapy crawl index` first")
        return path

    def catalog(self) -> Catalog:
        """The catalog, for reading. Raises BadInput: nothing was crawled yet."""
        return Catalog(self.catalog_file, readonly=True)

    def searcher(self, crawl_dir: Path) -> Searcher:
        """A searcher with the reference of the setting SEARCH_REFERENCE."""
        from webcrawler.search import Searcher
        from webcrawler.text import load

        reference = self.project.get("SEARCH_REFERENCE")
        return Searcher(crawl_dir, load(Path(reference)) if reference else None)


def printable(text: str) -> str:
    """The text on one line, without control characters and changes of writing direction."""
    return "".join(
        character
        for character in " ".join(text.split())
        if unicodedata.category(character) not in ("Cc", "Cs")
        and unicodedata.bidirectional(character) not in TEXT_DIRECTIONS
    )


def whole_number(text: str, option: str, least: int = 0, most: int = 10**17) -> int:
    """Raises BadInput: the value of the option is no whole number in this range."""
    if text.isascii() and text.isdecimal() and len(text) < 18 and least <= int(text) <= most:
        return int(text)
    limits = f"from {least:,}" if most == 10**17 else f"from {least:,} to {most:,}"
    raise BadInput(f"{option} must be a whole number {limits}, not {text[:60]!r}")


def fraction(text: str, option: str, most: float = 1.0) -> float:
    """Raises BadInput: the value of the option is no number from 0 to `most`."""
    try:
        if 0 <= float(text) <= most:
            return float(text)
    except ValueError:
        pass
    raise BadInput(f"{option} must be a number from 0 to {most:g}, not {text[:60]!r}")


def comma_separated(text: str, option: str) -> list[str]:
    """Raises BadInput: there is no item, or the text is not UTF-8."""
    if items := [item.strip() for item in utf8(text, option).split(",") if item.strip()]:
        return items
    raise BadInput(f"{option} needs at least one item")


def utf8(text: str, option: str) -> str:
    """The text unchanged. Raises BadInput: the option was given as bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:  # Python passes such bytes on as surrogates
        raise BadInput(f"{option} must be UTF-8 text") from None
    return text


def _positional(args: list[str]) -> list[str]:
    """Scrapy passes unknown options on as arguments."""
    for argument in args:
        if argument.startswith("--") and " " not in argument and argument != "--":
            raise BadInput(f"unknown option {argument}: --help lists all options")
    return [argument for argument in args if argument != "--"]
