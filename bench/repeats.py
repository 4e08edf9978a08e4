"""What does an ordering lose where repeats go behind? Virtual crawls of a web with that rule and without it.

    python bench/repeats.py FOLDER [--documents 5000] [--modes blend,breadth] [--seeds 0,1,2] [--json FILE]

FOLDER is the data folder of a crawl of all of docweb: its catalog takes the place of HTTP. Frontier, ranker
and what tells repeats are the real ones, with 32 leases at a time and new ranks every 200 pages. So the two
crawls of a row differ by the rule alone, while those of bench/orderings.py differ from run to run, as the
ranker takes its turn at other moments. Figures are as there, in percent of the ideal area.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from contenders import SEED
from orderings import figures_of, ranks_of
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.familiar import Familiar
from webcrawler.connection import Connection
from webcrawler.evaluation import experiments, private_redis
from webcrawler.evaluation.recorded import from_catalog
from webcrawler.evaluation.virtual import NO_DELAY, Reordering, Web
from webcrawler.frontier import Budgets, Done, Frontier, ordering
from webcrawler.records import Entry, Fetch, Lease
from webcrawler.settings import SETTINGS

MODES = "breadth,backlink,pagerank,blend,blend-in-turn"
AT_ONCE, INTERVAL, SHARE_BEHIND = 32, 200, 8
BUDGETS = (0, int(str(SETTINGS["BUDGET_REPEATS"].default)))
AREAS = ("1 %, of ideal", "10 %, of ideal")
DOCUMENTS = """
    SELECT s.name || u.path, d.number, coalesce(d.duplicate_of, d.near_duplicate_of, d.number), d.simhash
    FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server"""


class Recording:
    """A recorded web, and which of its documents are (nearly) the same."""

    def __init__(self, folder: Path) -> None:
        path = folder / "catalog.sqlite"
        recorded = from_catalog(path)
        self.web = Web(recorded.reachable(recorded.page(SEED)))
        with closing(sqlite3.connect(path)) as db:
            self.documents = {url: known for url, *known in db.execute(DOCUMENTS)}
        self.catalog = Catalog(path, readonly=True)


class Visited:
    """What one crawl of a recording knows by now."""

    def __init__(self, recording: Recording) -> None:
        self._recording, self._familiar, self._groups = recording, Familiar(), set[int]()

    def visit(self, lease: Lease) -> Done:
        web, catalog = self._recording.web, self._recording.catalog
        number, group, simhash = self._recording.documents[lease.url]
        links = tuple(web.outlinks(web.page_of[lease.url]))
        text = None if simhash else catalog.texts([number]).get(number)  # what is short is told by its words
        entry = Entry(Fetch(lease, "done", "document", 0.0), text=text, links=links, simhash=simhash or 0)
        repeats = group in self._groups or self._familiar.repeats(entry)
        self._groups.add(group)
        return Done(lease, "document", True, links, repeats=repeats)


def crawl(recording: Recording, mode: str, budget: int, documents: int, connection: Connection) -> list[str]:
    """The URLs in the order of their visits, a few more than asked for."""
    web, visited, order = recording.web, Visited(recording), list[str]()
    connection.client.flushdb()
    budgets = Budgets(repeats=budget, behind=SHARE_BEHIND)
    frontier = Frontier(connection.client, ordering(mode), "virtual", NO_DELAY, "", budgets)
    frontier.open(mode)
    frontier.discover([web.links[web.page_of[SEED]]], within_budgets=False)
    ranker = Reordering(web, frontier, INTERVAL) if frontier.ordering.follows_ranks else None
    while len(order) < documents and (leases := frontier.lease(AT_ONCE).leases):
        order += [lease.url for lease in leases]
        frontier.complete([visited.visit(lease) for lease in leases])
        if ranker and sum(ranker.visited(web.page_of[lease.url]) for lease in leases):  # all are told
            ranker.reorder()
    return order


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="CRAWL_DIR of a whole crawl of docweb")
    parser.add_argument("--documents", type=int, default=5000, metavar="N", help="of each crawl (5000)")
    parser.add_argument("--modes", default=MODES, help=f"({MODES})")
    parser.add_argument("--seeds", default="0,1,2", help="of modes that use chance (0,1,2)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    recording, ranks = Recording(asked.folder), ranks_of(asked.folder)
    rows = []
    with private_redis() as connection:
        for one in experiments(asked.modes.split(","), [int(seed) for seed in asked.seeds.split(",")]):
            row: dict[str, object] = {"mode": one.mode}
            for budget in BUDGETS:
                order = crawl(recording, one.mode, budget, asked.documents, connection)
                found = figures_of(order, ranks, asked.documents)
                row |= {f"{area}, {'behind' if budget else 'never behind'}": found[area] for area in AREAS}
            rows.append(row)
    table = Table(*rows[0], title=f"the first {asked.documents:,} documents, in percent of the ideal area")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
