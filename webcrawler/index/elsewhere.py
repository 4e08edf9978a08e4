"""What other folders say of this folder's URLs, as the jobs over all of them found: one SQLite file.

It is a view that `webcrawler.dataset.results` renews, and the index of anchors follows as it follows the
catalog: by a number that only grows, committed with the anchors.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler import clock
from webcrawler.errors import Unavailable

NAME = "elsewhere.sqlite"
VERSION = 1
SCHEMA = """
    CREATE TABLE anchors (id INTEGER, anchor TEXT, others INTEGER, own INTEGER, PRIMARY KEY (id, anchor))
        WITHOUT ROWID;
    CREATE TABLE hidden (id INTEGER PRIMARY KEY);
    CREATE TABLE duplicates (id INTEGER PRIMARY KEY, original INTEGER, kind TEXT);
    CREATE TABLE changed (id INTEGER PRIMARY KEY, seq INTEGER);
    CREATE TABLE taken (seq INTEGER, run INTEGER);
    INSERT INTO taken VALUES (0, 0);"""
COLUMNS = {"anchors": 4, "hidden": 1, "duplicates": 3}
# Rows that only one of two tables has: (SELECT … EXCEPT …) both ways.
DIFFERENT = """SELECT id FROM (SELECT * FROM {0} EXCEPT SELECT * FROM new_{0})
    UNION SELECT id FROM (SELECT * FROM new_{0} EXCEPT SELECT * FROM {0})"""


class Said(NamedTuple):
    """What links in other folders call a URL, beyond the links that this folder knows."""

    anchor: str
    others: int  # how many more links of other servers
    own: bool  # does the URL's own server say so, too?


class Elsewhere:
    """What the last run of the jobs has told this folder; without one, nothing."""

    def __init__(self, crawl_dir: Path) -> None:
        self._file = crawl_dir / NAME

    @property
    def seq(self) -> int:
        """The number that grows; 0: nothing was taken."""
        return int(self._taken()[0])

    @property
    def run(self) -> int:
        """The run that was taken last; 0: none."""
        return int(self._taken()[1])

    def changed(self, after: int, until: int) -> list[int]:
        """Return the ids of URLs of which something else is said since then."""
        return [id for (id,) in self._read("SELECT id FROM changed WHERE seq > ? AND seq <= ?", after, until)]

    def anchors(self, ids: Iterable[int]) -> dict[int, list[Said]]:
        found = defaultdict[int, list[Said]](list)
        query = "SELECT id, anchor, others, own FROM anchors WHERE id IN (SELECT value FROM json_each(?))"
        for id, anchor, others, own in self._read(query, _json(ids)):
            found[id].append(Said(anchor, others, bool(own)))
        return found

    def hidden(self, ids: Iterable[int]) -> set[int]:
        """Return those that are redirects, duplicates, gone or not for searches, as others know."""
        query = "SELECT id FROM hidden WHERE id IN (SELECT value FROM json_each(?))"
        return {id for (id,) in self._read(query, _json(ids))}

    def originals(self, ids: Iterable[int], kind: str = "exact") -> dict[int, int]:
        """Return the ids of pages that these repeat, to the byte ("exact") or nearly ("near")."""
        query = """SELECT id, original FROM duplicates
            WHERE kind = ? AND id IN (SELECT value FROM json_each(?))"""
        return dict(self._read(query, kind, _json(ids)))

    def take(self, run: int, tables: Mapping[str, Iterable[Sequence[object]]]) -> None:
        """Replace all by what this run says, in one step.

        Args:
            tables: rows of `anchors`, `hidden` and `duplicates`.
        """
        with closing(self._open()) as db, db:
            db.execute("BEGIN IMMEDIATE")
            (last,) = db.execute("SELECT seq FROM taken").fetchone()
            seq = max(last + 1, int(clock.now()))  # grows also where the file was lost
            for name, rows in tables.items():
                db.execute(f"CREATE TEMP TABLE new_{name} AS SELECT * FROM {name} LIMIT 0")
                marks = ", ".join("?" * COLUMNS[name])
                db.executemany(f"INSERT INTO new_{name} VALUES ({marks})", rows)
                different = DIFFERENT.format(name)
                db.execute(f"INSERT OR REPLACE INTO changed SELECT id, ? FROM ({different})", (seq,))
                db.execute(f"DELETE FROM {name}")
                db.execute(f"INSERT OR REPLACE INTO {name} SELECT * FROM new_{name}")
                db.execute(f"DROP TABLE new_{name}")
            db.execute("UPDATE taken SET seq = ?, run = ?", (seq, run))

    def _taken(self) -> Any:
        return next(iter(self._read("SELECT seq, run FROM taken")), (0, 0))

    def _open(self) -> sqlite3.Connection:
        """Open the file for writing; a damaged one, or one of another version, is made anew."""
        with suppress(sqlite3.DatabaseError):
            return self._opened()
        self._file.unlink(missing_ok=True)
        return self._opened()

    def _opened(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._file, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")  # who reads does not wait for who takes a run
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                raise sqlite3.DatabaseError("another version")
        except BaseException:
            db.close()
            raise
        return db

    def _read(self, query: str, *values: object) -> list[Any]:
        if self._file.exists():
            try:
                with closing(self._opened()) as db:
                    return db.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:  # locked, or the disk: not nothing
                raise Unavailable(f"cannot read {self._file}: {error}") from error
            except sqlite3.DatabaseError:
                return []  # damaged: taken anew
        return []


def _json(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"
