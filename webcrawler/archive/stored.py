"""Are the records there that the catalog knows? And deletes what was removed: records, texts, links, digests.

A WARC file is written anew beside the old one, under another name; then one transaction of the catalog puts
all places right; then the old file goes, here and elsewhere. Killed at any moment, the next run finds by the
catalog which of the two is in use, and does the rest. Pages that stay and have their body in a record that
goes get it first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from hashlib import sha1
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from webcrawler import urls
from webcrawler.archive.catalog import Catalog, compact
from webcrawler.archive.pages import (
    FILE_BYTES,
    Raw,
    is_here,
    lost_copies,
    names,
    opened,
    raw_records,
    record_at,
    records_from,
    remove,
    rewrite,
    successor,
)
from webcrawler.errors import BadInput, BadUrl
from webcrawler.records import Place
from webcrawler.scope import Patterns

Progress = Callable[[str, int, int | None], None]
MENDED = (
    "put the files back from a backup; without one, `webcrawler rebuild`, then `webcrawler frontier rebuild` "
    "let a crawl fetch them again"
)


def refuse_lost_records(folder: Path, catalog: Catalog, is_deep: bool = False) -> None:
    """Look whether the newest record of each file that the catalog knows is there, or all of them.

    Files that are in a store only are read where all records are looked for; else `refuse_lost_copies` looks.

    Raises:
        BadInput: one is not there, is torn, or has another digest than was stored.
    """
    lost, there = list[Place](), set(names(folder))
    for name, places in groupby(catalog.known_places(newest=not is_deep), lambda known: known[0].file):
        left = dict(places)
        if not is_deep and name in there and not is_here(folder, name):
            continue
        with suppress(OSError), opened(folder, name, FILE_BYTES) as file:
            for record in records_from(file, name, next(iter(left)).offset):
                digests = {record.digest, left.get(record.place)} - {b"", None}
                if is_deep and record.kind == "response":  # what gzip finds whole was written so
                    digests.add(sha1(record.response.body).digest())
                if len(digests) < 2:
                    left.pop(record.place, None)
                if not left:
                    break
        lost += left
    if lost:
        where = f"the first in {folder / lost[0].file} at {lost[0].offset:,}"
        raise BadInput(
            f"{len(lost):,} records that the catalog knows are not there as stored, {where}: {MENDED}"
        )


def refuse_lost_copies(folder: Path) -> None:
    """Look whether stores have all that was put there.

    Raises:
        BadInput: something is missing there, or shorter.
        StoreAway: a store does not answer.
    """
    if lost := list(lost_copies(folder)):
        raise BadInput(
            f"{len(lost):,} files that were put elsewhere are not there as they were put, the first is "
            f"{lost[0]}: copy those there that are still here; for others, {MENDED}"
        )


class Purged(NamedTuple):
    """What a purge has done."""

    records: int  # deleted
    completed: int  # revisit records that have their body now


def purge(crawl_dir: Path, named: Patterns, progress: Progress) -> Purged:
    """Delete what is kept of the URLs that these patterns mean; reads all WARC files.

    They are removed already. No crawl may be alive. May be repeated.

    Raises:
        Unavailable, OSError: the disk is full, or somebody is reading the catalog; another run does the rest.
    """
    folder = crawl_dir / "pages"
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        _finish(catalog, folder)
        found = _Work(catalog, folder, named, progress).run()
        catalog.forget(named)
        sys.audit("webcrawler.purge.forgotten")
    progress("compacting the catalog", 0, None)
    compact(crawl_dir / "catalog.sqlite")
    sys.audit("webcrawler.purge.compacted")
    return found


def _finish(catalog: Catalog, folder: Path) -> None:
    """Do the rest of a run that was killed."""
    for torn in folder.glob("*.warc.new"):
        torn.unlink()
    there = names(folder)
    for name in there:
        if (new := successor(name)) in there:
            # Either the places were put right, or the new file is nobody's and is written again.
            remove(folder, new if catalog.has_places(name) else name)


class _Work:
    """Over the files of one folder."""

    def __init__(self, catalog: Catalog, folder: Path, named: Patterns, progress: Progress) -> None:
        self._catalog, self._folder, self._named, self._progress = catalog, folder, named, progress
        self._bodies: dict[str, Place] = {}  # of responses that go, by digest

    def run(self) -> Purged:
        leaving = self._files_with("looking for records", self._leaves)
        self._bodies = self._bodies_in(leaving)
        waiting = self._files_with("looking for duplicates", self._lacks_body) if self._bodies else {}
        for name in waiting:
            self._swap(name, self._completed)
        if waiting:
            leaving = self._files_with("looking for records", self._leaves)
        for name in leaving:
            self._swap(name, lambda record: None if self._leaves(record) else b"")
        return Purged(sum(leaving.values()), sum(waiting.values()))

    def _files_with(self, step: str, is_meant: Callable[[Raw], bool]) -> dict[str, int]:
        """The names of the files that have such records, and how many."""
        all_names, found = names(self._folder), dict[str, int]()
        for done, name in enumerate(all_names):
            self._progress(step, done, len(all_names))
            if number := sum(map(is_meant, raw_records(self._folder, name))):
                found[name] = number
        return found

    def _bodies_in(self, names: Iterable[str]) -> dict[str, Place]:
        return {
            record.field("WARC-Payload-Digest"): Place(name, record.offset)
            for name in names
            for record in raw_records(self._folder, name)
            if record.field("WARC-Type") == "response" and self._leaves(record)
        }

    def _leaves(self, record: Raw) -> bool:
        try:
            return self._named.match(urls.canonical(record.field("WARC-Target-URI")))
        except BadUrl:
            return False

    def _lacks_body(self, record: Raw) -> bool:
        """Is it a revisit record that stays, of the same bytes as one that goes?"""
        is_twin = record.field("WARC-Payload-Digest") in self._bodies
        return is_twin and record.field("WARC-Type") == "revisit" and not self._leaves(record)

    def _completed(self, record: Raw) -> bytes:
        if not self._lacks_body(record):
            return b""
        place = self._bodies[record.field("WARC-Payload-Digest")]
        return record.as_response(record_at(self._folder, place).response.body)

    def _swap(self, name: str, change: Callable[[Raw], bytes | None]) -> None:
        new = successor(name)
        sys.audit("webcrawler.purge.before-write")
        moved = rewrite(self._folder, name, new, change)
        sys.audit("webcrawler.purge.written")
        self._catalog.move_places(name, new, moved)
        sys.audit("webcrawler.purge.moved")
        remove(self._folder, name)
        sys.audit("webcrawler.purge.swapped")
        for digest, place in self._bodies.items():
            if place.file == name and place.offset in moved:
                self._bodies[digest] = Place(new, moved[place.offset])
