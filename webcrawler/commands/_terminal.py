"""What a command says on a terminal; without Scrapy, which takes longer to import than to search."""

from __future__ import annotations

import argparse
import sqlite3
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from redis.exceptions import RedisError

from webcrawler.errors import BadInput, WebcrawlerError

TEXT_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}

Progress = Callable[[str, int, int | None], None]  # what is being done, how much is done, of how much


class Option(NamedTuple):
    """An option of a command line. Its value is text; that of a switch is True or False."""

    name: str
    default: str | bool | None  # False: it is a switch
    help: str
    metavar: str | None = None


JSON = Option("--json", False, "print JSON")


def add_options(parser: argparse.ArgumentParser, options: Iterable[Option]) -> None:
    for name, default, text, metavar in options:
        if default is False:
            parser.add_argument(name, action="store_true", help=text)
        else:
            parser.add_argument(name, default=default, help=text, metavar=metavar)


def finished(work: Callable[[], object]) -> int:
    """Do the work of a command, and print in one line why it failed; returns its exit status."""
    for stream in (sys.stdout, sys.stderr):  # what a terminal cannot show is escaped
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        work()
    except BrokenPipeError:  # the reader has seen enough: `webcrawler search … | head -1`
        sys.stdout = None  # else the interpreter flushes it and complains
    except (WebcrawlerError, OSError, RedisError, sqlite3.Error) as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, BadInput) else 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 1
    return 0


def printable(text: str) -> str:
    """The text on one line, without control characters and changes of writing direction."""
    return "".join(
        character
        for character in " ".join(text.split())
        if unicodedata.category(character) not in ("Cc", "Cs")
        and unicodedata.bidirectional(character) not in TEXT_DIRECTIONS
    )


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """On a terminal, show a bar for the current step; the bar of the step before makes room for it."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, Any] = {}

        def progress(step: str, done: int, total: int | None) -> None:
            if step not in tasks:
                for earlier in bars.tasks:  # is over: it is drawn as such before it goes
                    bars.update(earlier.id, completed=earlier.total)
                bars.refresh()
                for earlier in bars.tasks:
                    bars.update(earlier.id, visible=False)
                tasks[step] = bars.add_task(step)
            bars.update(tasks[step], completed=done, total=total)

        yield progress
