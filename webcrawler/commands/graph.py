"""`scrapy graph`: who links to whom, as figures or as a file."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.commands import _parquet
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput

FORMATS = ("graphml", "edgelist", "parquet")
USAGE = "say `scrapy graph stats`, or `scrapy graph export --format graphml FILE`"


class Graph(Command):
    def syntax(self) -> str:
        return "[options] stats | export FILE"

    def short_desc(self) -> str:
        return "Figures of the link graph, or the graph itself"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--format", default="graphml", help=f"of export: {', '.join(FORMATS)} (graphml)")
        parser.add_argument("--json", action="store_true", help="for programs")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args == ["stats"]:
            _show(self.catalog(), opts.json)
        elif len(args) == 2 and args[0] == "export":
            if opts.format not in FORMATS:
                raise BadInput(f"no format {opts.format!r}: choose one of {', '.join(FORMATS)}")
            _export(self.catalog(), opts.format, Path(args[1]))
        else:
            raise BadInput(USAGE)


def _show(catalog: Catalog, as_json: bool) -> None:
    stats = catalog.stats()
    print(json.dumps(stats) if as_json else "\n".join(f"{name:<12}{n:>12,}" for name, n in stats.items()))


def _export(catalog: Catalog, kind: str, file: Path) -> None:
    """Written aside and swapped in: readers see no half a graph."""
    aside = file.with_name(file.name + ".part")
    try:
        if kind == "graphml":
            import networkx  # slow to import, and each `scrapy` command imports all of them

            networkx.write_graphml(catalog.links.to_networkx(), aside)
        elif kind == "parquet":
            _parquet.write(catalog.links.with_urls(), aside)
        else:
            with aside.open("w", encoding="ascii") as out:
                out.writelines(f"{link.source}\t{link.target}\n" for link in catalog.links.all())
        aside.replace(file)
    except OSError as error:
        raise BadInput(f"cannot write {file}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            aside.unlink()
