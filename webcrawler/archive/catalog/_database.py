"""The SQLite file: opening, migrations, transactions, many rows in one step."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webcrawler.errors import BadInput, Unavailable

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    IntArray = NDArray[numpy.int64]

URL = "FROM urls u JOIN servers s ON s.number = u.server"  # s.name || u.path is the canonical URL
BUSY_SECONDS = 60.0  # a batch of another process takes a fraction of a second
VARIABLES = 8000  # of one statement; SQLite's own limit is 32,766
CACHE_KIB = 65536
OPENING_TRIES = 100  # a tenth of a second each


def statements(name: str) -> list[str]:
    """The statements of sql/`name`; each ends with a semicolon at the end of a line."""
    text = files("webcrawler.archive.catalog").joinpath("sql", name).read_text(encoding="utf-8")
    return [statement for statement in text.split(";\n") if statement.strip()]


def connect(path: Path, readonly: bool) -> sqlite3.Connection:
    """Open a catalog with the newest tables; not for two threads at the same time.

    Raises:
        BadInput: it is missing or older than this program (readonly), no catalog, newer than this program, or
            cannot be written.
    """
    try:
        if not readonly:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise BadInput(f"There is no catalog at {path}: crawl something first.")
        return _patiently(lambda: _prepared(path, readonly))
    except (sqlite3.DatabaseError, OSError) as error:
        raise BadInput(
            f"The catalog {path} cannot be {'read' if readonly else 'written'}: {error}."
        ) from error


def _patiently(step: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
    """Again while another process opens or recovers the file: for that SQLite does not wait by itself."""
    for left in reversed(range(OPENING_TRIES)):
        try:
            return step()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or not left:
                raise
            time.sleep(0.1)
    raise AssertionError("unreachable")


def _prepared(path: Path, readonly: bool) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    db = sqlite3.connect(uri, BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True)
    try:
        for pragma in (f"cache_size = -{CACHE_KIB}", "temp_store = MEMORY"):
            db.execute(f"PRAGMA {pragma}")
        if not readonly:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
        _migrate(db, path, readonly)
    except BaseException:
        db.close()
        raise
    return db


def _migrate(db: sqlite3.Connection, path: Path, readonly: bool) -> None:
    folder = files("webcrawler.archive.catalog").joinpath("sql")
    migrations = sorted(file.name for file in folder.iterdir() if file.name.startswith("migration-"))
    if _version(db) < len(migrations) and not readonly:
        with transaction(db):  # of several processes that open a new file one does it
            if not _version(db) and db.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise BadInput(f"{path} is no catalog: CRAWL_DIR names the folder that has one.")
            for number, name in enumerate(migrations[_version(db) :], _version(db) + 1):
                for statement in statements(name):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {number}")
    if 0 < _version(db) < len(migrations):
        raise BadInput(
            f"The catalog {path} was made by an older version: `scrapy reindex` brings it up to date."
        )
    if _version(db) > len(migrations):
        raise BadInput(f"The catalog {path} was made by a newer version of this program: use that one.")
    if not _version(db):
        raise BadInput(f"{path} is no catalog: CRAWL_DIR names the folder that has one.")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, one writer at a time.

    Raises:
        Unavailable: another process holds the lock for too long, or the disk is full or broken.
    """
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("COMMIT")
    except BaseException as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.OperationalError):
            raise Unavailable(f"The catalog cannot be written now: {error}.") from error
        raise


def insert_many(db: sqlite3.Connection, insert: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, thousands in one step.

    Each step gives the GIL away and has to win it back, up to 5 ms when the crawl's thread is busy:
    23,000 rows took 15 s by executemany and 0.2 s this way beside a busy thread (17 and 25 ms alone).
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


def as_json(numbers: Sequence[int]) -> str:
    """An array for json_each."""
    return json.dumps([int(number) for number in numbers])
