"""A worker stopped inside a transaction of the catalog (Ctrl-Z): the others of its data folder wait for it.

Two real crawls of one data folder; the first is stopped when all rows of its second batch are written and
none is committed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path

import failpoints
import pytest
from localweb import WITHOUT_INDEX, Answer, Crawled, Site, page, scrapy, sites
from waiting import until

from webcrawler import metrics
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, inspect, ordering

pytestmark = pytest.mark.slow

SAME = pytest.mark.deep("the other ending waits for the same")
PAGES = 80
BATCH_DOCUMENTS = 5
OPTIONS = {
    "ADDRESSES_ALLOWED": "127.0.0.1/32",
    "FRONTIER_DELAY": 0,
    "ITEM_PIPELINES": WITHOUT_INDEX,
    "PARSER_WORKERS": 1,
    "RANKER_ENABLED": "no",
    "BATCH_DOCUMENTS": BATCH_DOCUMENTS,
    "BATCH_SECONDS": 0.05,
    "CONCURRENT_REQUESTS": 8,
}


def is_stopped(process: subprocess.Popen[str]) -> bool:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def full_queues(world: World) -> float:
    return metrics.gauges(world.folder).get("batch_full", 0)


class World:
    """A site, a data folder, and the crawls of it."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder, self.site = folder / "crawl", site
        self._logs = folder
        self.crawls: list[subprocess.Popen[str]] = []
        self.most, self.more = inf, threading.Event()  # pages that are served before more may be

    def answer(self, site: Site) -> Answer:
        if len(site.pages) > self.most:
            self.more.wait()
        return page()

    def crawl(self, name: str, **variables: str) -> subprocess.Popen[str]:
        options = [part for key, value in OPTIONS.items() for part in ("-s", f"{key}={value}")]
        options += ["-s", f"LOG_FILE={self._logs / name}"]
        if "PYTHONPATH" in variables:
            variables["PYTHONPATH"] += os.pathsep + str(Path(__file__).parent)
        seed = ["-a", f"seeds={self.site.url}/"]
        self.crawls.append(scrapy("crawl", "index", *seed, *options, folder=self.folder, **variables))
        return self.crawls[-1]

    def log(self, name: str) -> str:
        path = self._logs / name
        return path.read_text() if path.exists() else ""

    def found(self) -> Crawled:
        return Crawled(self.folder, 0, "")

    def leased(self) -> set[str]:
        paths = ["/", *(f"/{number}" for number in range(PAGES))]
        with connect(None, self.folder) as connection:
            frontier = Frontier(connection.client, ordering("fifo"))
            return {p for p in paths if inspect.explain(frontier, self.site.url + p)["state"] == "leased"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    links = [f"/{number}" for number in range(PAGES)]
    with sites(home={"/": page(*links)}) as found:
        world = World(tmp_path, found["home"])
        found["home"].routes["*"] = world.answer
        yield world
        world.more.set()
        for process in world.crawls:
            process.kill()
            process.wait()
        connect(None, world.folder).close()  # the last user stops the server that a kill leaves


@pytest.mark.parametrize("ending", [signal.SIGKILL, pytest.param(signal.SIGCONT, marks=SAME)])
def test_others_wait_for_a_worker_stopped_in_a_transaction_and_go_on_by_themselves(
    world: World, ending: signal.Signals
) -> None:
    stopped = world.crawl("stopped.log", **failpoints.environment("catalog.before-commit:stop:2"))
    until(lambda: is_stopped(stopped), "the first to stop in its transaction")
    in_its_hands, before = world.leased(), len(world.site.pages)
    world.most, full = before + 4 * BATCH_DOCUMENTS, full_queues(world)

    other = world.crawl("other.log")
    says = "waiting for the catalog: another process is writing it"
    until(lambda: world.log("other.log").count(says) >= 2, "the other to say twice who holds the catalog")

    def by_other() -> int:
        return len(world.site.pages) - before

    until(lambda: full_queues(world) > full, "the other to fill its queue")
    world.more.set()
    until(lambda: world.log("other.log").count(says) >= 4, "the other to say so twice more")
    assert by_other() < PAGES - len(in_its_hands)  # only what it had leased by then
    assert other.poll() is None
    states = world.found().frontier["states"]
    assert states["leased"] >= by_other()  # it keeps what it has fetched: its heart beats

    stopped.send_signal(ending)
    assert other.wait(240) == 0
    if ending is signal.SIGCONT:
        assert stopped.wait(240) == 0

    found = world.found()
    states, pages = found.frontier["states"], PAGES + 1
    assert (states["seen"], states["done"], states["reasons"]) == (pages, pages, {"document": pages})
    assert len(found.documents()) == pages
    again = {path for path, times in Counter(world.site.pages).items() if times > 1}
    assert again <= in_its_hands  # leases of the one that was stopped went on to the other
