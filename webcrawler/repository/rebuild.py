"""Catalog, ranks, index and vocabulary, made again of WARC files, those of one data folder or of several."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, NamedTuple

from scrapy.settings import BaseSettings

from webcrawler.archive.catalog import Catalog, blocked_servers, take_place
from webcrawler.archive.pages import FILE_BYTES, KEPT, Record, in_order, names, opened, size_of
from webcrawler.background import Views, try_lock
from webcrawler.crawl.run import keep_begun, removal_limits
from webcrawler.errors import BadInput
from webcrawler.files import sync_folder
from webcrawler.index import wait_until_caught_up
from webcrawler.linkgraph import stored
from webcrawler.records import Entry, Place
from webcrawler.repository.entries import entry_reader, in_batches, lost_record
from webcrawler.scope import NAME as SCOPE
from webcrawler.scope import Scope, change, read
from webcrawler.search.vocabulary import remake
from webcrawler.urls import canonical, url_id

ASIDE = "rebuilt"  # folder in which all is made before it takes the place of what is there
VIEWS = ("index", "anchors", "ranks", "vocabulary")
SOME = 500  # entries in one transaction
SHOWN = 10  # places of records that are passed over
Progress = Callable[[str, int, int | None], None]


class Rebuilt(NamedTuple):
    """What a catalog has that was made of WARC files."""

    records: int
    documents: int
    duplicates: int
    urls: int
    waiting: int  # URLs that were linked to and never fetched; which of them wait, only Redis knows
    blocked_servers: list[str]  # known from the catalog that was there
    unreadable: int  # records that are damaged, or of which no URL can be made
    passed_over: list[str]  # where the first of them begin, and what is no file


def rebuild(
    crawl_dir: Path, settings: BaseSettings, progress: Progress, blocked: Sequence[str] = ()
) -> Rebuilt:
    """Make all that can be made of the WARC files, then let it take the place of what is there.

    Killed at any moment, it leaves what was there, or a catalog that is whole; it may be repeated. What was
    removed stays out. Redis is neither asked nor changed.

    Args:
        blocked: servers to be blocked, beside those that the catalog knows as blocked; no record says it.
    Raises:
        BadInput: there are no WARC files, or a crawl is alive.
        Unavailable: somebody reads the catalog, the disk is full, or a store that has pages is away.
    """
    pages = crawl_dir / "pages"
    if not names(pages):
        raise BadInput(f"there are no WARC files in {pages}: nothing can be rebuilt")
    with ExitStack() as held:
        held.enter_context(hold_alone(crawl_dir))
        aside = crawl_dir / ASIDE
        _discard(aside)  # of a run that was killed
        held.callback(_discard, aside)
        aside.mkdir()
        blocked = [*blocked, *blocked_servers(crawl_dir / "catalog.sqlite")]
        work = _Work(crawl_dir, aside, settings, progress)
        work.write_catalog(blocked)
        found = work.result(blocked)
        make_ranks_and_vocabulary(aside, progress)
        wait_until_caught_up(aside, lambda applied, last: progress("index", applied, last))
        held.enter_context(Views(crawl_dir).take_over())
        _exchange(crawl_dir, aside)
    return found


def hold_alone(crawl_dir: Path) -> IO[str]:
    """The lock of the crawls of a data folder. Raises BadInput: one is alive."""
    if (lock := try_lock(crawl_dir / "crawls.lock")) is None:
        raise BadInput(f"a crawl or a search of the web is running on {crawl_dir}: end it first")
    return lock


def _exchange(crawl_dir: Path, aside: Path) -> None:
    """Views know their catalog: where this is killed, those of the old one are made anew."""
    take_place(aside / "catalog.sqlite", crawl_dir / "catalog.sqlite")
    for name in (*VIEWS, "refresh"):  # what the refresher learnt is a view as well, and it learns it again
        shutil.rmtree(crawl_dir / name, ignore_errors=True)
        if (aside / name).exists():
            (aside / name).rename(crawl_dir / name)


def _discard(aside: Path) -> None:
    shutil.rmtree(aside, ignore_errors=True)


def make_ranks_and_vocabulary(crawl_dir: Path, progress: Progress) -> None:
    """Make both of the whole catalog, in this process."""
    progress("ranks", 0, None)
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        stored.RankRenewal(catalog, crawl_dir / "ranks").renew()
    progress("words", 0, None)
    remake(crawl_dir)


class _Work:
    """What is made aside."""

    def __init__(self, crawl_dir: Path, aside: Path, settings: BaseSettings, progress: Progress) -> None:
        self._crawl_dir, self._aside = crawl_dir, aside
        self._settings, self._progress = settings, progress
        self._limits = removal_limits(settings)
        self._records = self._read = 0
        self._passed_over: list[str] = []
        self._kept: dict[str, set[int]] = {}  # ids of the finds that are kept, by search

    def write_catalog(self, blocked: Iterable[str]) -> None:
        path, searches = self._aside / "catalog.sqlite", set[str]()
        with entry_reader(self._settings) as reader:
            stored = reader.stored(self._fetches(), self._crawl_dir / "pages")
            for search, group in groupby(stored, lambda pair: pair[1].search):
                searches.add(search)
                with closing(Catalog(path, job=search, limits=self._limits)) as catalog:
                    for some in in_batches(group, SOME):
                        catalog.write([(entry, record.place) for entry, record in some])
                        self._read += len(some)
            for search in sorted(searches - {""}):
                with closing(Catalog(path, job=search)) as catalog:
                    catalog.discard_finds(self._kept.get(search, ()))
        with closing(Catalog(path)) as catalog:
            for lost in self._without_records(catalog):
                catalog.write([(entry, None) for entry in lost])
        with suppress(FileNotFoundError):  # at last, as it was removed: the links of such pages stay
            shutil.copy(self._crawl_dir / SCOPE, self._aside)
        with closing(Catalog(self._aside / "catalog.sqlite")) as obeying:
            for name in blocked:
                obeying.block(name)

    def _without_records(self, catalog: Catalog) -> Iterator[list[Entry]]:
        """What the catalog that was there knows, and no record tells: failed, and to be fetched again."""
        path = self._crawl_dir / "catalog.sqlite"
        # Where it is damaged, as far as it can be read.
        with suppress(BadInput, sqlite3.DatabaseError), closing(Catalog(path, readonly=True)) as before:
            for some in in_batches(iter(before.fetches.order()), SOME):
                fetches = before.fetches.newest(some)
                told = {id for id, _ in catalog.fetches.made([one.id for one in fetches])}
                yield [Entry(lost_record(one.url, one.fetched)) for one in fetches if one.id not in told]

    def _fetches(self) -> Iterator[Record]:
        """The records that tell a fetch."""
        folder, ends = self._crawl_dir / "pages", dict[str, int]()
        total = sum(size_of(folder, name) for name in names(folder))
        for record in in_order(folder, self._note_unreadable):
            ends[record.place.file] = record.place.offset
            if f"{record.state}/{record.reason}" == KEPT:
                self._kept.setdefault(record.search, set()).add(url_id(canonical(record.response.url)))
                continue
            self._records += 1
            if self._records % SOME == 0:
                self._progress("pages", sum(ends.values()), total)
            yield record

    def _note_unreadable(self, place: Place) -> None:
        self._records += 1
        if len(self._passed_over) < SHOWN:
            self._passed_over.append(f"{place.file} at {place.offset}")

    def result(self, blocked: list[str]) -> Rebuilt:
        with closing(Catalog(self._aside / "catalog.sqlite", readonly=True)) as catalog:
            stats = catalog.stats()
            return Rebuilt(
                self._records,
                stats["documents"],
                stats["duplicates"],
                catalog.urls.count(),
                len(catalog.urls.unexplored()),
                blocked,
                self._records - self._read,
                self._passed_over,
            )


def merge(folders: Sequence[Path], into: Path, settings: BaseSettings, progress: Progress) -> Rebuilt:
    """Make a new data folder of others, which stay as they are; WARC files are linked, or copied
    from another file system or a store.

    Originals, duplicates, anchor texts and ranks are those of all pages together. Killed, it may be repeated.

    Raises:
        BadInput: a folder has no WARC files or is being crawled, or the new one has a catalog already.
        Unavailable: the disk is full.
    """
    for folder in folders:
        if not names(folder / "pages"):
            raise BadInput(f"there are no WARC files in {folder / 'pages'}: {folder} is no data folder")
    if (into / "catalog.sqlite").exists():
        raise BadInput(f"{into} has a catalog already: name a new folder, and this one among the others")
    (into / "pages").mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        for folder in dict.fromkeys((*folders, into)):
            held.enter_context(hold_alone(folder))
        for folder in folders:
            _add_pages(folder / "pages", into / "pages")
        scope = _joined([read(folder) for folder in folders])
        change(into, lambda _: scope)
        keep_begun(folders, into)
    blocked = sorted({name for folder in folders for name in blocked_servers(folder / "catalog.sqlite")})
    return rebuild(into, settings, progress, blocked)


def _add_pages(folder: Path, into: Path) -> None:
    """Files are never changed once they are closed, so both folders may have the same ones."""
    for name in names(folder):
        target = into / name
        if target.exists() and target.stat().st_size == size_of(folder, name):
            continue  # of a run that was killed, or both folders have it
        part = target.with_suffix(".part")
        part.unlink(missing_ok=True)
        try:
            os.link(folder / name, part)
        except OSError:  # another file system, or a store has it
            with opened(folder, name, FILE_BYTES) as file, part.open("wb") as copy:
                shutil.copyfileobj(file, copy)
        part.replace(target)
    sync_folder(into)


def _joined(scopes: Sequence[Scope]) -> Scope:
    """What was removed from any of them; the bounds of crawls only where all have the same."""
    removed = tuple(dict.fromkeys(pattern for scope in scopes for pattern in scope.removed))
    bounds = {replace(scope, removed=()) for scope in scopes}
    with suppress(ValueError):
        (only,) = bounds
        return replace(only, removed=removed)
    return Scope(removed=removed)
