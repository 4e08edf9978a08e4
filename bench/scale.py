"""What does a machine do with a million pages? Each step of its work, at 100,000 documents and at a million.

    python bench/scale.py [--documents 100000,1000000] [--steps make,write,…] [--folder DIR] [--json FILE]

A catalog grows by made-up documents without texts, 36 links and 5 new URLs each; for a million this takes an
hour of the processor, and 10 GB of disk. Each step is a process of its own:

    make       the rows of the catalog; the clock and the disk of this bench, not of a crawl
    write      batches of 200 documents of 2,400 words with 36 links, as a crawl writes them
    anchors    what links say of all pages that a hundred pages link to
    ranks      as the view makes them, for searches of this folder alone
    orderings  as the view follows them, for crawls whose ordering wants ranks
    export     the tables, as the view of DATASET_URL writes them
    jobs       `webcrawler graph run --memory 400MB` over these tables: ranks, anchors, duplicates by SQL
    start      what a crawl reads of the catalog before it begins
    stats, rank, broken, edges   `webcrawler graph stats`, `rank`, `pages`, `graph export`
    status     the status page
    records    WARC files of a hundredth as many documents, as each is parsed again:
    rebuild    `webcrawler rebuild` of them, index and all
    warc       `webcrawler export` of them

    CPU s     of the process and those that it waited for    written  by them, to files of any kind
    peak MB   of the largest of them                         growth   of CPU s, by that of the input

There is no search: beyond 300,000 documents that is the work of a cluster.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

PROGRAM = str(Path(sys.executable).with_name("webcrawler"))
STEPS = Path(__file__).with_name("scalesteps.py")
COMMANDS = {  # arguments, of which FOLDER is replaced
    "jobs": "graph run --memory 400MB",
    "stats": "graph stats",
    "rank": "rank --top 5",
    "broken": "pages",
    "edges": "graph export --format edgelist FOLDER/edges.tsv",
    "rebuild": "rebuild",
    "warc": "export FOLDER/pages.warc.gz",
}
ON_RECORDS = ("records", "rebuild", "warc")  # in a folder of their own
SHARE = 100  # of the documents that have records
ALL = (
    *("make", "write", "anchors", "ranks", "orderings", "export", "jobs", "start", "stats", "rank", "broken"),
    *("edges", "status", "records", "rebuild", "warc"),
)


class Cost(NamedTuple):
    """What one step has taken."""

    step: str
    documents: int
    cpu_seconds: float
    peak_mb: float
    written_mb: float
    figures: dict[str, float]


def main() -> None:
    given = _arguments()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        costs = list(_costs(Path(folder), given.documents, given.steps))
    _print(costs, given.steps)
    if given.json:
        given.json.write_text(json.dumps([cost._asdict() for cost in costs], indent=2))


def _costs(folder: Path, sizes: list[int], steps: list[str]) -> Iterator[Cost]:
    for size in sizes:
        shutil.rmtree(folder / "records", ignore_errors=True)
        for step in steps:
            on_records = step in ON_RECORDS
            cost = _run(step, folder / ("records" if on_records else "crawl"), size, size // SHARE or 1)
            print(f"{cost}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
            yield cost


def _run(step: str, folder: Path, size: int, records: int) -> Cost:
    """Run one step; what it prints last may be figures, as JSON."""
    count = records if step in ON_RECORDS else size
    own = [sys.executable, str(STEPS), step, str(folder), str(count)]
    words = COMMANDS.get(step, "").replace("FOLDER", str(folder)).split()
    environment = os.environ | {"CRAWL_DIR": str(folder)}
    if step in ("export", "jobs"):
        environment["DATASET_URL"] = str(folder / "tables")
    with (folder.parent / "output").open("wb+") as output:
        command = [PROGRAM, *words] if words else own
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
        # its /proc entry stays until it is waited for
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        written = int(Path(f"/proc/{process.pid}/io").read_text().split("wchar: ")[1].split()[0])
        _, ended, used = os.wait4(process.pid, 0)
        output.seek(0)
        said = output.read().decode(errors="replace")
    if ended:
        sys.exit(f"bench: {' '.join(command)} ended with {ended}:\n{said[-2000:]}")
    figures: dict[str, Any] = {} if words else json.loads(said.splitlines()[-1])
    return Cost(step, count, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, written / 1e6, figures)


def _print(costs: list[Cost], steps: list[str]) -> None:
    table = Table("step", "documents", "CPU s", "growth", "peak MB", "written MB", "")
    for step in steps:
        before: Cost | None = None
        for cost in (cost for cost in costs if cost.step == step):
            growth = ""
            if before:
                growth = f"{cost.cpu_seconds / before.cpu_seconds / (cost.documents / before.documents):.2f}"
            figures = ", ".join(f"{value:,.1f} {name}" for name, value in cost.figures.items())
            numbers = f"{cost.documents:,}", f"{cost.cpu_seconds:,.1f}", growth
            table.add_row(step, *numbers, f"{cost.peak_mb:,.0f}", f"{cost.written_mb:,.0f}", figures)
            before = cost
    Console(width=120).print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--documents", type=_sizes, default=[100_000, 1_000_000], metavar="N,N", help="ascending"
    )
    parser.add_argument("--steps", type=_names, default=list(ALL), metavar="NAMES", help=f"({','.join(ALL)})")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="for a folder that is deleted at the end")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _names(text: str) -> list[str]:
    if unknown := {*(names := text.split(","))} - {*ALL}:
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there are {', '.join(ALL)}")
    return names


if __name__ == "__main__":
    main()
