"""All that the status page shows, read at most once a second for all who ask."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from webcrawler import clock, connection, metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, is_held
from webcrawler.errors import BadInput, Unavailable, WebcrawlerError
from webcrawler.frontier import Frontier, Standing, bottleneck, ordering, standing
from webcrawler.index import applied_seq, indexed_documents
from webcrawler.linkgraph import stored
from webcrawler.refresh import report
from webcrawler.web.config import Config

BIN_SECONDS = 5
HOUR_SECONDS = 3_600
CHANGES = 200_000  # to read at first, at most: an hour of 55 pages/s, 0.3 s


@dataclass(frozen=True, slots=True)
class Rates:
    """Documents in each stretch of time, the oldest first; the last one is still going on."""

    per_second: float  # over the last ten to fifteen seconds
    recent: list[int]  # 60 stretches of 5 seconds
    hour: list[int]  # 60 minutes


class Activity:
    """Remembers what it has read: each look reads the changes since the last one."""

    def __init__(self) -> None:
        self._identity = ""
        self._seq = 0
        self._bins: Counter[int] = Counter()

    def look(self, catalog: Catalog, now: float) -> Rates:
        if catalog.identity != self._identity:  # another catalog was put in its place
            self._identity, self._seq = catalog.identity, 0
            self._bins.clear()
        since = now - HOUR_SECONDS - 60
        self._seq, found = catalog.fetches.documents_lately(self._seq, since, BIN_SECONDS, CHANGES)
        self._bins.update(found)
        for old in [number for number in self._bins if number * BIN_SECONDS < since]:
            del self._bins[old]
        return rates(self._bins, now)


def rates(bins: Counter[int], now: float) -> Rates:
    """Of documents by time // BIN_SECONDS."""
    newest, a_minute = int(now // BIN_SECONDS), 60 // BIN_SECONDS
    minute = newest // a_minute
    return Rates(
        per_second=sum(bins[newest - back] for back in range(3)) / (2 * BIN_SECONDS + now % BIN_SECONDS),
        recent=[bins[number] for number in range(newest - 59, newest + 1)],
        hour=[
            sum(bins[at * a_minute + part] for part in range(a_minute))
            for at in range(minute - 59, minute + 1)
        ],
    )


LEAST_SECONDS = 1.0  # between two readings
SHARE = 10  # a slow reading is followed by a pause this many times as long
REDIS_SECONDS = 1.0  # that Redis may take to answer
LEAST_REPORT_SECONDS = 60.0  # between two reports of freshness
REPORT_SHARE = 20  # a slow report is followed by a pause this many times as long
FIRST_SECONDS = 1.0  # that somebody waits for the first report
MOST = 5  # servers and documents in it
SERVERS = 20
VIEWS = ("index", "anchors", "ranks", "vocabulary")
PARTS = ("redis", "pages", *VIEWS, "feedback")
NOT_HERE = "its Redis does not run"
SILENT = "Redis does not answer now"
PROCESSES = {  # names of their locks
    "crawl": "crawls",
    "views": "views",
}
Report = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    documents: int | None = 0  # None: unknown
    lag: int | None = None  # changes of the catalog that are not in it; None: unknown
    age_seconds: float | None = None  # since it was written; None: it does not exist
    rebuilding: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """How everything is at one time; what is unknown is None or empty."""

    time: float
    crawling: bool
    held_back: str
    held_back_by: str  # one of frontier.CAUSES
    documents: int
    rates: Rates | None
    frontier: Standing | None
    frontier_unknown: str  # why it is None
    outcomes: dict[str, int]  # fetches by "state/reason", where the frontier cannot be asked
    views: dict[str, View]  # by name, as VIEWS
    sizes: dict[str, int] = field(default_factory=dict)  # bytes by part of the data folder
    free_bytes: int = 0
    catalog_unknown: str = ""  # why there are no documents
    freshness: Report | None = None  # of the last minutes
    processes: dict[str, bool] = field(default_factory=dict)  # is it alive? by name
    figures: dict[str, float] = field(default_factory=dict)  # gauges of the processes that are alive


class Aside(Generic[T]):
    """What is read in a thread of its own, as it may take long; one reading at a time."""

    def __init__(self, name: str, read: Callable[[], T]) -> None:
        self.thread, self._read = ThreadPoolExecutor(1, name), read
        self._pending: Future[T] | None = None

    def ask(self, patience_s: float) -> T | None:
        """Read, or wait for the reading that goes on; None where it is not done in that time."""
        self._pending = self._pending or self.thread.submit(self._read)
        if not wait([self._pending], patience_s).done:
            return None
        done, self._pending = self._pending, None
        return done.result()


class Overviews:
    """Never starts a Redis, and waits a second for one at most. All who ask share the newest overview."""

    def __init__(self, config: Config) -> None:
        self._config, self._crawl_dir = config, config.crawl_dir
        self._activity = Activity()
        self._frontier = Aside("status-redis", self._read_frontier)
        self._reports = Aside("status-freshness", self._read_report)
        self._thread = ThreadPoolExecutor(1, "status")
        self._lock = asyncio.Lock()
        self._newest: Overview | None = None
        self._report: Report | None = None  # is read in seconds of work, so seldom
        self._good_until = self._report_good_until = 0.0

    async def newest(self) -> Overview:
        async with self._lock:
            if self._newest is None or time.monotonic() >= self._good_until:
                began = time.monotonic()
                self._newest = await asyncio.wrap_future(self._thread.submit(self._read))
                now = time.monotonic()
                self._good_until = now + max(LEAST_SECONDS, SHARE * (now - began))
            return self._newest

    def close(self) -> None:
        for thread in (self._thread, self._frontier.thread, self._reports.thread):
            thread.shutdown(wait=False, cancel_futures=True)

    def _read(self) -> Overview:
        crawl_dir = self._crawl_dir
        frontier, unknown = self._frontier.ask(REDIS_SECONDS) or (None, SILENT)
        processes = {name: is_held(crawl_dir / f"{lock}.lock") for name, lock in PROCESSES.items()}
        if self._config.frontier != "index":  # spiders of others hold no lock of a data folder
            processes["crawl"] = bool(frontier and frontier.workers)
        gauges, ended = metrics.gauges(crawl_dir), metrics.ended(crawl_dir)
        held_back = bottleneck(processes["crawl"], frontier, unknown, gauges, ended)
        now, documents, last_seq, rates, outcomes, wrong = clock.now(), 0, 0, None, {}, ""
        try:
            with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
                documents, last_seq = catalog.count_documents(), catalog.last_seq()
                rates = self._activity.look(catalog, now)
                outcomes = {} if frontier else catalog.fetches.outcomes()
        except WebcrawlerError:
            wrong = "nothing was crawled yet" if not (crawl_dir / "catalog.sqlite").exists() else "unreadable"
        return Overview(
            now,
            processes["crawl"],
            held_back.sentence,
            held_back.cause,
            documents,
            rates,
            frontier,
            unknown,
            outcomes,
            {name: view_of(crawl_dir, name, last_seq) for name in VIEWS},
            sizes=part_sizes(crawl_dir),
            free_bytes=shutil.disk_usage(crawl_dir).free if crawl_dir.exists() else 0,
            catalog_unknown=wrong,
            freshness=self._freshness(),
            processes=processes,
            figures=gauges,
        )

    def _read_frontier(self) -> tuple[Standing | None, str]:
        """The state of the frontier, or why it is unknown."""
        where = {"REDIS_URL": self._config.redis_url, "CRAWL_DIR": str(self._crawl_dir)}
        try:
            with connection.visit(where) as visited:
                frontier = Frontier(visited.client, ordering("fifo"), self._config.frontier)
                return standing(frontier, SERVERS), ""
        except (BadInput, Unavailable):
            return None, NOT_HERE

    def _freshness(self) -> Report | None:
        """The last report; None where there is none yet, or nothing to report on."""
        if time.monotonic() >= self._report_good_until:
            found, seconds = self._reports.ask(0 if self._report else FIRST_SECONDS) or (None, 0.0)
            if found:
                pause = max(LEAST_REPORT_SECONDS, REPORT_SHARE * seconds)
                self._report, self._report_good_until = found, time.monotonic() + pause
        return self._report

    def _read_report(self) -> tuple[Report | None, float]:
        """How fresh the collection is, as `webcrawler freshness` says, and how long that took."""
        began = time.monotonic()
        with (
            suppress(WebcrawlerError, sqlite3.Error, OSError),
            closing(Catalog(self._crawl_dir / "catalog.sqlite", readonly=True)) as catalog,
        ):
            found = report(catalog, self._crawl_dir, self._config.refresh_policy, most=MOST)
            return found if found["documents"] else None, time.monotonic() - began
        return None, 0.0


def view_of(crawl_dir: Path, name: str, last_seq: int) -> View:
    """Reads a few small files. A view that is being replaced may seem not to exist."""
    folder = crawl_dir / name
    # the new folder alone may be left over from a rebuild that was killed
    rebuilding = (crawl_dir / f"{name}.new").is_dir() and Views(crawl_dir).is_at_work()
    age_s = _age(folder)
    if age_s is None:
        return View(rebuilding=rebuilding)
    documents, applied = None, None
    if name in ("index", "anchors"):
        documents, applied = indexed_documents(folder), applied_seq(folder)
    elif name == "ranks":
        with suppress(OSError, ValueError, KeyError, TypeError):
            applied = int(json.loads((folder / stored.NAME).read_text("utf-8"))["seq"])
    lag = None if applied is None else max(0, last_seq - applied)
    return View(documents, lag, max(0.0, age_s), rebuilding)


def _age(folder: Path) -> float | None:
    """That of its newest file, without locks and files that are still being written."""
    ages = []
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix not in (".lock", ".new") and not path.name.endswith("_LOCK"):
                with suppress(OSError):
                    ages.append(clock.age(path.stat()))
    return min(ages, default=None)


def part_sizes(crawl_dir: Path) -> dict[str, int]:
    """Bytes by part of the data folder; the catalog with its log."""
    sizes = {"catalog": sum(_size(path) for path in crawl_dir.glob("catalog.sqlite*"))}
    for name in PARTS:
        if found := sum(_size(path) for path in (crawl_dir / name).rglob("*")):
            sizes[name] = found
    return sizes


def _size(path: Path) -> int:
    with suppress(OSError):  # gone meanwhile
        return path.stat().st_size if path.is_file() else 0
    return 0
