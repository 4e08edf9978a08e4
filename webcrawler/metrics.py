"""What the processes of a data folder count and time, for those who watch them.

Each process counts in its memory, and adds what is new to `metrics/counts.sqlite` every two seconds. So sums
over all processes and runs never go down, and a process that is killed takes two seconds of them with it.

The multiprocess mode of prometheus_client would want its folder before the first import, when no setting is
read yet, and leave a file for each process of each run, which must not be removed while others count.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from math import isnan, nan
from pathlib import Path
from typing import Any
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric

from webcrawler import clock

PREFIX = "webcrawler_"
ALIVE_SECONDS = 10.0  # a gauge that was written before is of a process that was killed
SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIUM = (*SHORT, 30.0, 60.0)
LONG = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
REGISTRY = CollectorRegistry()


def _counter(name: str, says: str, *labels: str) -> Counter:
    return Counter(PREFIX + name, says, labels, registry=REGISTRY)


def _gauge(name: str, says: str) -> Gauge:
    """A gauge that is unknown until somebody sets it."""
    gauge = Gauge(PREFIX + name, says, registry=REGISTRY)
    gauge.set(nan)
    return gauge


def _timer(name: str, says: str, edges: tuple[float, ...]) -> Histogram:
    return Histogram(PREFIX + name, says, registry=REGISTRY, buckets=edges)


fetches = _counter("fetches", "Fetches decided, by what they came to", "outcome")
fetched_bytes = _counter("fetched_bytes", "Bytes of bodies that were fetched, inflated")
parsers_killed = _counter("parsers_killed", "Pages that their parser did not survive")
batch_entries = _counter("batch_entries", "Fetches written to disk")
follower_changes = _counter("follower_changes", "Changes of the catalog put into the index")
ranker_rescored = _counter("ranker_rescored", "Waiting URLs that were given another priority")
refresher_checks_queued = _counter("refresher_checks_queued", "Checks of documents queued")

downloads = _gauge("downloads", "Downloads now")
downloads_max = _gauge("downloads_max", "Downloads at a time, at most (CONCURRENT_REQUESTS)")
delay_seconds = _gauge("delay_seconds", "Least pause between two fetches of a server (FRONTIER_DELAY)")
parser_pages = _gauge("parser_pages", "Pages that are being parsed or wait for it")
parsers = _gauge("parsers", "Parser processes, at most")
batch_queue = _gauge("batch_queue", "Fetches that wait to be written")
batch_full = _gauge("batch_full", "1 while nothing more is leased because the disk is behind")
checks_queued = _gauge("checks_queued", "Checks that are queued or being made")
checks_due = _gauge("checks_due", "Documents whose check is due and not queued yet")

lease_seconds = _timer("lease_seconds", "One round trip that reports downloads and leases URLs", SHORT)
fetch_seconds = _timer("fetch_seconds", "One download, with its redirects between spellings", MEDIUM)
parse_seconds = _timer("parse_seconds", "One page in its parser", SHORT)
batch_commit_seconds = _timer("batch_commit_seconds", "One batch: WARC, catalog, frontier", MEDIUM)
follower_commit_seconds = _timer("follower_commit_seconds", "One commit of documents to the index", LONG)
follower_lag_seconds = _timer(
    "follower_lag_seconds", "From the fetch of a document to its place in the index", LONG
)
ranker_round_seconds = _timer("ranker_round_seconds", "Ranks estimated, and sent to the frontier", LONG)
ranker_store_seconds = _timer("ranker_store_seconds", "Ranks computed and stored for search", LONG)
refresher_step_seconds = _timer("refresher_step_seconds", "One choice of what is checked next", LONG)

# No fsync: figures are not worth a wait for the disk. Counts are of no process, and stay.
SCHEMA = """
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS figures (
        process TEXT, family TEXT, sample TEXT, labels TEXT, value REAL, written REAL,
        PRIMARY KEY (process, sample, labels)
    );
"""
ADD = """
    INSERT INTO figures VALUES (?1, ?2, ?3, ?4, ?5, iif(?1 = '', NULL, julianday('now')))
    ON CONFLICT DO UPDATE SET value = value + excluded.value
"""
FORGET = "DELETE FROM figures WHERE process = ? OR written < julianday('now') - ? / 86400"
# Settings are the same in all processes; all else adds up.
READ = """
    SELECT family, sample, labels, iif(family LIKE '%seconds', max(value), sum(value)) FROM figures
    WHERE written IS NULL OR written > julianday('now') - ? / 86400
    GROUP BY sample, labels ORDER BY min(rowid)
"""
Samples = dict[tuple[str, str, str], float]  # by family, name and labels


@contextmanager
def kept(crawl_dir: Path) -> Iterator[None]:
    """Keep what this process counts until the block ends.

    A data folder that cannot be written costs the figures, not the process.
    """
    keeper, over = _Keeper(crawl_dir), threading.Event()
    writer = threading.Thread(target=keeper.write_until, args=(over,), name="metrics", daemon=True)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


class _Keeper:
    """Adds what this process has counted to the file."""

    def __init__(self, crawl_dir: Path) -> None:
        self._path, self._process = _path(crawl_dir), uuid4().hex
        self._written = _samples("counter", "histogram")

    def write_until(self, over: threading.Event) -> None:
        while not over.wait(clock.METRICS_WRITE_SECONDS):
            self._write({key: value for key, value in _samples("gauge").items() if not isnan(value)})
        self._write({})

    def _write(self, gauges: Samples) -> None:
        counted = _samples("counter", "histogram")
        rows = [("", *key, value - self._written.get(key, 0.0)) for key, value in counted.items()]
        rows += [(self._process, *key, value) for key, value in gauges.items()]
        import sqlite3  # not of the add-on, which counts in its memory only

        try:
            self._path.parent.mkdir(exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=1)) as db, db:
                db.executescript(SCHEMA)
                db.execute(FORGET, [self._process, ALIVE_SECONDS])
                db.executemany(ADD, rows)
            self._written = counted
        except (OSError, sqlite3.OperationalError):  # another process writes, say: then with what comes next
            pass
        except sqlite3.DatabaseError:  # a crash of the machine has damaged it
            self._path.unlink(missing_ok=True)


def families(crawl_dir: Path) -> list[Metric]:
    """All metrics, with what the processes have counted so far, and what those that are alive say."""
    found = {one.name: Metric(one.name, one.documentation, one.type) for one in REGISTRY.collect()}
    for family, sample, labels, value in _rows(crawl_dir, READ, ALIVE_SECONDS):
        if family in found:
            found[family].add_sample(sample, json.loads(labels), value)
    return list(found.values())


def gauges(crawl_dir: Path) -> dict[str, float]:
    """What the processes that are alive say of themselves."""
    found = [one.samples for one in families(crawl_dir) if one.type == "gauge"]
    return {one.name.removeprefix(PREFIX): one.value for samples in found for one in samples}


def _path(crawl_dir: Path) -> Path:
    return crawl_dir.absolute() / "metrics" / "counts.sqlite"


def _rows(crawl_dir: Path, query: str, *values: float) -> list[tuple[Any, ...]]:
    """Empty where nothing was counted yet, and where it cannot be read."""
    import sqlite3

    with suppress(sqlite3.Error):
        # May write: what a process has written half before it was killed is taken back first.
        uri = f"{_path(crawl_dir).as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, timeout=1, uri=True)) as db:
            return db.execute(query, values).fetchall()
    return []


def _samples(*types: str) -> Samples:
    return {
        (family.name, one.name, json.dumps(one.labels)): one.value
        for family in REGISTRY.collect()
        for one in family.samples
        if family.type in types and not one.name.endswith("_created")
    }
