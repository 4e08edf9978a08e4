"""What do people ask, and what do they open? A log of the search page that does not say who they were.

`QueryLog` is its file, whose tables `queries.sql` describes, and `figures` sums it up. Off unless
QUERY_LOG_DAYS is set.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler import clock
from webcrawler.errors import BadInput

NAME = "queries.sqlite"  # in the data folder
MOST = 200_000  # answers that are kept: a file of 60 MB with 15 hits each
MAX_QUERY = 400  # characters
DAY_SECONDS = 86_400
RANKS = 15  # of a result page


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
        self._db.executescript((files("webcrawler") / "queries.sql").read_text("utf-8"))

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


def figures(crawl_dir: Path, most: int) -> dict[str, Any]:
    """Sum up the log; a query counts once, however many of its result pages were looked at.

    Args:
        most: how many queries are listed, of those asked most and of those that found nothing.
    Raises:
        BadInput: there is no log.
    """
    path = crawl_dir / NAME
    if not path.is_file():
        raise BadInput(
            f"no query was logged in {crawl_dir} yet: `webcrawler serve -s QUERY_LOG_DAYS=30` logs them"
        )
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        days = db.execute("SELECT day, count(*) FROM answers WHERE start = 0 GROUP BY day").fetchall()
        opened = dict(db.execute(_BY_DAY))
        asked = _queries(db.execute(_BY_QUERY))
        ranks = db.execute(_BY_RANK, (RANKS,)).fetchall()
        (clicked,) = db.execute(_CLICKED).fetchone()
    number = sum(times for _, times in days)
    words = sum(len(query.split()) * times for query, (times, _, _) in asked.items())
    nothing = {query: one for query, one in asked.items() if one[1]}
    span = days[-1][0] - days[0][0] + 1 if days else 0
    return {
        "queries": number,
        "days": span,
        "a_day": number / span if span else 0.0,
        "words": words / number if number else 0.0,
        "clicked": clicked / number if number else 0.0,
        "nothing_found": sum(one[1] for one in asked.values()) / number if number else 0.0,
        "by_day": [{"day": _date(day), "queries": n, "clicks": opened.get(day, 0)} for day, n in days],
        "asked": _listed(asked, 0, most),
        "found_nothing": _listed(nothing, 1, most),
        "ranks": [{"rank": rank, "shown": shown, "clicks": clicks} for rank, shown, clicks in ranks],
    }


_BY_DAY = """
    SELECT a.day, sum(h.clicked) FROM answers a JOIN hits h ON h.answer = a.id GROUP BY a.day"""
_BY_QUERY = """
    SELECT query, sum(start = 0), sum(start = 0 AND total = 0),
           sum((SELECT coalesce(sum(clicked), 0) FROM hits WHERE answer = id))
    FROM answers GROUP BY query"""
_BY_RANK = """
    SELECT rank, count(*), sum(clicked) FROM hits WHERE rank <= ? GROUP BY rank ORDER BY rank"""
_CLICKED = """
    SELECT count(*) FROM answers a
    WHERE start = 0 AND EXISTS (SELECT 1 FROM hits WHERE answer = a.id AND clicked)"""

_Counts = tuple[int, int, int]  # how often it was asked, found nothing, and led to a click


def _queries(rows: Iterable[tuple[str, int, int, int]]) -> dict[str, _Counts]:
    """Counts by query, whether in capitals or not; spelled as most people did."""
    times, spelled = dict[str, list[int]](), dict[str, Counter[str]]()
    for query, *counts in rows:
        key = query.casefold()
        times[key] = [a + b for a, b in zip(times.get(key, [0, 0, 0]), counts, strict=True)]
        spelled.setdefault(key, Counter())[query] += counts[0]
    return {spelled[key].most_common(1)[0][0]: (a, b, c) for key, (a, b, c) in times.items()}


def _listed(queries: dict[str, _Counts], by: int, most: int) -> list[dict[str, Any]]:
    """Those with most of what stands at `by`; of equal ones by the alphabet."""
    order = sorted(queries.items(), key=lambda one: (-one[1][by], one[0]))[:most]
    return [{"query": query, "times": one[by], "clicks": one[2]} for query, one in order]


def _date(day: int) -> str:
    return datetime.fromtimestamp(day * DAY_SECONDS, UTC).date().isoformat()
