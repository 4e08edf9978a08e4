"""How a folder's tables follow its catalog: some changes at a time, as one of its views.

The newest manifest is the checkpoint: it says up to which change its parts tell of the catalog. So a crash
repeats what no manifest has; files that it leaves behind are deleted at the next start.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from obstore.exceptions import AlreadyExistsError

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import compaction, manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.parts import Parts, Span
from webcrawler.dataset.rows import Version, tables_of
from webcrawler.dataset.schema import TABLES
from webcrawler.errors import BadInput, Unavailable
from webcrawler.objects import open_store

BATCH = 500  # changes to a step
URLS_AT_ONCE = 20_000  # to a step, of those that nothing but links are known of
FULL_BYTES = 64 << 20  # of rows in memory, some 1,500 pages: then they become parts
PATIENCE_SECONDS = 600.0  # how long the first row waits for others while a crawl is alive
RETRY_SECONDS = 30.0
KEPT_SECONDS = 24 * 3600.0  # parts that were replaced, for jobs that read them
KEPT_MANIFESTS = 10
SCRATCH = "dataset.new"  # folder in which parts are written before they are sent
_log = logging.getLogger(__name__)


class Export:
    """What a home has exported, and the rows that come next.

    Args:
        url: of the store, for messages.
        scratch: a folder of its own.
    Raises:
        BadInput: the store has a manifest of a newer version.
        Unavailable: the store does not answer.
    """

    def __init__(self, catalog: Catalog, store: manifest.Store, url: str, home: str, scratch: Path) -> None:
        self._catalog, self._store, self._url = catalog, store, url
        self._parts = Parts(store, url, home, scratch)
        found = manifest.newest_of(store, url, home)
        self._in_force = found or Manifest(home, 0, 0, catalog.identity, 0, 0, ())
        there = self._parts.files()
        named = {part.path for part in self._in_force.parts} | {path for path, _ in self._in_force.replaced}
        self._parts.delete([path for path in there if path not in named])  # their writer died before it did
        whole = tuple(part for part in self._in_force.parts if there.get(part.path) == part.bytes)
        if whole != self._in_force.parts or not self._is_of_catalog():
            _log.warning("the dataset at %s is of another state of the catalog: all is exported anew", url)
            self._begin_epoch(whole)
        self._seq, self._urls = self._in_force.seq, self._in_force.urls
        self._rows: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
        self._documents = catalog.count_documents()

    def is_behind(self) -> bool:
        """Does the catalog know more than the manifest in force?"""
        now = self._in_force
        return self._catalog.last_seq() > now.seq or self._catalog.urls.count() > now.urls

    def is_ahead(self) -> bool:
        """Does the manifest know more than the catalog, which is of a backup?"""
        return self._seq > self._catalog.last_seq()

    def is_full(self) -> bool:
        held = (batch.nbytes for some in self._rows.values() for batch in some)
        return bool(sum(held) >= FULL_BYTES)

    def holds_rows(self) -> bool:
        return any(self._rows.values())

    def read(self) -> bool:
        """Read what changed next; returns whether anything did."""
        with self._catalog.tables.at_rest():
            changes = self._catalog.changes(self._seq, BATCH)
            until = changes[-1].seq if changes else self._seq
            last = min(self._urls + URLS_AT_ONCE, self._catalog.urls.count())
            if (until, last) == (self._seq, self._urls):
                return False
            changed = self._catalog.tables.changed(self._seq, until)
            new = dict.fromkeys(self._catalog.tables.new(self._urls, last), 0)
            version = Version(self._in_force.home, self._in_force.epoch)
            tables = tables_of(self._catalog, version, new | changed)
        for name, batch in tables.items():
            if batch.num_rows:
                self._rows[name].append(batch)
        self._seq, self._urls = until, last
        sys.audit("webcrawler.dataset.read")
        return True

    def write(self) -> None:
        """Write the rows in memory as parts, and put a manifest in force that has them.

        What is of an earlier epoch leaves with the first manifest that has all of this one.
        """
        before = self._in_force
        span, number = Span(before.epoch, before.seq + 1, self._seq), before.number + 1
        written = [self._parts.write(name, number, rows, span) for name, rows in self._rows.items()]
        parts = (*before.parts, *filter(None, written))
        caught_up = self._seq >= self._catalog.last_seq() and self._urls >= self._catalog.urls.count()
        kept = tuple(part for part in parts if not caught_up or part.epoch == before.epoch)
        self._put(replace(before, number=number, seq=self._seq, urls=self._urls, parts=kept), parts)
        self._rows = {name: [] for name in TABLES}
        self._documents = self._catalog.count_documents()

    def compact(self) -> bool:
        """Rewrite some parts as one, where that is due; returns whether it was."""
        before = self._in_force
        if not (some := compaction.due(before, self._documents)):
            return False
        span = Span(before.epoch, min(p.first_seq for p in some), max(p.last_seq for p in some))
        newest = [part for part in before.parts if part.table == "urls"]
        with compaction.alive(self._parts, some, newest) as rows:
            merged = self._parts.write(some[0].table, before.number + 1, rows, span)
        kept = tuple(part for part in before.parts if part not in some)
        parts = (*kept, merged) if merged else kept
        self._put(replace(before, number=before.number + 1, parts=parts), before.parts)
        return True

    def _is_of_catalog(self) -> bool:
        """Is the manifest in force of this catalog, and no newer than that?"""
        now, catalog = self._in_force, self._catalog
        return now.catalog == catalog.identity and now.seq <= catalog.last_seq()

    def _begin_epoch(self, parts: tuple[Part, ...]) -> None:
        """Tell all anew; these parts stay in force until that is done."""
        now = self._in_force
        begun = replace(now, epoch=now.epoch + 1, catalog=self._catalog.identity, parts=parts)
        self._in_force = replace(begun, seq=0, urls=0)

    def _put(self, new: Manifest, before: Sequence[Part]) -> None:
        """Put a manifest in force, and delete what no reader needs any more."""
        now, kept = clock.now(), {part.path for part in new.parts}
        left = [(part.path, now) for part in before if part.path not in kept]
        old = [path for path, since in new.replaced if clock.past(since) < now - KEPT_SECONDS]
        replaced = tuple(one for one in (*new.replaced, *left) if one[0] not in old)
        new = replace(new, replaced=replaced)
        manifest.put(self._store, self._url, new)
        self._in_force = new
        sys.audit("webcrawler.dataset.manifest")
        older = manifest.manifests_of(self._store, self._url, new.home)[:-KEPT_MANIFESTS]
        self._parts.delete([*old, *older])


class Exporting:
    """The tables of a folder, as a view. A store that is away is asked again later; no crawl waits for it.

    Args:
        url: a folder or s3://BUCKET/PREFIX.
    Raises:
        BadInput: an extra is missing, or the URL is neither.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, url: str) -> None:
        self._catalog, self._url, self._scratch = catalog, url, crawl_dir / SCRATCH
        self._store, self._home = open_store(url, "DATASET_URL"), manifest.home_name(crawl_dir)
        self._export: Export | None = None
        self._due = 0.0  # on the monotonic clock: the next try
        self._waits_since = 0.0  # on the monotonic clock: the first row in memory
        self._has_ended = self._has_failed = False

    def step(self, crawling: bool) -> bool:
        if self._has_ended or time.monotonic() < self._due:
            return False
        try:
            return self._next(crawling)
        except (Unavailable, OSError) as error:
            _log.warning("%s; it is tried again", error)
        except AlreadyExistsError:
            _log.warning("another process writes as home %s: is this folder a copy of another?", self._home)
        except (BadInput, ValueError) as error:  # pyarrow's, too: the other views go on
            _log.error("%s: nothing is exported", error)
            self._has_ended = True
        self._export, self._has_failed = None, True
        self._due = time.monotonic() + RETRY_SECONDS
        return False

    def is_behind(self) -> bool:
        """Tell whether anything is left; of a store that is away nothing, which the next crawl does."""
        if self._has_ended or self._has_failed:
            return False
        return self._export is None or self._export.is_behind()

    def close(self) -> None:
        """What is in memory only is read again."""

    def _next(self, crawling: bool) -> bool:
        if self._export is None or self._export.is_ahead():
            self._export = Export(self._catalog, self._store, self._url, self._home, self._scratch)
        export, now = self._export, time.monotonic()
        self._has_failed = False
        self._waits_since = self._waits_since if export.holds_rows() else now
        has_read = export.read()
        if export.is_full() or (not has_read and export.holds_rows() and self._has_waited(crawling)):
            export.write()
            return True
        return has_read or export.compact()

    def _has_waited(self, crawling: bool) -> bool:
        return not crawling or time.monotonic() - self._waits_since >= PATIENCE_SECONDS
