"""`webcrawler graph`: who links to whom, as numbers or as a file."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from webcrawler.archive.catalog import NOT_FETCHED, Catalog
from webcrawler.commands._terminal import Option, progress_bars
from webcrawler.commands.base import Command, output_file
from webcrawler.errors import BadInput, Unavailable, require

FORMATS = ("graphml", "edgelist", "parquet")
USAGE = "use `webcrawler graph` with stats, run or take, or with export --format graphml FILE"

PARQUET_COLUMNS = ("source", "target", "source_url", "target_url", "anchor", "rel", "target_fetched")
ROW_GROUP = 100_000  # edges: some 20 MB while they are written

EDGE_LIST = "# source\ttarget\twas the target fetched?\trel\n"

Edge = tuple[int, int, str, str, str, str, int]


class Graph(Command):
    arguments = "stats | export FILE | run | take"
    summary = "Show the size of the link graph, export it, or rank the pages of all folders together"
    options = (
        Option("--format", "graphml", f"of export: {', '.join(FORMATS)} (graphml)"),
        Option("--engine", "duckdb", "of run: duckdb, on this machine, or spark (duckdb)"),
        Option("--master", "", "of run with spark: as spark://host:7077 (all processors of this machine)"),
        Option("--memory", "", "of run: what the engine may take, as 1GB"),
        Option("--json", False, "print stats, or what was made, as JSON"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args == ["stats"]:
            stats = self.catalog().stats()
            rows = (f"{name:<12}{number:>12,}" for name, number in stats.items())
            print(json.dumps(stats) if opts.json else "\n".join(rows))
        elif len(args) == 2 and args[0] == "export":
            if opts.format not in FORMATS:
                raise BadInput(f"no format {opts.format!r}: choose one of {', '.join(FORMATS)}")
            catalog = self.catalog()
            with output_file(Path(args[1])) as file:
                _export(catalog, opts.format, file)
        elif args == ["run"]:
            self._run(opts)
        elif args == ["take"]:
            self._take(opts)
        else:
            raise BadInput(USAGE)

    def _take(self, opts: argparse.Namespace) -> None:
        """Do all that views do, as at the end of a crawl; where one is alive, its own views do it."""
        self._dataset_url("take")
        from webcrawler.index import Elsewhere  # slow to import
        from webcrawler.views import derive

        self.catalog_file  # noqa: B018 - or nothing was crawled
        settings = {**json.loads(self.views_settings()), "CRAWL_DIR": str(self.crawl_dir)}
        if not derive(self.crawl_dir, settings):
            raise Unavailable("the views of this folder are at work: they take what there is")
        self.show({"run": Elsewhere(self.crawl_dir).run}, opts)

    def _dataset_url(self, what: str) -> str:
        if not (url := self.project.get("DATASET_URL")):
            raise BadInput(f"graph {what} needs DATASET_URL, where the folders export their tables")
        require("dataset", f"graph {what}")
        return str(url)

    def _run(self, opts: argparse.Namespace) -> None:
        url = self._dataset_url("run")
        from webcrawler.dataset import jobs  # only with its extra

        with progress_bars() as progress:
            run = jobs.run(url, self.crawl_dir / "graph", progress, opts.engine, opts.memory, opts.master)
        made = Counter[str]()
        for name, files in run.parts.items():
            made[name.partition("/")[0]] += sum(file.bytes for file in files)
        self.show({"run": run.number, "homes": len(run.homes), "bytes": dict(made)}, opts)


def _export(catalog: Catalog, kind: str, file: Path) -> None:
    if kind == "graphml":
        require("graph", "GraphML")
        import networkx  # slow to import, and Scrapy's own commands import ours

        networkx.write_graphml(catalog.links.to_networkx(), file)
    elif kind == "parquet":
        write_parquet(catalog.links.with_urls(), file)
    else:
        with file.open("w", encoding="utf-8") as out:
            out.write(EDGE_LIST)
            for _, _, source, target, _, rel, fetched in catalog.links.with_urls():
                out.write(f"{source}\t{target}\t{'fetched' if fetched else NOT_FETCHED}\t{rel}\n")


def write_parquet(edges: Iterable[Edge], file: Path) -> None:
    """Write one row group after the other: memory does not grow with the graph.

    Raises:
        BadInput: pyarrow is not installed.
    """
    require("parquet", "Parquet")
    import pyarrow
    from pyarrow import parquet

    types = [pyarrow.int64()] * 2 + [pyarrow.string()] * 4 + [pyarrow.bool_()]
    schema = pyarrow.schema(list(zip(PARQUET_COLUMNS, types, strict=True)))
    rest = iter(edges)
    # Each row group keeps its URLs once, as a dictionary: pyarrow's default for all columns.
    with parquet.ParquetWriter(file, schema, compression="zstd") as out:
        while group := [(*row, bool(fetched)) for *row, fetched in islice(rest, ROW_GROUP)]:
            columns = dict(zip(PARQUET_COLUMNS, zip(*group, strict=True), strict=True))
            out.write_table(pyarrow.table(columns, schema=schema))
