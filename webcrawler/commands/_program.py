"""`webcrawler COMMAND`, in any folder: the commands of the project, without Scrapy's own."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from webcrawler import __version__
from webcrawler.errors import BadInput, is_installed, require

NAME = "webcrawler"
NO_COMMANDS = ("base",)
NEEDS = {"serve": "serve", "evaluate": "lab", "judge": "judge"}  # the extra; the others need [search]
FIRST_STEPS = """
First steps, in any folder; pages, catalog and index are kept in its folder crawl/ (CRAWL_DIR names another):
  webcrawler crawl https://example.org/ -a max_pages=200
  webcrawler search "your words"
  webcrawler serve

`webcrawler COMMAND --help` says more, and the documentation all: {docs}"""


def main() -> None:
    """The console script. A project of the user's in this folder is left alone: its command is `scrapy`."""
    os.environ["SCRAPY_SETTINGS_MODULE"] = "webcrawler.settings"
    sys.argv[0] = NAME
    chosen = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if chosen in ("-h", "--help"):
        print(overview())
    elif chosen == "--version":
        print(NAME, __version__)
    elif chosen not in names():
        there_are = ", ".join(names())
        print(f"error: no command is called {chosen[:60]!r}; there are {there_are}", file=sys.stderr)
        sys.exit(2)
    else:
        try:
            require(needs(chosen), f"`{NAME} {chosen}`")
        except BadInput as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)
        _execute(chosen)


def _execute(chosen: str) -> None:
    if chosen == "search":
        from webcrawler.commands._shortcut import searched

        if (status := searched(sys.argv[2:])) is not None:
            sys.exit(status)
    from scrapy.cmdline import execute  # takes longer to import than a search takes

    execute()


def needs(name: str) -> str:
    """The extra that a command needs."""
    return NEEDS.get(name, "search")


def names() -> list[str]:
    """The commands, without importing any."""
    folder = import_module(__package__).__path__
    return [one.name for one in iter_modules(folder) if one.name[0] != "_" and one.name not in NO_COMMANDS]


def overview() -> str:
    """A line for each command."""
    lines = ["Usage: webcrawler COMMAND [options] [arguments]", ""]
    for name in names():
        if not is_installed(needs(name)):
            lines.append(f'  {name:<10} needs pip install "scrapy-webcrawler[{needs(name)}]"')
            continue
        module = import_module(f"{__package__}.{name}")
        own = [one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__]
        lines += [f"  {name:<10} {one.summary}" for one in own if hasattr(one, "summary")]
    return "\n".join(lines) + "\n" + FIRST_STEPS.format(docs=documentation() / "index.md")


def documentation() -> Path:
    """The folder that has it: where the package is installed within that, in a clone beside it."""
    package = Path(__file__).parents[1]
    return next(filter(Path.is_dir, (package / "docs", package.parent / "docs")), package)
