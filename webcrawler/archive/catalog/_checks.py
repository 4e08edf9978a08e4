"""Checks of documents: what they told, and what of the catalog is due again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from webcrawler.archive.catalog._database import COLLECTED, SPELLED, URL, as_json
from webcrawler.archive.catalog._rows import GONE, REFUSING
from webcrawler.clock import now
from webcrawler.urls import url_id

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

DAY_SECONDS = 86400.0
# After which what is gone or has failed is asked for once more, each time. Runs with `refresh=once` do not
# wait for the first three; for the others a URL that was not found waits twice as long.
TRIES_DAYS = (1, 7, 30, 60, 120, 240)
FIRST = 3
_WAITS = " ".join(f"WHEN {tries} THEN {days * DAY_SECONDS}" for tries, days in enumerate(TRIES_DAYS))
_GONE = f"""
    SELECT g.number, g.since, g.tries, f.fetched, g.since + CASE g.tries {_WAITS} END
           * CASE WHEN g.tries >= {FIRST} AND f.found = 0 THEN 2 ELSE 1 END AS due
    FROM gone g JOIN fetches f ON f.number = g.number AND f.fetched = (
        SELECT fetched FROM fetches WHERE number = g.number AND NOT retry
        ORDER BY token DESC, fetched DESC LIMIT 1)"""

OUTCOME = f"""CASE WHEN changed AND NOT found THEN 'gone' WHEN changed THEN 'changed'
    WHEN changed IS NULL AND reason IN {(*sorted(GONE),)}
        AND status NOT IN {(*sorted(REFUSING),)} THEN 'missing'
    WHEN changed IS NULL THEN 'failed' WHEN reason = 'not-modified' THEN reason ELSE 'unchanged' END"""


class Told(NamedTuple):
    """Fetches in the order of their seq, as arrays; times are seconds since 1970."""

    seq: NDArray[numpy.int64]
    number: NDArray[numpy.int64]
    server: NDArray[numpy.int64]
    fetched: NDArray[numpy.float64]
    since: NDArray[numpy.float64]  # when the document was known to be current before; NaN: it was none
    changed: NDArray[numpy.int8]  # 1, 0, or -1 where the fetch could not tell or was the first
    found: NDArray[numpy.int8]  # 1 a document stands there, 0 none does, -1 the fetch could not tell
    audit: NDArray[numpy.bool_]  # was it drawn at random?
    not_modified: NDArray[numpy.bool_]  # was the answer 304?
    conditional: NDArray[numpy.int8]  # 1 with validators, 0 without though there were any, -1 there were none


class Due(NamedTuple):
    """A URL that is decided, and what a check of it needs."""

    number: int
    server: int
    url: str  # canonical
    spelling: str  # as it is fetched
    checked: float  # seconds since 1970; 0 of what is no document
    was: str  # as the frontier counts it: "done/document"
    etag: str
    last_modified: str


class Known(NamedTuple):
    """Until when a document is known to be as it is."""

    checked: float  # last known to be current
    changed: float  # when its text or links last changed; 0: not known
    missing_since: float  # since when fetches say that nothing is there; 0: they do not
    failing_since: float  # since when fetches fail; 0: they do not


class Checks:
    """The history as estimates of change need it. `Catalog.checks` is one.

    Finds of searches of the web are not checked.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def last_seq(self) -> int:
        """The newest fetch, 0 where there is none."""
        query = "SELECT coalesce(max(seq), 0) FROM fetches WHERE seq IS NOT NULL"  # only so by the index
        return int(self._db.execute(query).fetchone()[0])

    def after(self, seq: int, limit: int) -> Told:
        """The next fetches after one seq, of which no more tries follow."""
        import numpy  # 0.2 s, which a crawl should not pay

        rows = self._db.execute(
            """
            SELECT f.seq, f.number, u.server, f.fetched, f.since, coalesce(f.changed, -1),
                   coalesce(f.found, -1), f.audit, f.reason = 'not-modified',
                   coalesce(f.conditional, -1)
            FROM fetches f JOIN urls u ON u.number = f.number
            WHERE f.seq > ? AND NOT f.retry ORDER BY f.seq LIMIT ?""",
            (seq, limit),
        )
        columns = list(zip(*rows, strict=True)) or [()] * len(Told._fields)
        types = (*[numpy.int64] * 3, *[numpy.float64] * 2, numpy.int8, numpy.int8, bool, bool, numpy.int8)
        return Told._make(map(numpy.array, columns, types))

    def documents(self) -> NDArray[numpy.void]:
        """Every document by ascending page number: `number`, `server` and `checked`, its last check."""
        import numpy

        query = f"""
            SELECT d.number, u.server, coalesce(d.checked, d.fetched)
            FROM documents d JOIN urls u USING (number) WHERE {COLLECTED} ORDER BY d.number"""
        columns = [("number", numpy.int64), ("server", numpy.int64), ("checked", numpy.float64)]
        return numpy.fromiter(self._db.execute(query), columns)

    def unprobed(self, servers: Sequence[int]) -> dict[int, str]:
        """Those of these servers, by number, not asked for a path that cannot exist yet, with names."""
        query = """
            SELECT number, name FROM servers
            WHERE number IN (SELECT value FROM json_each(?)) AND probed IS NULL AND NOT blocked"""
        return dict(self._db.execute(query, (as_json(servers),)))

    def at_risk(self) -> list[tuple[int, float]]:
        """Documents whose last fetch found nothing or failed, and since when that is so."""
        query = f"""
            SELECT number, min(coalesce(missing_since, 9e99), coalesce(failing_since, 9e99)) FROM documents
            WHERE (missing_since IS NOT NULL OR failing_since IS NOT NULL) AND {COLLECTED}"""
        return list(self._db.execute(query))

    def by_day(self) -> dict[tuple[int, str], int]:
        """How many checks of each day, counted since 1970, came to each outcome; reads the whole history.

        The outcomes are changed, unchanged, not-modified (304), missing (nothing was there, and the document
        stays until that is confirmed), gone (it is confirmed), and failed: it could not tell.
        """
        query = f"""
            SELECT CAST(min(fetched, ?) / 86400 AS INTEGER), {OUTCOME}, count(*)
            FROM fetches WHERE since IS NOT NULL AND NOT retry GROUP BY 1, 2"""
        return {(day, outcome): number for day, outcome, number in self._db.execute(query, (now(),))}

    def known(self, numbers: Sequence[int]) -> dict[int, Known]:
        """Of those that are documents now, by page number."""
        query = """
            SELECT number, coalesce(checked, fetched), coalesce(changed, 0), coalesce(missing_since, 0),
                   coalesce(failing_since, 0)
            FROM documents WHERE number IN (SELECT value FROM json_each(?))"""
        return {number: Known(*row) for number, *row in self._db.execute(query, (as_json(numbers),))}

    def changed_after(self, seq: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64]]:
        """Page numbers of the documents fetched after one seq, 0: of all; and when each last changed."""
        import numpy  # as above

        fetched = "WHERE number IN (SELECT number FROM fetches WHERE seq > ?)" if seq else ""
        query = f"SELECT number, coalesce(changed, 0) FROM documents {fetched}"
        rows = list(self._db.execute(query, (seq,) if seq else ()))
        numbers, times = zip(*rows, strict=True) if rows else ((), ())
        return numpy.array(numbers, numpy.int64), numpy.array(times, numpy.float64)

    def of(self, url: str, limit: int) -> list[tuple[float, str]]:
        """The last checks of a canonical URL, the newest first: when, and what it found, as in `by_day`."""
        query = f"""
            SELECT fetched, {OUTCOME} FROM fetches WHERE number = (SELECT number FROM ids WHERE id = ?)
            AND since IS NOT NULL AND NOT retry ORDER BY fetched DESC LIMIT ?"""
        return list(self._db.execute(query, (url_id(url), limit)))

    def gone_since(self, url: str) -> tuple[float | None, float | None]:
        """When a canonical URL failed, or its document was removed by a check, and when it is next asked for.

        None: it did not, or never.
        """
        query = f"SELECT since, due FROM ({_GONE}) WHERE number = (SELECT number FROM ids WHERE id = ?)"
        since, due = self._db.execute(query, (url_id(url),)).fetchone() or (None, None)
        return since, due

    def audits(self, since: float) -> list[tuple[int, int]]:
        """The documents drawn at random since then: page number, and 1 where one had changed, else 0."""
        query = "SELECT number, changed FROM fetches WHERE audit AND changed IS NOT NULL AND fetched >= ?"
        return list(self._db.execute(query, (since,)))

    def left(self, since: float) -> Iterator[str]:
        """URLs of documents not fetched since then; looks at the history of every document."""
        query = f"""
            SELECT s.name || u.path {URL} JOIN documents d ON d.number = u.number
            WHERE d.{COLLECTED} AND NOT EXISTS (
                SELECT 1 FROM fetches f
                WHERE f.number = d.number AND f.fetched BETWEEN ? AND ? AND NOT f.retry)"""
        return (url for (url,) in self._db.execute(query, (since, now())))

    def count_unchecked(self) -> int:
        """How many documents have not been fetched a second time; looks at the history of every document."""
        query = f"""
            SELECT count(*) FROM documents d WHERE {COLLECTED} AND NOT EXISTS (
                SELECT 1 FROM fetches f WHERE f.number = d.number AND f.since IS NOT NULL)"""
        return int(self._db.execute(query).fetchone()[0])

    def gone(self, now: float, limit: int, since: float = 0.0) -> list[int]:
        """URLs that failed, or whose document was removed, and that are due once more, the oldest first.

        Args:
            since: what has its first tries left is due, too, if it was not fetched since then.
        """
        query = f"""
            SELECT number FROM ({_GONE})
            WHERE due IS NOT NULL
                AND (due <= ?1 OR since > ?1 OR (tries < {FIRST} AND fetched NOT BETWEEN ?2 AND ?1))
            ORDER BY since LIMIT ?3"""
        return [number for (number,) in self._db.execute(query, (now, since, limit))]

    def failing_unlinked(self, limit: int) -> list[tuple[str, str]]:
        """URLs that have failed, of which no page and no sitemap tells, with the reason; the oldest first."""
        query = f"""
            SELECT s.name || u.path, f.reason
            FROM (SELECT number, fetched FROM ({_GONE}) WHERE tries < 99 ORDER BY since LIMIT 1000)
            JOIN fetches f USING (number, fetched) JOIN urls u USING (number)
            JOIN servers s ON s.number = u.server
            WHERE NOT EXISTS (SELECT 1 FROM inlinks WHERE inlinks MATCH u.number)
              AND u.number NOT IN (SELECT number FROM signs) AND u.{COLLECTED} LIMIT ?"""
        return list(self._db.execute(query, (limit,)))

    def due(self, numbers: Sequence[int], documents: bool = True) -> list[Due]:
        """What checks of these pages need, in this order.

        Args:
            documents: True leaves out what is no document now, False what is one or was never decided.
        """
        query = f"""
            SELECT u.number, u.server, s.name || u.path, {SPELLED}, coalesce(d.checked, d.fetched, 0.0),
                   CASE WHEN d.noindex THEN 'done/noindex' ELSE (
                       SELECT rtrim(f.state || '/' || f.reason, '/') FROM fetches f
                       WHERE f.number = u.number AND NOT f.retry
                         AND (d.number IS NULL OR f.reason IN ('document', 'duplicate'))
                       ORDER BY f.token DESC, f.fetched DESC LIMIT 1) END AS was,
                   CASE WHEN d.file IS NOT NULL THEN coalesce(d.etag, '') ELSE '' END,
                   CASE WHEN d.file IS NOT NULL THEN coalesce(d.last_modified, '') ELSE '' END
            {URL} JOIN json_each(?) n ON n.value = u.number LEFT JOIN documents d ON d.number = u.number
            WHERE was IS NOT NULL AND (d.number IS NOT NULL) = ? AND u.{COLLECTED} ORDER BY n.key"""
        return list(map(Due._make, self._db.execute(query, (as_json(numbers), documents))))
