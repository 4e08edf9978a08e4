"""The file with the log of queries and clicks, and the thread that writes it beside the search page.

`queries.sql` describes its tables.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Thread
from time import monotonic
from typing import NamedTuple

from webcrawler import clock, pace

NAME = "queries.sqlite"  # in the data folder
MOST = 200_000  # answers that are kept: a file of 60 MB with 15 hits each
MAX_QUERY = 400  # characters
DAY_SECONDS = 86_400


class Shown(NamedTuple):
    """A result page that was shown to somebody."""

    id: int  # random
    day: int  # since 1970, UTC
    query: str
    total: int  # hits
    start: int  # hits before this page
    plain: bool  # nothing but the query was asked for, in order of relevance
    urls: tuple[str, ...]  # of its hits, in their order


class QueryLog:
    """For one thread.

    Args:
        days: how many are kept, today among them.
    Raises:
        OSError, sqlite3.Error: the file cannot be written.
    """

    def __init__(self, path: Path, days: int) -> None:
        self._days = days
        path.touch(mode=0o600)  # else SQLite makes it, readable for others
        self._db = sqlite3.connect(path, timeout=10)
        self._db.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        self._db.executescript((files("webcrawler.usage") / "queries.sql").read_text("utf-8"))

    def write(self, shown: Iterable[Shown], clicks: Iterable[tuple[int, int]], day: int) -> None:
        """Add result pages and clicks (id, rank) in one transaction; days that are over are deleted first.

        A hit counts once, however often it is opened. A click on what is not there, or no longer, is nothing.
        No day takes more than its share of MOST, so that a flood leaves room for the others.
        """
        with self._db:
            self._sweep(day - self._days + 1)
            (held,) = self._db.execute("SELECT count(*) FROM answers WHERE day = ?", (day,)).fetchone()
            for one in list(shown)[: max(0, MOST // self._days - held)]:
                self._add(one)
            self._db.executemany("UPDATE hits SET clicked = 1 WHERE answer = ? AND rank = ?", clicks)

    def close(self) -> None:
        self._db.close()

    def _add(self, one: Shown) -> None:
        row = (one.id, one.day, one.query, one.total, one.start, one.plain)
        added = self._db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row).rowcount
        if not added:
            return
        self._db.executemany(  # at random: numbers in order would tell which answers came after each other
            "INSERT OR IGNORE INTO pages (page, url) VALUES (random() & 0x7fffffffffffffff, ?)",
            ((url,) for url in one.urls),
        )
        self._db.executemany(
            """INSERT OR IGNORE INTO hits (answer, rank, page)
               SELECT ?, ?, page FROM pages WHERE url = ?""",
            ((one.id, one.start + place, url) for place, url in enumerate(one.urls, 1)),
        )

    def _sweep(self, first: int) -> None:
        """Delete the days before this one; on most calls there are none."""
        if self._db.execute("SELECT 1 FROM answers WHERE day < ? LIMIT 1", (first,)).fetchone():
            old = "SELECT id FROM answers WHERE day < ?"
            self._db.execute(f"DELETE FROM hits WHERE answer IN ({old})", (first,))
            self._db.execute("DELETE FROM answers WHERE day < ?", (first,))
            self._db.execute("DELETE FROM pages WHERE page NOT IN (SELECT page FROM hits)")


def new_id() -> int:
    """Nobody can guess it, and it says nothing."""
    return secrets.randbits(63)


def today() -> int:
    return int(clock.now() // DAY_SECONDS)


def one_line(query: str) -> str:
    return " ".join(query.split())[:MAX_QUERY]


def query_id(line: str) -> str:
    """The same on every machine, so that judgments of several can be merged."""
    return sha256(line.casefold().encode("utf-8", "surrogatepass")).hexdigest()[:12]


MAX_WAITING = 1_000  # result pages and clicks; with more, new ones are not logged

Click = tuple[int, int]  # id of a result page, rank of the hit that was opened
_log = logging.getLogger(__name__)


class Recorder:
    """Takes what is to be logged, and never waits.

    What was not written within a second is lost if the process is killed. A fault is logged once, and what
    could not be written is dropped.

    Args:
        days: how many are kept.
    """

    def __init__(self, crawl_dir: Path, days: int) -> None:
        self._path, self._days = crawl_dir / NAME, days
        self._waiting: Queue[Shown | Click | None] = Queue(MAX_WAITING)
        self._thread = Thread(target=self._run, name="query log", daemon=True)
        self._complained = ""

    def start(self) -> None:
        self._thread.start()

    def add(self, one: Shown | Click) -> None:
        with suppress(Full):
            self._waiting.put_nowait(one)

    def close(self) -> None:
        """Write what waits, and end; called once, after `start`."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        self._write([])  # days that are over go, also where nobody asks anything
        while some := self._next():
            self._write([one for one in some if one is not None])
            if some[-1] is None:
                break

    def _next(self) -> list[Shown | Click | None]:
        """Wait for something, and return it with what comes within a second; None is the end."""
        some = [self._waiting.get()]
        until = monotonic() + pace.QUERY_LOG_SECONDS
        with suppress(Empty):
            while some[-1] is not None:
                some.append(self._waiting.get(timeout=max(0.0, until - monotonic())))
        return some

    def _write(self, some: list[Shown | Click]) -> None:
        shown = [one for one in some if isinstance(one, Shown)]
        clicks = [one for one in some if not isinstance(one, Shown)]
        try:
            with closing(QueryLog(self._path, self._days)) as log:
                log.write(shown, clicks, today())
        except Exception as error:  # the thread must live: `close` waits for it
            if self._complained != str(error):
                self._complained = str(error)
                _log.error("queries are not logged: %s: %s", self._path, error)
