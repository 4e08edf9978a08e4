"""The SQLite file: opening it, transactions, inserting many rows at once, the levels of URL ids."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from webcrawler import clock
from webcrawler.connection import retry
from webcrawler.errors import BadInput, Unavailable
from webcrawler.files import sync_folder

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

IntArray: TypeAlias = "NDArray[numpy.int64]"

URL = "FROM urls u JOIN servers s ON s.number = u.server"  # s.name || u.path is the canonical URL
SPELLED = "coalesce(u.spelling, s.name || u.path)"  # the URL as it is fetched
# Of documents and of links: not of finds, which are no part of the collection.
COLLECTED = "number NOT IN (SELECT number FROM finds)"
LINKED = "source NOT IN (SELECT number FROM finds)"
OF_NETWORK_DISKS = ("disk I/O error", "locking protocol")  # that cannot lock or share a file
VERSION = 15  # of schema.sql
REBUILD = "`webcrawler rebuild` makes a new one from the WARC files"
BUSY_SECONDS = 60.0  # to wait for another process, whose batch takes a fraction of a second
VARIABLES = 8000  # of one statement; SQLite's own limit is 32,766
CACHE_KIB = 65536
LOG_PAGES = 16_000  # 64 MB: what several batches change goes from the log to the file once
COPIED_PAGES = 4000  # of the file between two reports of progress, 16 MB
# From levels 0 and 1 of URL ids: after so many new URLs, a hand has gone around all ids.
# Half as many rows wait on an average; those of level 0 fit in the cache.
ID_TURNS = 2**15, 2**20
IDS = 2**64
logger = logging.getLogger(__name__)


@cache
def statements(name: str) -> tuple[str, ...]:
    """The statements of sql/`name`; each ends with a semicolon at the end of a line."""
    text = files("webcrawler.archive.catalog").joinpath("sql", name).read_text(encoding="utf-8")
    return tuple(statement for statement in text.split(";\n") if statement.strip())


def run(
    db: sqlite3.Connection, name: str, after: Callable[[], None] = lambda: None, **values: object
) -> sqlite3.Cursor:
    """Run the statements of sql/`name` in order, and return the cursor of the last.

    Args:
        after: called after each statement.
        values: of their named placeholders.
    """
    for statement in statements(name):
        cursor = db.execute(statement, values)
        after()
    return cursor


def connect(path: Path, readonly: bool) -> sqlite3.Connection:
    """Open a catalog, or make one; not for two threads at the same time.

    Raises:
        BadInput: it is missing (readonly), no catalog, of another version, or cannot be written.
    """
    try:
        if not readonly:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise BadInput(f"There is no catalog at {path}: crawl something first.")
        # While another process opens or recovers the file SQLite does not wait by itself.
        return retry(
            lambda: _prepared(path, readonly),
            seconds=BUSY_SECONDS,
            pause=0.1,
            longest_pause=clock.CATALOG_WAIT_SECONDS,
            is_passing=_is_busy,
            on_failure=lambda error: logger.warning("waiting to open the catalog: %s", error),
        )
    except (sqlite3.DatabaseError, OSError) as error:
        wanted = "read" if readonly else "written"
        where = " (CRAWL_DIR has to be on a disk of this machine)" if str(error) in OF_NETWORK_DISKS else ""
        raise BadInput(f"The catalog {path} cannot be {wanted}: {error}{where}.") from error


def _prepared(path: Path, readonly: bool) -> sqlite3.Connection:
    patience = BUSY_SECONDS if readonly else clock.CATALOG_WAIT_SECONDS  # writers log that they wait
    mode = "mode=rwc" if not readonly else "immutable=1" if _is_at_rest(path) else "mode=ro"
    uri = f"{path.absolute().as_uri()}?{mode}"
    db = sqlite3.connect(uri, patience, isolation_level=None, check_same_thread=False, uri=True)
    try:
        pragmas = [f"cache_size = -{CACHE_KIB}", "temp_store = MEMORY"]
        writing = ["journal_mode = WAL", "synchronous = FULL", f"wal_autocheckpoint = {LOG_PAGES}"]
        for pragma in pragmas if readonly else [*pragmas, *writing]:
            db.execute(f"PRAGMA {pragma}")
        _prepare(db, path, readonly)
    except BaseException:
        db.close()
        raise
    return db


def _is_at_rest(path: Path) -> bool:
    """Does nobody have it open, in a folder where we may not make the files that readers share?"""
    is_ours = os.access(path.parent, os.W_OK)
    return not is_ours and not path.with_name(f"{path.name}-wal").exists()


def _prepare(db: sqlite3.Connection, path: Path, readonly: bool) -> None:
    if not _version(db) and not readonly:
        with transaction(db):  # of several processes that open a new file, one does it
            if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
                run(db, "schema.sql")
                db.execute(f"PRAGMA user_version = {VERSION}")
    if not _version(db):
        raise BadInput(f"{path} is not a catalog: CRAWL_DIR names the folder that has one.")
    if _version(db) != VERSION:
        raise BadInput(f"The catalog {path} is of another version of this program: {REBUILD}.")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, one writer at a time. While it waits for another process, it says so.

    Raises:
        Unavailable: another process holds the lock for a minute, or the disk is full or broken.
    """
    try:
        retry(
            lambda: db.execute("BEGIN IMMEDIATE"),  # waits for clock.CATALOG_WAIT_SECONDS
            seconds=BUSY_SECONDS,
            pause=0.0,
            is_passing=_is_busy,
            on_failure=lambda _: logger.warning("waiting for the catalog: another process is writing it"),
        )
        yield
        db.execute("COMMIT")
    except BaseException as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError):
            raise Unavailable(f"The catalog cannot be written now: {error}.") from error
        raise


def compact(path: Path) -> None:
    """Write a catalog anew without what was deleted from it, which SQLite otherwise leaves in free pages.

    Takes as much free disk as the catalog has bytes.

    Raises:
        Unavailable: another process uses it for longer than a minute, or the disk is full.
    """
    try:
        with closing(sqlite3.connect(path, BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("VACUUM")
            (is_busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        raise Unavailable(f"The catalog cannot be compacted now: {error}.") from error
    if is_busy:
        raise Unavailable(
            "The catalog cannot be compacted while it is read: end `webcrawler serve`, then try again."
        )


def snapshot(path: Path, to: Path, progress: Callable[[int, int], None]) -> None:
    """Copy a catalog, or another SQLite file, as it stands now; others go on writing it. Durable on return.

    Args:
        to: a file that does not exist yet.
        progress: is told how many pages of the file are copied, of how many.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    opened = sqlite3.connect(uri, BUSY_SECONDS, isolation_level=None, uri=True)
    with closing(opened) as source, closing(sqlite3.connect(to)) as copy:
        source.execute("BEGIN")  # else each batch of a crawl would let the copy begin anew
        source.execute("SELECT count(*) FROM sqlite_master").fetchone()
        source.backup(copy, pages=COPIED_PAGES, progress=lambda _, left, all: progress(all - left, all))
    shutil.copymode(path, to)


def take_place(new: Path, old: Path) -> None:
    """Let one catalog take the place of another one, or of none. Durable on return.

    Raises:
        Unavailable: another process has one of them open.
    """
    _end_log(new)
    try:
        _end_log(old)
    except sqlite3.DatabaseError:  # damaged: nothing to be kept
        for suffix in ("-wal", "-shm"):
            old.with_name(old.name + suffix).unlink(missing_ok=True)
    new.replace(old)
    sync_folder(old.parent)


def _end_log(path: Path) -> None:
    """Have all of a catalog in one file: the log beside it would stay behind, or be taken for another's.

    Who reads it for a moment, as `webcrawler serve` does for each page, is waited for.
    """

    def end() -> None:
        with closing(sqlite3.connect(path, BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # does not wait by itself

    try:
        retry(
            end,
            seconds=clock.CATALOG_WAIT_SECONDS,
            pause=0.1,
            is_passing=_is_busy,
            on_failure=lambda error: logger.warning("waiting to replace the catalog: %s", error),
        )
    except sqlite3.OperationalError as error:
        raise Unavailable(
            f"The catalog cannot be replaced ({error}): end `webcrawler serve` if it runs, then try again."
        ) from error


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def insert_many(db: sqlite3.Connection, insert: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, thousands in one step.

    Each statement releases the GIL and has to get it back, which takes up to 5 ms while the crawl's thread is
    busy: beside it 23,000 rows took 15 s by executemany and 0.2 s this way (17 and 25 ms alone).
    """
    if not rows:
        return
    one = f"({','.join('?' * len(rows[0]))})"
    at_once = VARIABLES // len(rows[0])
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        db.execute(f"{insert} VALUES {','.join([one] * len(some))}", list(chain.from_iterable(some)))


def columns(rows: Iterable[tuple[int, ...]], columns: int = 1) -> IntArray:
    """Rows of integers as an array of shape (columns, rows)."""
    import numpy  # 0.2 s, which only what counts links should pay

    return numpy.fromiter(chain.from_iterable(rows), numpy.int64).reshape(-1, columns).T


def as_json(numbers: Iterable[int]) -> str:
    """An array for json_each."""
    return json.dumps([int(number) for number in numbers])


def newest_url(db: sqlite3.Connection) -> int:
    """The highest page number."""
    return int(db.execute("SELECT coalesce(max(number), 0) FROM urls").fetchone()[0])


def sweep(db: sqlite3.Connection, before: int) -> None:
    """Move on the URL ids that the hands have passed since that page number; about as many as came new.

    So the look-up of ids stays cheap to write, however large the catalog is: a row that comes to a random
    place of a large table costs a page of the file, and one of the log. Rows are collected at level 0, then
    at level 1, and only neighbours move on, several to a page. Run in the transaction that added them.

    Source: O'Neil et al. 1996, "The Log-Structured Merge-Tree"; the hand is LevelDB's `compact_pointer`.
    """
    for level in (1, 0):  # in this order, no row moves twice
        for first, last in passed(before, newest_url(db), ID_TURNS[level], IDS):
            run(db, "sweep-ids.sql", level=level, first=first - IDS // 2, last=last - IDS // 2)


def passed(start: int, end: int, turn: int, keys: int) -> Iterator[tuple[int, int]]:
    """The first and the last keys of the ranges that a hand passes between two times.

    Args:
        turn: it goes around all keys in this time; divides `keys`.
    """
    first = start % turn * (keys // turn)
    last = first + min(end - start, turn) * (keys // turn) - 1
    if last >= first:
        yield first, min(last, keys - 1)
    if last >= keys:
        yield 0, last - keys
