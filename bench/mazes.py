"""How much of a site with traps is found, and how many fetches go into the traps?

    python bench/mazes.py [--seeds 1,2,3,4,5,6] [--modes breadth,blend] [--fetches 1500] [--json FILE]

Each site has 120 pages among wildcard hosts, fresh path prefixes, session ids, facets, soft 404s, texts
that differ by a sentence, and a calendar of short pages: `tests/zoo/mazes.py` draws it from its seed. It is
crawled beside 900 pages of honest neighbours, delays off. The table says which share of its pages was found
within so many fetches, which share of these went into traps, after how many fetches .95 of its pages were
found, and the share of traps by then.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from zoo.mazecrawl import Figures, crawl_maze  # noqa: E402
from zoo.mazes import Maze  # noqa: E402


def main() -> None:
    asked = _arguments()
    rows: list[dict[str, Any]] = []
    for seed in map(int, asked.seeds.split(",")):
        maze = Maze(seed, 0) if asked.alone else Maze(seed)
        for mode in asked.modes.split(","):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                found = crawl_maze(Path(folder), maze, mode, asked.fetches)
            rows.append({"seed": seed, "mode": mode, **found._asdict()})
            print(rows[-1], file=sys.stderr, flush=True)
    _print(rows)
    if asked.json:
        asked.json.write_text(json.dumps({"fetches": asked.fetches, "crawls": rows}, indent=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", default="1,2,3,4,5,6", help="of the sites (1,2,3,4,5,6)")
    parser.add_argument("--modes", default="breadth,blend", help="(breadth,blend)")
    parser.add_argument("--fetches", type=int, default=1500, metavar="N", help="of each crawl (1500)")
    parser.add_argument("--alone", action="store_true", help="without the neighbours")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def _print(rows: list[dict[str, Any]]) -> None:
    table = Table("site", "mode", *Figures._fields)
    for row in rows:
        shown = [
            f"{row[name]:.2f}" if isinstance(row[name], float) else str(row[name]) for name in Figures._fields
        ]
        table.add_row(str(row["seed"]), row["mode"], *shown)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
