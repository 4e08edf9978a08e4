"""What the last run of the jobs says of a folder's URLs, taken into the folder: as one of its views.

- `ranks/`: those of all folders, mean 1 over the URLs of all. The folder's own ranker leaves them alone.
- `elsewhere.sqlite`: anchors of links in other folders, which the index adds to its own; URLs that no search
  shows, as other folders know; originals of pages in other folders. A page here whose original is elsewhere
  stays in the index of this folder, which has no other copy: who shows all folders together leaves it out.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ArrowException, compute, parquet

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import runs
from webcrawler.dataset.manifest import home_name
from webcrawler.dataset.place import Place
from webcrawler.dataset.runs import Run
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index import Elsewhere
from webcrawler.linkgraph import DAMPING, stored

COPIES = "elsewhere.parts"  # of a bucket's files, while they are read
TABLES = {"anchors": "anchors_elsewhere", "hidden": "hidden", "duplicates": "duplicates"}
_log = logging.getLogger(__name__)


class Results:
    """The results of one run for one home, as rows and arrays.

    Args:
        copies: a folder for files of a bucket.
    Raises:
        BadInput: a file is missing or damaged.
    """

    def __init__(self, place: Place, run: Run, home: str, copies: Path) -> None:
        self._place, self._run, self._home, self._copies = place, run, home, copies

    def rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        for file in self._files(table):
            for batch in file.iter_batches():
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def ranks_of(self, ids: Any) -> Any:
        """Ranks by URL id; a URL that the run did not know has the rank of one that nobody links to."""
        told = pa.concat_tables(file.read() for file in self._files("ranks"))
        places = compute.index_in(pa.array(ids), value_set=told["url_id"])
        return told["pagerank"].take(places).fill_null(1 - DAMPING).to_numpy()

    def _files(self, table: str) -> Iterator[parquet.ParquetFile]:
        for part in self._run.parts.get(f"{table}/{self._home}", ()):
            try:
                path = self._place.local(part.key, self._copies)
                if path.stat().st_size != part.bytes:
                    raise BadInput(f"{self._place.url}/{part.key} is damaged: its length is another")
                with parquet.ParquetFile(path) as file:
                    yield file
            except FileNotFoundError:
                raise BadInput(f"{self._place.url}/{part.key} is missing") from None
            except ArrowException as error:
                raise BadInput(f"{self._place.url}/{part.key} is damaged: {error}") from error


class Taking:
    """Takes each new run, and again what was lost here. A store that is away is asked again later.

    Raises:
        BadInput: the URL is neither a folder nor a bucket.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, url: str) -> None:
        self._catalog, self._crawl_dir = catalog, crawl_dir
        self._place, self._home = Place(url), home_name(crawl_dir)
        self._elsewhere = Elsewhere(crawl_dir)
        self._due = 0.0  # on the monotonic clock: the next look
        self._has_looked = False

    def step(self, crawling: bool) -> bool:
        if time.monotonic() < self._due:
            return False
        self._due = time.monotonic() + clock.RESULTS_POLL_SECONDS
        try:
            self._take_newest()
        except (Unavailable, BadInput, OSError, ArrowException, sqlite3.Error) as error:
            _log.warning("results of all folders are not taken: %s", error)
        self._has_looked = True
        return False

    def is_behind(self) -> bool:
        """Has it not looked yet? What comes later is for the next process of views."""
        return not self._has_looked

    def close(self) -> None:
        """Nothing is open."""

    def _take_newest(self) -> None:
        run = runs.current(self._place)
        if run is None or self._home not in run.homes:
            return
        copies = self._crawl_dir / COPIES
        try:
            self._take(run, Results(self._place, run, self._home, copies))
        finally:
            shutil.rmtree(copies, ignore_errors=True)

    def _take(self, run: Run, results: Results) -> None:
        """Take ranks and anchors, whichever is not of this run: a crash lets the next look take the rest."""
        folder, identity = self._crawl_dir / "ranks", self._catalog.identity
        if stored.run_of(folder) != run.number or not stored.load(folder, identity):
            seq = self._catalog.last_seq()
            stored.store(folder, results.ranks_of(self._catalog.urls.ids()), seq, identity, run=run.number)
            sys.audit("webcrawler.graph.ranked")
            _log.info("took the ranks of run %d over %d folders", run.number, len(run.homes))
        if self._elsewhere.run != run.number:
            self._elsewhere.take(run.number, {name: results.rows(table) for name, table in TABLES.items()})
            sys.audit("webcrawler.graph.taken")
            _log.info("took the anchors of run %d over %d folders", run.number, len(run.homes))
