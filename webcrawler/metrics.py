"""What the processes of a data folder count and time, for those who watch them.

Each process keeps one file, `metrics/KIND-N.json`, and holds `metrics/KIND-N.lock` while it lives. Counts go
on from those of the process before it, so they never go down, and their sum over all files does not either.
"""

from __future__ import annotations

import fcntl
import json
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

from webcrawler import pace

FOLDER = "metrics"
CRAWL, SEARCH = "crawl", "search"  # kinds of files; others are "follower", "ranker" and "refresher"
LIMITS = ("max_pages", "max_time", "collection_full")  # at which crawls end
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)  # a file that is damaged
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)


class Kind(NamedTuple):
    """A metric: what it says, the label that parts it, and the upper edges of its bins."""

    says: str
    label: str = ""
    edges: tuple[float, ...] = ()


COUNTERS = {
    "fetches": Kind("Fetches decided, by what they came to", "outcome"),
    "fetched_bytes": Kind("Bytes of bodies that were fetched, inflated"),
    "parsers_killed": Kind("Pages that their parser did not survive"),
    "batch_entries": Kind("Fetches written to disk"),
    "follower_changes": Kind("Changes of the catalog put into the index"),
    "ranker_rescored": Kind("Waiting URLs that were given another priority"),
    "refresher_checks_queued": Kind("Checks of documents queued"),
}
GAUGES = {
    "downloads": Kind("Downloads now"),
    "downloads_max": Kind("Downloads at a time, at most (CONCURRENT_REQUESTS)"),
    "delay_seconds": Kind("Least pause between two fetches of a server (FRONTIER_DELAY)"),
    "crawl_delay_max_seconds": Kind("Longest pause that a robots.txt may ask for (CRAWL_DELAY_MAX)"),
    "parser_pages": Kind("Pages that are being parsed or wait for it"),
    "parsers": Kind("Parser processes, at most"),
    "batch_queue": Kind("Fetches that wait to be written"),
    "batch_full": Kind("1 while nothing more is leased because the disk is behind"),
    "checks_queued": Kind("Checks that are queued or being made"),
    "checks_due": Kind("Documents whose check is due and not queued yet"),
    "checks_late": Kind("Documents not checked for longer than REFRESH_AT_LEAST"),
}
HISTOGRAMS = {
    "lease_seconds": Kind("One round trip to Redis that reports downloads and leases URLs", edges=SHORT),
    "fetch_seconds": Kind("One download, with its redirects between spellings", edges=(*SHORT, 30.0, 60.0)),
    "parse_seconds": Kind("One page in its parser", edges=SHORT),
    "batch_commit_seconds": Kind("One batch: WARC, catalog, frontier", edges=(*SHORT, 30.0, 60.0)),
    "follower_commit_seconds": Kind("One commit of documents to the index", edges=LONG),
    "follower_lag_seconds": Kind("From the fetch of a document to its place in the index", edges=LONG),
    "ranker_round_seconds": Kind("Ranks estimated, and sent to the frontier", edges=LONG),
    "ranker_store_seconds": Kind("Ranks computed and stored for search", edges=LONG),
    "refresher_step_seconds": Kind("One choice of what is checked next", edges=LONG),
}


class Timed:
    """How often something took how long, in bins with the edges of its kind; the last bin has no end."""

    def __init__(self, kind: Kind) -> None:
        self._edges = kind.edges
        self.bins, self.sum = [0] * (len(kind.edges) + 1), 0.0

    def add(self, seconds: float) -> None:
        self.bins[bisect_left(self._edges, seconds)] += 1
        self.sum += seconds

    def merge(self, kept: Mapping[str, Any]) -> None:
        """Adds what was kept, unless its bins were others."""
        if len(kept["bins"]) == len(self.bins):
            self.bins = [ours + theirs for ours, theirs in zip(self.bins, kept["bins"], strict=True)]
            self.sum += kept["sum"]


class Metrics:
    """All that some processes have counted, summed; gauges are of those that are alive."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTERS}
        self.timed = {name: Timed(kind) for name, kind in HISTOGRAMS.items()}
        self.gauges: dict[str, float] = {}
        self.ended = ""  # the limit at which the crawl before ended: "max_pages", …; "": at none

    def merge(self, kept: Mapping[str, Any], is_alive: bool = False) -> None:
        for name in COUNTERS:
            self.counts[name].update(kept["counts"].get(name, {}))
        for name, timed in self.timed.items():
            if name in kept["timed"]:
                timed.merge(kept["timed"][name])
        for name in GAUGES if is_alive else ():
            if name in kept["gauges"]:
                self.gauges[name] = _joined(name, self.gauges.get(name), kept["gauges"][name])
        self.ended = self.ended or str(kept["ended"])

    def as_json(self) -> str:
        seen = {name: one for name, one in self.timed.items() if any(one.bins)}
        timed = {name: {"bins": one.bins, "sum": one.sum} for name, one in seen.items()}
        counts = {name: one for name, one in self.counts.items() if one}
        return json.dumps({"counts": counts, "timed": timed, "gauges": self.gauges, "ended": self.ended})


class Recorder:
    """Counts and times what this process does, from any thread; writes its file every two seconds.

    Without `keep` it has no file, and nobody reads what it counts.

    Attributes:
        gauges: returns what holds now; called in a thread of its own.
    """

    def __init__(self) -> None:
        self._metrics, self._mutex = Metrics(), threading.Lock()
        self.gauges: Callable[[], dict[str, float]] = dict
        self._path: Path | None = None

    def end(self, reason: str) -> None:
        """The crawl ends, for this reason."""
        with self._mutex:
            self._metrics.ended = reason if reason in LIMITS else ""

    def count(self, name: str, number: int = 1, label: str = "") -> None:
        with self._mutex:
            self._metrics.counts[name][label] += number

    def time(self, name: str, seconds: float) -> None:
        with self._mutex:
            self._metrics.timed[name].add(seconds)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Times a block; one that raises is not counted."""
        began = time.perf_counter()
        yield
        self.time(name, time.perf_counter() - began)

    @contextmanager
    def keep(self, crawl_dir: Path, kind: str) -> Iterator[None]:
        """Goes on from the first free file of this kind, and writes it until the block ends.

        A data folder that cannot be written costs the figures, not the process.
        """
        with _slot(crawl_dir / FOLDER, kind) as path:
            if path is None:
                yield
                return
            with suppress(*UNREADABLE):
                self._metrics.merge(json.loads(path.read_text("utf-8")) | {"ended": ""})
            self._path, end = path, threading.Event()
            writer = threading.Thread(target=self._write_until, args=(end,), name="metrics", daemon=True)
            writer.start()
            try:
                yield
            finally:
                end.set()
                writer.join()

    def _write_until(self, end: threading.Event) -> None:
        while not end.wait(pace.METRICS_WRITE_SECONDS):
            self._write()
        self._write()

    def _write(self) -> None:
        assert self._path is not None
        gauges = self.gauges()
        with self._mutex:
            self._metrics.gauges = gauges
            text = self._metrics.as_json()
        aside = self._path.with_suffix(".new")
        with suppress(OSError):  # no fsync: figures are not worth a wait for the disk
            aside.write_text(text, "utf-8")
            aside.replace(self._path)


ENDED_TOGETHER_SECONDS = 60.0


def read(*crawl_dirs: Path) -> Metrics:
    """What all processes of these data folders have counted so far; writes nothing."""
    found, newest = Metrics(), 0.0
    paths = sorted(path for folder in crawl_dirs for path in (folder / FOLDER).glob("*.json"))
    with suppress(OSError):
        newest = max((path.stat().st_mtime for path in paths if path.name.startswith(CRAWL)), default=0.0)
    for path in paths:
        with suppress(*UNREADABLE):
            kept = json.loads(path.read_text("utf-8"))
            # Agents of one crawl end together: older files are of agents that the last crawl did not have.
            if not path.name.startswith(CRAWL) or path.stat().st_mtime < newest - ENDED_TOGETHER_SECONDS:
                kept["ended"] = ""
            found.merge(kept, _is_held(path.with_suffix(".lock")))
    return found


def _joined(name: str, one: float | None, other: float) -> float:
    """Gauges of several processes: settings are the same in all, all else adds up."""
    is_setting = name.endswith("_seconds")
    return other if one is None or is_setting else one + other


@contextmanager
def _slot(folder: Path, kind: str) -> Iterator[Path | None]:
    """The first file of a kind that no living process has; None where the folder cannot be written."""
    lock: IO[str] | None = None
    path = None
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        for number in count(1):
            path = folder / f"{kind}-{number}.json"
            if lock := _held(path.with_suffix(".lock")):
                break
    try:
        yield path if lock else None
    finally:
        if lock:
            lock.close()


def _held(path: Path) -> IO[str] | None:
    lock = path.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return lock
    except BlockingIOError:
        lock.close()
        return None


def _is_held(path: Path) -> bool:
    with suppress(OSError), path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
