"""What it costs to check a collection in which nothing has changed, beside crawling it: `-a refresh=once`.

    python bench/refreshing.py --docweb DIR [--proxy URL] [--rounds 3] [--json FILE]

Each round crawls docweb small into an empty data folder, waits for the index, and checks all documents once.
Everything is on: parsers, WARC, catalog, index, ranks. Wall time is from the start of the command to its
exit, without the index's catching up; each ratio is of one round, the table has the medians. The exit status
is 1 where a check was not as it must be: no row in `changes`, so nothing is indexed, and at most 600 bytes of
WARC.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import NamedTuple

from contenders import NOT_PASSED_ON, SEED
from processes import Measured, measure
from rich.console import Console
from rich.table import Table
from serving import ROOT, proxy
from warcio.archiveiterator import ArchiveIterator

from webcrawler.archive.catalog import Catalog
from webcrawler.index import wait_until_caught_up

WALL_RATIO = 0.35
WARC_BYTES = 600
SMALL = {"PROTOCOLS": "http", "FRONTIER_DELAY": "0", "CRAWL_DELAY_MAX": "0", "FRONTIER_BACKOFF": "0.2"}
CHECKS = "SELECT reason FROM fetches WHERE since IS NOT NULL AND NOT retry"


class Round(NamedTuple):
    first_wall_seconds: float
    first_cpu_seconds: float
    wall_seconds: float
    cpu_seconds: float
    documents: int
    checks: int
    not_modified: int
    changes: int  # rows that the checks have added
    warc_bytes: float  # of a check, median

    @property
    def wall_ratio(self) -> float:
        return self.wall_seconds / self.first_wall_seconds

    @property
    def cpu_ratio(self) -> float:
        return self.cpu_seconds / self.first_cpu_seconds


def main() -> None:
    arguments = _arguments()
    with proxy(arguments.docweb, arguments.proxy) as url:
        rounds = []
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory(
                ignore_cleanup_errors=True
            ) as folder:  # its companions end later
                rounds.append(_round(Path(folder) / "crawl", url, arguments.domains))
            print(f"{rounds[-1]}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    _show(rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps([one._asdict() for one in rounds], indent=2))
    sys.exit(any(one.changes or one.warc_bytes > WARC_BYTES for one in rounds))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--docweb", type=Path, metavar="DIR", help="made by `docweb.py build --scale small`")
    parser.add_argument("--proxy", default="", metavar="URL", help="where it is served already")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="of both crawls (1)")
    parser.add_argument("--domains", default="", metavar="NAMES", help="crawl only these (all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every round")
    return parser.parse_args()


def _round(folder: Path, url: str, domains: str) -> Round:
    first = _crawl(folder, url, *(["-a", f"domains={domains}"] if domains else []))
    wait_until_caught_up(folder)
    before, files = _last_change(folder), set((folder / "pages").iterdir())
    again = _crawl(folder, url, "-a", "refresh=once")
    wait_until_caught_up(folder)
    with closing(sqlite3.connect(f"file:{folder}/catalog.sqlite?mode=ro", uri=True)) as catalog:
        reasons = [reason for (reason,) in catalog.execute(CHECKS)]
        documents = catalog.execute("SELECT count(*) FROM documents").fetchone()[0]
    return Round(
        first.wall_seconds,
        first.cpu_seconds + first.others_cpu_seconds,
        again.wall_seconds,
        again.cpu_seconds + again.others_cpu_seconds,
        documents,
        len(reasons),
        reasons.count("not-modified"),
        _last_change(folder) - before,
        median(size for path in set((folder / "pages").iterdir()) - files for size in _revisits(path)),
    )


def _crawl(folder: Path, proxy: str, *arguments: str) -> Measured:
    command = [sys.executable, "-m", "scrapy", "crawl", "index", "-a", "mode=breadth"]
    environment = {k: v for k, v in os.environ.items() if k not in NOT_PASSED_ON}
    environment |= SMALL | {"CRAWL_DIR": str(folder), "http_proxy": proxy}
    log = folder.with_suffix(".log")
    measured = measure([*command, "-a", f"seeds={SEED}", *arguments], environment, ROOT, log)
    if measured.status:
        sys.exit(f"bench: the crawl ended with status {measured.status}\n{log.read_text()[-2000:]}")
    return measured


def _last_change(folder: Path) -> int:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        return catalog.last_seq()


def _revisits(path: Path) -> Iterator[int]:
    """Compressed bytes of each revisit record."""
    with path.open("rb") as file:
        records = ArchiveIterator(file)
        for record in records:
            is_revisit = record.rec_type == "revisit"
            record.content_stream().read()
            if is_revisit:
                yield records.get_record_length()


def _show(rounds: list[Round]) -> None:
    table = Table("", "first crawl", "refresh=once", "ratio")
    for name in ("wall", "cpu"):
        first, again, ratio = (
            median(getattr(one, field) for one in rounds)
            for field in (f"first_{name}_seconds", f"{name}_seconds", f"{name}_ratio")
        )
        table.add_row(f"{name} (s)", f"{first:.1f}", f"{again:.1f}", f"{ratio:.2f}")
    console = Console()
    console.print(table)
    console.print(f"wall time must be at most {WALL_RATIO} of the first crawl's")
    for name in ("documents", "checks", "not_modified", "changes", "warc_bytes"):
        console.print(f"{name:<13} {sorted(getattr(one, name) for one in rounds)}")


if __name__ == "__main__":
    main()
