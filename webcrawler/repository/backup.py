"""A second copy of a data folder, also while it is crawled; and do its stores belong together?

A backup that is made again copies what is new. The order makes it whole: the frontier, then the catalog, then
the pages and the scope. A frontier that is older than its catalog loses nothing: what was decided between the
two is fetched again. One that was made from the catalog would lack the seeds that wait. What takes the place
of an earlier backup is made aside.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import IO

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from webcrawler import connection
from webcrawler.archive import refuse_lost_copies, refuse_lost_records
from webcrawler.archive.catalog import Catalog, snapshot, take_place
from webcrawler.archive.pages import FILE_BYTES, names, opened
from webcrawler.background import hold_crawl, try_lock
from webcrawler.crawl.run import has_begun, refuse_if_lost
from webcrawler.errors import BadInput, StoreAway, WebcrawlerError
from webcrawler.frontier import Frontier, ordering
from webcrawler.index import applied_seq, followed
from webcrawler.repository.rebuild import ASIDE, VIEWS
from webcrawler.usage import NAME as QUERIES

CATALOG, LOCK = "catalog.sqlite", "crawls.lock"
NEW = "backup.new"  # folder in which all is made that takes the place of an earlier one
MARK = "is-a-backup"  # an empty file
COPIED_APART = (f"{CATALOG}*", f"{QUERIES}*", "pages", "redis")
MADE_AGAIN = (*VIEWS, "refresh", "metrics", ASIDE, MARK)
OF_PROCESSES = ("*.lock", "*.log", "*.new", "*.part", "lock", "users", "server", "*.sock")
PATIENCE_SECONDS = 5.0
Progress = Callable[[str, int, int | None], None]


def backup(crawl_dir: Path, into: Path, progress: Progress) -> int:
    """Copy all of a data folder that cannot be made again; returns how many bytes of pages were new.

    Killed at any moment, it may be repeated; until its end the backup before has only longer pages.

    Raises:
        BadInput: the target is no backup of this folder, or the folder is damaged.
        Unavailable: a command such as rebuild is at work, or somebody reads the catalog of the backup.
    """
    with ExitStack() as held:
        held.enter_context(hold_crawl(crawl_dir, PATIENCE_SECONDS))  # no purge and no rebuild meanwhile
        held.enter_context(_claim(crawl_dir, into))
        aside = into / NEW
        shutil.rmtree(aside, ignore_errors=True)  # of a run that was killed
        aside.mkdir()
        held.callback(shutil.rmtree, aside, ignore_errors=True)
        _copy_frontier(crawl_dir / "redis", aside / "redis")
        for name in (CATALOG, QUERIES):
            if (crawl_dir / name).exists():
                snapshot(crawl_dir / name, aside / name, partial(progress, name))
        with closing(Catalog(aside / CATALOG, readonly=True)) as catalog:
            catalog.refuse_damaged()
            known = [place.file for place, _ in catalog.known_places(newest=True)]
            new = _append_pages(crawl_dir / "pages", into / "pages", known, progress)
            refuse_lost_records(into / "pages", catalog)
        _copy(crawl_dir, aside, *COPIED_APART, *MADE_AGAIN, *OF_PROCESSES)
        _exchange(aside, into)
        there = set(names(crawl_dir / "pages"))
        for path in (into / "pages").iterdir():
            if path.name not in there:  # it was purged, or has a successor
                path.unlink()
    return new


def _claim(crawl_dir: Path, into: Path) -> IO[str]:
    """The lock of a folder that is ours to write. Raises BadInput: it is something else, or in use."""
    if into.resolve().is_relative_to(crawl_dir.resolve()):
        raise BadInput(f"{into} is within the data folder: name another folder")
    if into.exists() and not (into / MARK).exists() and any(into.iterdir()):
        raise BadInput(f"{into} is not empty and no backup: name a new folder, or that of an earlier backup")
    into.mkdir(mode=0o700, parents=True, exist_ok=True)
    (into / "pages").mkdir(exist_ok=True)
    (into / MARK).touch()
    here = {_stem(name) for name in names(crawl_dir / "pages")}
    if strange := [path.name for path in (into / "pages").iterdir() if _stem(path.name) not in here]:
        raise BadInput(f"{into} has pages that {crawl_dir} has not ({strange[0]}): name a new folder")
    if (lock := try_lock(into / LOCK)) is None:
        raise BadInput(f"{into} is in use, by another backup or a crawl")
    return lock


def _stem(name: str) -> str:
    """The same for a WARC file and for what a purge puts in its place."""
    return re.sub(r"(-v\d+)?\.warc\.gz$", "", name)


def _copy(folder: Path, into: Path, *left_out: str) -> None:
    is_left_out = shutil.ignore_patterns(*left_out)

    def ignore(within: str, names: list[str]) -> set[str]:
        return is_left_out(within, names) if within == str(folder) else set()

    def copy(path: str, to: str) -> None:
        with suppress(FileNotFoundError):  # it has just been replaced
            shutil.copy2(path, to)

    shutil.copytree(folder, into, ignore=ignore, copy_function=copy, dirs_exist_ok=True)


def _copy_frontier(redis: Path, into: Path) -> None:
    """Copy the log of a private Redis as of one moment: its files only grow, until Redis makes others."""
    names: list[Path] | None = None
    while redis.exists() and names != (names := sorted(redis.glob("appendonlydir/*"))):
        _copy(redis, into, *OF_PROCESSES, "temp*")


def _append_pages(folder: Path, into: Path, known: Iterable[str], progress: Progress) -> int:
    """Copy what is new at the ends of WARC files, which only grow."""
    new = 0
    for done, name in enumerate(known):
        progress("pages", done, None)
        with opened(folder, name, FILE_BYTES) as file, (into / name).open("ab") as copy:
            begin = file.seek(copy.tell())
            shutil.copyfileobj(file, copy)
            new += copy.tell() - begin
    return new


def _exchange(aside: Path, into: Path) -> None:
    """The catalog first: a frontier is never newer than the catalog beside it."""
    os.sync()
    names = {CATALOG, LOCK, MARK, NEW, "pages"} | {path.name for path in aside.iterdir()}
    take_place(aside / CATALOG, into / CATALOG)
    for path in aside.iterdir():
        if (into / path.name).is_dir():
            shutil.rmtree(into / path.name)
        path.replace(into / path.name)
    for path in into.iterdir():
        if path.name not in names:  # it is in the data folder no more
            shutil.rmtree(path) if path.is_dir() else path.unlink()


QUICK_BYTES = 2_000_000_000  # of a catalog that SQLite reads within seconds
MENDS = {  # where a fault names no command itself
    "catalog": "`webcrawler rebuild` makes it again from the pages",
    "frontier": "`webcrawler frontier rebuild` makes it again from the catalog",
    "index": "`webcrawler reindex` makes it again from the catalog",
}


def check(
    crawl_dir: Path, settings: BaseSettings, is_deep: bool, progress: Callable[[str, int, None], None]
) -> dict[str, str]:
    """Return by store what is wrong and what mends it, "" where nothing is; also beside a crawl.

    The others are compared with a good catalog only.

    Args:
        is_deep: read all of the catalog and of the pages, however large they are.
    """
    looks = {
        "catalog": partial(_refuse_catalog, crawl_dir / "catalog.sqlite", is_deep),
        "pages": partial(_refuse_pages, crawl_dir, is_deep),
        "frontier": partial(_refuse_frontier, crawl_dir, settings),
        "index": partial(_refuse_index, crawl_dir),
    }
    found = dict[str, str]()
    for store, look in looks.items():
        progress(store, 0, None)
        found[store] = ""
        try:
            look()
        except StoreAway as error:
            found[store] = str(error)
        except (WebcrawlerError, OSError, RedisError, sqlite3.Error) as error:
            found[store] = (
                str(error) if "`webcrawler " in str(error) else f"{str(error).rstrip('.')}: {MENDS[store]}"
            )
            if store == "catalog":
                break
    return found


def _refuse_frontier(crawl_dir: Path, settings: BaseSettings) -> None:
    """Raises BadInput: it is lost, not whole, or knows of more than the catalog."""
    if has_begun(crawl_dir):
        with connection.from_settings(settings) as connected:
            frontier = Frontier(connected.client, ordering("fifo"))
            refuse_if_lost(crawl_dir, frontier)
            if frontier.client.exists(frontier.rebuilding):
                raise BadInput("it is not whole, as a rebuild was interrupted or is still at work")


def _refuse_catalog(path: Path, is_deep: bool) -> None:
    with closing(Catalog(path, readonly=True)) as catalog:
        if is_deep or path.stat().st_size <= QUICK_BYTES:
            catalog.refuse_damaged()


def _refuse_pages(crawl_dir: Path, is_deep: bool) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        refuse_lost_records(crawl_dir / "pages", catalog, is_deep)
    refuse_lost_copies(crawl_dir / "pages")


def _refuse_index(crawl_dir: Path) -> None:
    views = [crawl_dir / "index", crawl_dir / "anchors"]
    known = {followed(view) for view in views} - {""}
    newest = max(map(applied_seq, views))
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        if known - {catalog.identity} or newest > catalog.last_seq():
            raise BadInput("it is of another catalog, or of a later time")
