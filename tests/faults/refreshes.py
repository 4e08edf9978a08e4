"""kill -9 amid the checks of a collection, again and again: no check may be lost or counted twice.

    python tests/faults/refreshes.py [--kills 100] [--seed N] [--folder DIR] [--json FILE]

Crawls the odd web (oddweb.py), then pass after pass changes some of its pages and checks all documents with
`-a refresh=once`, while workers, refresher, index follower and Redis are killed: each as often as the others,
workers at failpoints too. After each pass, what is there is compared with what must be. The exit status is 1
when anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from oddweb import OddWeb
from ordeal import Fault, Ordeal

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.refresh.collection import Collection
from webcrawler.refresh.refresher import schedule_of
from webcrawler.search import Searcher
from webcrawler.settings import SETTINGS

KILLS_A_PASS = 12
LATER_SECONDS = 0.4
CHANGED = 40  # pages, from one pass to the next
DELAY_SECONDS = 0.3  # between fetches of a server, so that a pass lasts as long as its kills
KINDS = ("worker", "failpoint", "refresher", "follower", "redis")
FAILPOINTS = (
    "lease.after", "lease.request", "download.after", "parse.after", "batch.after-put", "batch.stored",
    "catalog.checked", "catalog.history", "catalog.before-commit", "catalog.after-commit",
    "batch.catalogued", "complete.before", "complete.after", "decide.between", "batch.settled",
)  # fmt: skip
REQUEUED = 10  # a batch may be decided while a new refresher queues what it has not seen decided
CHECKS = "FROM fetches WHERE since IS NOT NULL AND NOT retry"


class ChangingWeb(OddWeb):
    """An odd web whose ordinary pages may get another text; duplicates stay duplicates."""

    def change(self, revision: str, chance: random.Random, number: int) -> set[str]:
        """Returns the URLs of the pages that have this word now."""
        plain = [
            (site, path)
            for site, pages in enumerate(self._pages)
            for path in pages
            if path.startswith("/page-") and path.replace("page", "copy") not in pages
        ]
        changed = chance.sample(plain, number)
        for site, path in changed:
            answer = self._pages[site][path]
            body = answer.body.replace(b"</h1>", f"</h1><p>{revision}</p>".encode(), 1)
            self._pages[site][path] = answer._replace(body=body)
        return {self.servers[site] + path for site, path in changed}


class Refreshes:
    """Passes over one collection under faults."""

    def __init__(self, folder: Path, web: ChangingWeb, chance: random.Random) -> None:
        self._web, self._chance = web, chance
        self._waiting: list[str] = []  # kinds of kills to come
        self._checked: dict[int, float] = {}  # by page number
        self.kills: Counter[str] = Counter()
        self.passes: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.ordeal = Ordeal(folder, web, chance, False, 1, 0.0)
        self.ordeal.finish()

    def play(self, kills: int) -> None:
        """One pass in which so many kills are tried."""
        web, ordeal, name = self._web, self.ordeal, f"revision{len(self.passes)}x"
        changed, began = web.change(name, self._chance, CHANGED), clock.now()
        web.forget()
        ordeal.faults.clear()
        ordeal.problems.clear()
        ordeal.arguments = ["-a", "refresh=once", "-s", f"FRONTIER_DELAY={DELAY_SECONDS}"]
        before = self._one(f"SELECT count(*) {CHECKS}")
        ordeal.start()
        for _ in range(kills):
            if not self._is_checking():
                break
            self._kill()
            ordeal.start_missing()
        figures = ordeal.finish(may_refetch=True)
        self.kills += Counter(fault["kind"] for fault in figures["faults"] if fault["kills"])
        checks = self._one(f"SELECT count(*) {CHECKS}") - before
        searcher = Searcher(ordeal.folder, deadline_seconds=60)
        found = {hit.url for hit in searcher.search(name, limit=2 * CHANGED).hits}
        wrong = {
            "lost": self._one(f"SELECT count(*) FROM documents WHERE coalesce(checked, 0) < {began}"),
            "twice": self._one(f"SELECT count(*) - count(DISTINCT number || ' ' || token) {CHECKS}"),
            "repeated": max(0, checks - len(self._checked) - figures["in_flight"] - REQUEUED),
            "miscounted": abs(self._known() - self._one(f"SELECT count(changed) {CHECKS}")),
            "older": self._older(),
            "not_found": len(changed - found),
        }
        more = [f"{what}: {number}" for what, number in wrong.items() if number]
        self.problems += [f"pass {len(self.passes)}: {text}" for text in [*figures["problems"], *more]]
        kept = ("urls", "in_flight", "refetched", "index_lost", "states_wrong")
        self.passes.append({"checks": checks, **{key: figures[key] for key in kept}, **wrong})
        print(f"pass {len(self.passes)}: {self.passes[-1]}, kills so far {dict(self.kills)}", flush=True)

    def _is_checking(self) -> bool:
        """A moment after another check was counted; False at the end of the pass."""
        checks = self._one(f"SELECT count(*) {CHECKS}")
        is_on = self.ordeal.wait(lambda: self._one(f"SELECT count(*) {CHECKS}") > checks)
        time.sleep(self._chance.uniform(0.0, LATER_SECONDS))
        return is_on and not self.ordeal.has_ended()

    def _kill(self) -> None:
        """One of the next kind; documents may not be older after it than they were."""
        ordeal = self.ordeal
        if not self._waiting:
            self._waiting = self._chance.sample(KINDS, len(KINDS))
        match self._waiting.pop():
            case "worker":
                ordeal.kill()
            case "failpoint":
                self._strike(self._chance.choice(FAILPOINTS))
            case "refresher":
                ordeal.kill_views()
            case "follower":
                ordeal.kill_follower()
            case "redis":
                ordeal.kill_redis()
        if older := self._older():
            self.problems.append(f"pass {len(self.passes)}: {older} documents are older than they were")

    def _strike(self, name: str) -> None:
        """Kills the worker, and the one in its place at this failpoint."""
        ordeal = self.ordeal
        ordeal.kill()
        ordeal.start(failpoints=f"{name}:kill:{self._chance.randint(1, 3)}")
        worker = ordeal.workers[0]
        ordeal.wait(lambda: worker.poll() is not None)
        if worker.returncode:
            ordeal.note(Fault("failpoint", name, kills=True))

    def _older(self) -> int:
        """Documents that were known to be current later than they are now."""
        with closing(self._catalog()) as catalog:
            now = dict(catalog.execute("SELECT number, coalesce(checked, fetched) FROM documents"))
        older = sum(now.get(number, 0.0) < checked for number, checked in self._checked.items())
        self._checked = now
        return older

    def _known(self) -> int:
        """Checks that the refresher has counted, in what it keeps and in what it has not read yet."""
        defaults = {name: setting.default for name, setting in SETTINGS.items()}
        with closing(Catalog(self.ordeal.folder / "catalog.sqlite", readonly=True)) as catalog:
            collection = Collection(catalog, self.ordeal.folder, schedule_of(defaults))
        return int(collection.schedule.calibration.counts[:, 0].sum())

    def _one(self, query: str) -> int:
        with closing(self._catalog()) as catalog:
            return int(catalog.execute(query).fetchone()[0])

    def _catalog(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.ordeal.folder}/catalog.sqlite?mode=ro", uri=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="at least (100)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--folder", type=Path, help="for the data of the crawl, and its log")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
    print(f"seed {asked.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, ChangingWeb(asked.seed) as web:
        run = Refreshes((asked.folder or Path(temporary)) / "crawl", web, random.Random(asked.seed))
        try:
            while run.kills.total() < asked.kills:
                run.play(min(KILLS_A_PASS, asked.kills - run.kills.total()))
        finally:
            run.ordeal.mark.kill_all()
    seconds = time.monotonic() - began
    figures = {"seed": asked.seed, "seconds": seconds, "kills": run.kills, "problems": run.problems}
    print(json.dumps(figures, indent=1))
    if asked.json:
        asked.json.write_text(json.dumps({**figures, "passes": run.passes}, indent=1))
    sys.exit(bool(run.problems))


if __name__ == "__main__":
    main()
