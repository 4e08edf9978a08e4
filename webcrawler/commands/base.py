"""What our commands share: exit status 0 for success, 1 for failure, 2 for wrong usage."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings

from webcrawler.commands._program import NAME
from webcrawler.commands._terminal import Option, add_options, finished, printable
from webcrawler.errors import BadInput
from webcrawler.settings import complaint, is_as_not_set

if TYPE_CHECKING:  # slow to import, and Scrapy's own commands import ours
    from webcrawler.archive.catalog import Catalog


class Command(ScrapyCommand):
    """Subclasses do their work in `answer`, and raise what goes wrong.

    Attributes:
        arguments: what follows the options, for the help page; "": nothing may follow them.
        summary: one line for the list of commands.
        details: more for the help page; the summary if there is none.
        program: who runs it, for the help page.
        options: beside those that Scrapy gives to all commands.
        takes_query: an unknown option that stands alone is what is searched for.
    """

    # Scrapy offers every command class that a module of this folder defines; this one is only a base.
    __module__ = "webcrawler.commands"

    requires_project = True
    requires_crawler_process = False  # a command that crawls makes its own
    default_settings: ClassVar[dict[str, object]] = {"LOG_ENABLED": False}

    program = NAME
    arguments = summary = details = ""
    options: ClassVar[tuple[Option, ...]] = ()
    takes_query = False

    def syntax(self) -> str:
        return f"[options] {self.arguments}".strip()

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.details or self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        if parser.usage:
            parser.usage = parser.usage.replace("scrapy", self.program, 1)
        add_options(parser, self.options)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        opts.set = [option for option in opts.set if not is_as_not_set(option)]
        super().process_options(args, opts)

    def views_settings(self) -> bytes:
        """What the process that derives views is told."""
        from webcrawler import connection  # slow to import, and not needed for help
        from webcrawler.background import VIEWS_NEED

        return connection.serialized(self.project, others=VIEWS_NEED)

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the work and print to standard output.

        Raises:
            BadInput: wrong usage. Any other WebcrawlerError: the command failed.
        """

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        def work() -> None:
            partitions = self.project.get("FRONTIER_PARTITIONS", 0)
            for name, value in (("CRAWL_DIR", self.crawl_dir), ("FRONTIER_PARTITIONS", partitions)):
                if why := complaint(name, value):
                    raise BadInput(why)
            self.answer(self._positional(args), opts)

        self.exitcode = finished(work) or self.exitcode

    def _positional(self, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        for argument in args[:end]:  # Scrapy passes unknown options on as arguments
            if (
                argument.startswith("--")
                and " " not in argument
                and not (self.takes_query and len(args) == 1)
            ):
                rest = "; what is searched for stands behind --" if self.takes_query else ""
                raise BadInput(f"unknown option {argument}: --help lists all options{rest}")
        given = args[:end] + args[end + 1 :]
        if given and not self.arguments:
            name = type(self).__module__.rpartition(".")[2]
            raise BadInput(f"{name} takes options only, not {given[0][:60]!r}")
        return given

    @contextmanager
    def interruptible(self, outcome: Callable[[], str]) -> Iterator[None]:
        """End the block on Ctrl-C, `kill` or a closed terminal, and print the outcome; the exit status is 1.

        Later signals are ignored, since cleaning up takes a moment; one that is ignored (nohup) stays so.
        """
        ours = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) == signal.SIG_DFL]

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
                signal.signal(number, signal.SIG_DFL)

    def show(self, found: Mapping[str, Any], opts: argparse.Namespace) -> None:
        """Print as `--json` says: JSON, or a line for each name."""
        print(json.dumps(found, indent=2) if opts.json else "\n".join(rows(found)))

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
            raise BadInput(f"nothing was crawled into {path.parent} yet: run `webcrawler crawl index` first")
        return path

    def catalog(self) -> Catalog:
        """The catalog, for reading. Raises BadInput: nothing was crawled yet."""
        from webcrawler.archive.catalog import Catalog

        return Catalog(self.catalog_file, readonly=True)


def rows(table: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """A line for each name, with those of a table within it indented below it."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from rows(value, indent + "  ")
            continue
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        text = f"{value:,}" if isinstance(value, int) else str(value)
        yield f"{indent}{name:<{20 - len(indent)}} {printable(text)}"


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


def check_folder(folder: Path) -> None:
    """Create the folder if it is missing. Raises BadInput: files cannot be written to it."""
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


def check_file(file: Path) -> None:
    """Raises BadInput: the file cannot be written, or its folder is missing. Leaves the file as it is."""
    with _write_errors(file):
        if _is_special(file):
            file.open("ab").close()
        elif not file.parent.is_dir():
            raise BadInput(f"cannot write to {file}: there is no folder {file.parent}")
        else:
            check_folder(file.parent)


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Raises BadInput: the file cannot be written; a file that was there stays."""
    with output_file(file) as part:
        part.write_text(json.dumps(value) + "\n", encoding="utf-8")


@contextmanager
def output_file(file: Path) -> Iterator[Path]:
    """A path to write to, which then replaces the file: readers see the old content or the new.

    Raises:
        BadInput: it cannot be written; a file that was there stays.
    """
    part = file if _is_special(file) else file.with_name(file.name + ".part")
    try:
        with _write_errors(file):
            yield part
            if part != file:
                part.replace(file)
    finally:
        if part != file:
            with suppress(OSError):
                part.unlink()


def _is_special(file: Path) -> bool:
    """A device or pipe such as /dev/stdout, which nothing can replace; or a folder."""
    return file.exists() and not file.is_file()


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"cannot write to {path}: {error.strerror}") from None
