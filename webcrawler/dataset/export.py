"""How a folder's tables follow its catalog: some changes at a time, as one of its views.

The newest manifest is the checkpoint: it says up to which change its parts tell of the catalog. So a crash
repeats what no manifest has; files that it leaves behind are deleted at the next start. Parts are only added,
until they tell mostly what has been replaced: then an epoch begins, and all is told anew.
"""

from __future__ import annotations

import logging
import math
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import PURGED, manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.place import ROOT, Place
from webcrawler.dataset.rows import tables_of
from webcrawler.dataset.schema import TABLES
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index import once

BATCH = 500  # changed documents to a step
URLS_AT_ONCE = 20_000  # to a step, of those that nothing but links are known of
FULL_BYTES = 64 << 20  # of rows in memory, some 1,500 pages: then they become parts
ROWS_OF_GROUP = 131_072
PATIENCE_SECONDS = 600.0  # how long the first row waits for others while a crawl is alive
RETRY_SECONDS = 30.0
KEPT_SECONDS = 24 * 3600.0  # parts that were replaced, for jobs that read them
KEPT_MANIFESTS = 10
FEW_ROWS, FEW_PARTS = 10_000, 200  # of documents, and of all tables: too few to be told anew
SCRATCH = "dataset.new"  # file in which a part is written before it is sent
_log = logging.getLogger(__name__)


class Export:
    """What a home has exported, and the rows that come next.

    Raises:
        BadInput: the place has a manifest of a newer version.
        Unavailable: it does not answer.
    """

    def __init__(self, catalog: Catalog, place: Place, crawl_dir: Path) -> None:
        self._catalog, self._place = catalog, place
        self._scratch, self._purged = crawl_dir / SCRATCH, crawl_dir / PURGED
        self._rows: dict[str, list[pa.RecordBatch]] = {name: [] for name in TABLES}
        home = manifest.home_name(crawl_dir)
        found = manifest.newest(place, home)
        now = found[0] if found else Manifest(home, 0, 0, catalog.identity, 0, 0, ())
        self._continue(now)
        there = dict(file for table in TABLES for file in place.files(f"{ROOT}/{table}/{home}"))
        named = {part.path for part in now.parts} | {path for path, _ in now.replaced}
        place.delete([path for path in there if path not in named])  # their writer died before it did
        whole = tuple(part for part in now.parts if there.get(part.path) == part.bytes)
        is_of_catalog = now.catalog == catalog.identity and now.seq <= catalog.last_seq()
        if whole != now.parts or not is_of_catalog:
            _log.warning("the dataset at %s is of another state of the catalog: all is told anew", place.url)
        if whole != now.parts or not is_of_catalog or self._purged.exists():
            self._begin_epoch(whole)

    def _continue(self, now: Manifest) -> None:
        """Go on where this manifest ends."""
        self._in_force, self._seq, self._urls = now, now.seq, now.urls
        self._goal_seq, self._goal_urls = self._catalog.last_seq(), self._catalog.urls.count()

    def _begin_epoch(self, parts: tuple[Part, ...]) -> None:
        """Tell all anew; these parts stay in force until that is done."""
        now, identity = self._in_force, self._catalog.identity
        self._continue(replace(now, epoch=now.epoch + 1, catalog=identity, parts=parts, seq=0, urls=0))

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
            tables = tables_of(self._catalog, self._in_force.home, self._in_force.epoch, new | changed)
        for name, batch in tables.items():
            if batch.num_rows:
                self._rows[name].append(batch)
        self._seq, self._urls = until, last
        sys.audit("webcrawler.dataset.read")
        return True

    def write(self) -> None:
        """Write the rows in memory as parts, and put a manifest in force that has them.

        What is of an earlier epoch leaves with the first manifest that has all that was known as this began.
        """
        before = self._in_force
        new = replace(before, number=before.number + 1, seq=self._seq, urls=self._urls)
        written = [self._write_part(name, rows, new) for name, rows in self._rows.items() if rows]
        self._rows = {name: [] for name in TABLES}
        parts = (*before.parts, *written)
        of_epoch = tuple(part for part in parts if part.epoch == new.epoch)
        is_whole = self._seq >= self._goal_seq and self._urls >= self._goal_urls
        if is_whole and of_epoch != parts:
            self._put(replace(new, parts=of_epoch, parts_needed=len(of_epoch)), parts)
        else:
            self._put(replace(new, parts=parts), parts)
        if is_whole and self._is_worn():
            self._begin_epoch(of_epoch)

    def _write_part(self, table: str, rows: Sequence[pa.RecordBatch], new: Manifest) -> Part:
        path = f"{ROOT}/{table}/{new.home}/{new.number:010}-{secrets.token_hex(4)}.parquet"
        found = pa.Table.from_batches(rows)
        parquet.write_table(found, self._scratch, compression="zstd", row_group_size=ROWS_OF_GROUP)
        self._place.put(path, self._scratch)
        sys.audit("webcrawler.dataset.part")
        return Part(table, path, len(found), self._scratch.stat().st_size, new.epoch)

    def _is_worn(self) -> bool:
        """Do parts tell mostly what has been replaced, or are they many and small?

        Beyond a few, they at least double from one epoch to the next: all epochs together write less than
        twice what their changes wrote.
        """
        now = self._in_force
        told = sum(part.rows for part in now.parts if part.table == "documents")
        if told > FEW_ROWS and told > 2 * self._catalog.count_documents():
            return True
        return len(now.parts) > FEW_PARTS + 2 * now.parts_needed

    def _put(self, new: Manifest, before: Sequence[Part]) -> None:
        """Put a manifest in force, and delete what no reader needs any more, or none may have."""
        now, kept = clock.now(), {part.path for part in new.parts}
        left = (*new.replaced, *((part.path, now) for part in before if part.path not in kept))
        is_purged = self._purged.exists() and {part.epoch for part in new.parts} == {new.epoch}
        until = math.inf if is_purged else now - KEPT_SECONDS
        old = [path for path, since in left if clock.past(since) < until]
        new = replace(new, replaced=tuple(one for one in left if one[0] not in old))
        if not manifest.put(self._place, new):
            raise Unavailable(f"another process writes as {new.home}: is one folder a copy of the other?")
        self._in_force = new
        sys.audit("webcrawler.dataset.manifest")
        self._place.delete([*old, *manifest.keys(self._place, new.home)[:-KEPT_MANIFESTS]])
        if is_purged:
            self._purged.unlink()


class Exporting:
    """The tables of a folder, as a view. A store that is away is asked again later; no crawl waits for it.

    Args:
        url: a folder or s3://BUCKET/PREFIX.
    Raises:
        BadInput: an extra is missing, or the URL is neither.
    """

    def __init__(self, catalog: Catalog, crawl_dir: Path, url: str) -> None:
        self._catalog, self._crawl_dir, self._place = catalog, crawl_dir, Place(url)
        self._export: Export | None = None
        self._due = 0.0  # on the monotonic clock: the next try
        self._waits_since = 0.0  # on the monotonic clock: the first row in memory
        self._has_ended = self._has_failed = False
        once.share()

    def step(self, crawling: bool) -> bool:
        if self._has_ended or time.monotonic() < self._due:
            return False
        try:
            return self._next(crawling)
        except (Unavailable, OSError) as error:
            _log.warning("%s; it is tried again", error)
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
            self._export = Export(self._catalog, self._place, self._crawl_dir)
        export, now = self._export, time.monotonic()
        self._has_failed = False
        self._waits_since = self._waits_since if export.holds_rows() else now
        has_read = export.read()
        if export.is_full() or (not has_read and export.holds_rows() and self._has_waited(crawling)):
            export.write()
            return True
        return has_read

    def _has_waited(self, crawling: bool) -> bool:
        return not crawling or time.monotonic() - self._waits_since >= PATIENCE_SECONDS
