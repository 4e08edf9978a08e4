"""All that the status page shows, read at most once a second for all who ask."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from webcrawler import clock, connection, metrics
from webcrawler.archive.catalog import Catalog
from webcrawler.background import FOLLOWER, RANKER, REFRESHER, VOCABULARY, is_held
from webcrawler.connection import Connection
from webcrawler.errors import BadInput, Unavailable, WebcrawlerError
from webcrawler.frontier import Frontier, Standing, bottleneck, ordering, standing
from webcrawler.index import applied_seq, indexed_documents
from webcrawler.linkgraph import stored
from webcrawler.web.config import Config
from webcrawler.web.status.activity import Activity, Rates
from webcrawler.web.status.freshness import FreshnessReports, Report

LEAST_SECONDS = 1.0  # between two readings
SHARE = 10  # a slow reading is followed by a pause this many times as long
REDIS_SECONDS = 1.0  # that Redis may take to answer
SERVERS = 20
VIEWS = ("index", "anchors", "ranks", "vocabulary")
PARTS = ("redis", "pages", *VIEWS, "feedback")
NOT_HERE = "its Redis does not run"
SILENT = "Redis does not answer now"
PROCESSES = {  # names of their locks
    "crawl": "crawls",
    "follower": FOLLOWER.name,
    "ranker": RANKER.name,
    "refresher": REFRESHER.name,
    "vocabulary": VOCABULARY.name,
}


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
    folders: tuple[str, ...] = ()  # where a merged view of several is searched
    processes: dict[str, bool] = field(default_factory=dict)  # is it alive? by name
    figures: dict[str, float] = field(default_factory=dict)  # gauges of the processes that are alive


class Overviews:
    """Never starts a Redis, and waits a second for one at most. All who ask share the newest overview."""

    def __init__(self, config: Config) -> None:
        self._crawl_dir, self._folders = config.crawl_dir, config.folders
        self._redis = {"REDIS_URL": config.redis_url, "CRAWL_DIR": str(config.crawl_dir)}
        self._frontier = config.frontier
        self._connection: Connection | None = None  # kept while it answers
        self._activity = Activity()
        self._freshness = FreshnessReports(config)
        self._threads = ThreadPoolExecutor(1, "status"), ThreadPoolExecutor(1, "status-redis")
        self._pending: Future[tuple[Standing | None, str]] | None = None
        self._lock = asyncio.Lock()
        self._newest: Overview | None = None
        self._good_until = 0.0

    async def newest(self) -> Overview:
        async with self._lock:
            if self._newest is None or time.monotonic() >= self._good_until:
                began = time.monotonic()
                self._newest = await self._look()
                now = time.monotonic()
                self._good_until = now + max(LEAST_SECONDS, SHARE * (now - began))
            return self._newest

    def close(self) -> None:
        for threads in self._threads:
            threads.shutdown(wait=False, cancel_futures=True)
        self._freshness.close()

    async def _look(self) -> Overview:
        """Waits at most a second for Redis; one that hangs is asked again only after it has answered."""
        if self._pending is None:
            self._pending = self._threads[1].submit(self._read_frontier)
        done, _ = await asyncio.wait([asyncio.wrap_future(self._pending)], timeout=REDIS_SECONDS)
        frontier, unknown = None, SILENT
        if done:
            answer, self._pending = self._pending, None
            frontier, unknown = answer.result()
        loop = asyncio.get_running_loop()
        overview = await loop.run_in_executor(self._threads[0], self._read, frontier, unknown)
        return replace(overview, freshness=await self._freshness.newest())

    def _read(self, frontier: Standing | None, unknown: str) -> Overview:
        now, crawl_dir, folders = clock.now(), self._crawl_dir, self._folders or (self._crawl_dir,)
        processes = {
            name: any(is_held(one / f"{lock}.lock") for one in folders) for name, lock in PROCESSES.items()
        }
        counted = metrics.read(*folders)
        if self._frontier != "index":  # spiders of others hold no lock of a data folder
            processes["crawl"] = bool(frontier and frontier.workers)
        crawling = processes["crawl"]
        held_back = bottleneck(crawling, frontier, unknown, counted.gauges, counted.ended)
        documents, last_seq, rates, outcomes, wrong = 0, 0, None, {}, ""
        try:
            with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
                documents, last_seq = catalog.count_documents(), catalog.last_seq()
                rates = self._activity.look(catalog, now)
                outcomes = {} if frontier else catalog.fetches.outcomes()
        except WebcrawlerError:
            wrong = "nothing was crawled yet" if not (crawl_dir / "catalog.sqlite").exists() else "unreadable"
        return Overview(
            now,
            crawling,
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
            folders=tuple(map(str, self._folders)),
            processes=processes,
            figures=counted.gauges,
        )

    def _read_frontier(self) -> tuple[Standing | None, str]:
        """The state of the frontier, or why it is unknown."""
        try:
            if self._connection is None:
                self._connection = connection.visit(self._redis)
        except (BadInput, Unavailable):
            return None, NOT_HERE
        try:
            return standing(Frontier(self._connection.client, ordering("fifo"), self._frontier), SERVERS), ""
        except Unavailable:
            self._connection.client.close()
            self._connection = None
            return None, SILENT


def view_of(crawl_dir: Path, name: str, last_seq: int) -> View:
    """Reads a few small files. A view that is being replaced may seem not to exist."""
    folder = crawl_dir / name
    # the new folder alone may be left over from a rebuild that was killed
    rebuilding = (crawl_dir / f"{name}.new").is_dir() and is_held(crawl_dir / f"{FOLLOWER.name}.lock")
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
