"""URLs by their page numbers, and the history of their fetches."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from webcrawler.archive.catalog._database import SPELLED, URL, IntArray, as_json, columns, newest_url
from webcrawler.archive.catalog._rows import PastFetch, past_fetch
from webcrawler.urls import url_id

DOCUMENT = "EXISTS (SELECT 1 FROM documents d WHERE d.number = u.number)"
# The newest fetch that could tell found no document.
NONE_THERE = """(SELECT f.found FROM fetches f WHERE f.number = u.number AND f.found IS NOT NULL
    ORDER BY f.token DESC, f.fetched DESC LIMIT 1) IS 0"""
# A search has to fetch again what only other searches have found: those finds are not for it to see.
EXPLORED = f"""({NONE_THERE} OR {DOCUMENT}
    AND (NOT EXISTS (SELECT 1 FROM finds f WHERE f.number = u.number)
         OR EXISTS (SELECT 1 FROM finds f WHERE f.number = u.number AND f.job = :job)))"""
HIDDEN = f"""
    SELECT u.number FROM urls u JOIN servers s ON s.number = u.server
    WHERE u.number IN (SELECT value FROM json_each(?)) AND (
        s.blocked OR u.removed
        OR EXISTS (SELECT 1 FROM documents d
                   WHERE d.number = u.number AND (d.noindex OR d.duplicate_of IS NOT NULL))
        OR {NONE_THERE}
        OR NOT {DOCUMENT} AND NOT EXISTS (SELECT 1 FROM inlinks WHERE inlinks MATCH u.number))"""


class Outcome(NamedTuple):
    """The newest fetch of a URL."""

    number: int
    id: int
    url: str
    fetched: float
    state: str
    reason: str
    retry: bool
    tries: int  # failed fetches before this one
    document: str  # "document", "duplicate" or "noindex" if one is there, whatever the fetch said; else ""
    is_near: bool  # nearly repeats an older document
    token: int  # of the lease; 0 where that is not known

    @property
    def repeats(self) -> bool:
        """Were its bytes known when it was fetched, whichever page is the original by now, or nearly?"""
        told = self.reason if self.reason in ("document", "duplicate") else self.document
        return told == "duplicate" or bool(self.is_near)


class Urls:
    """All URLs that were fetched or linked to. `Catalog.urls` is one.

    Page numbers are dense, begin with 1, and never change.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def all(self) -> Iterator[tuple[int, str]]:
        """Every page number with its canonical URL, in ascending order."""
        return self._db.execute(f"SELECT u.number, s.name || u.path {URL} ORDER BY u.number")

    def of(self, numbers: Sequence[int]) -> dict[int, str]:
        """Canonical URLs by page number."""
        query = f"SELECT u.number, s.name || u.path {URL} WHERE u.number IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (as_json(numbers),)))

    def spellings(self, numbers: Sequence[int]) -> dict[int, str]:
        """How those are fetched that are not fetched by their canonical URLs, by page number."""
        query = """
            SELECT number, spelling FROM urls
            WHERE number IN (SELECT value FROM json_each(?)) AND spelling IS NOT NULL"""
        return dict(self._db.execute(query, (as_json(numbers),)))

    def blocked_servers(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM servers WHERE blocked ORDER BY name")]

    def count(self) -> int:
        """How many there are: the highest page number."""
        return newest_url(self._db)

    def ids(self, after: int = 0) -> IntArray:
        """The URL ids of all page numbers after that one, in their order."""
        rows = self._db.execute("SELECT id FROM urls WHERE number > ? ORDER BY number", (after,))
        return columns(rows).ravel()

    def numbers(self, ids: Collection[int]) -> list[int]:
        """The page numbers of those of these URL ids that are known."""
        query = "SELECT number FROM ids WHERE id IN (SELECT value FROM json_each(?))"
        return [number for (number,) in self._db.execute(query, (as_json(ids),))]

    def unexplored(self) -> IntArray:
        """The page numbers that were linked to and never fetched, ascending; reads all URLs."""
        query = f"""
            SELECT u.number {URL} WHERE NOT s.blocked AND NOT u.removed
              AND NOT EXISTS (SELECT 1 FROM fetches f WHERE f.number = u.number) ORDER BY u.number"""
        return columns(self._db.execute(query)).ravel()

    def servers(self) -> tuple[dict[int, str], IntArray]:
        """The servers' names by their numbers; the server's number of each page number, from 1 on."""
        names = dict(self._db.execute("SELECT number, name FROM servers"))
        return names, columns(self._db.execute("SELECT server FROM urls ORDER BY number")).ravel()

    def servers_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """The server of each page number that is known."""
        query = f"SELECT u.number, s.name {URL} WHERE u.number IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (as_json(numbers),)))

    def hidden(self, numbers: Sequence[int]) -> set[int]:
        """Those that no search may show, though others link to them.

        The document is gone or removed, asks not to be indexed, repeats another, or its server is blocked; or
        it is no document, and nothing links to it any more.
        """
        return {number for (number,) in self._db.execute(HIDDEN, (as_json(numbers),))}


class Fetches:
    """The history of fetches, failures included. `Catalog.fetches` is one.

    Args:
        job: as for `Catalog`.
    """

    def __init__(self, db: sqlite3.Connection, job: str = "") -> None:
        self._db, self._job = db, job

    def last(self, url: str) -> PastFetch | None:
        """The newest fetch of a canonical URL."""
        query = """
            SELECT f.fetched, f.status, f.state, f.reason, f.retry, f.tries, f.found, f.seconds,
                   coalesce(f.error, ''), f.file, f."offset"
            FROM fetches f WHERE f.number = (SELECT number FROM ids WHERE id = ?)
            ORDER BY f.token DESC, f.fetched DESC LIMIT 1"""
        row = self._db.execute(query, (url_id(url),)).fetchone()
        return past_fetch(row) if row else None

    def failing(self, urls: Sequence[str]) -> list[tuple[int, str, str, str]]:
        """Which of these canonical URLs, and of those that they redirect to, have failed.

        No documents: what is known of these is kept.

        Returns:
            The place of the first among `urls`; URL, spelling and outcome of what has failed.
        """
        query = f"""
            WITH RECURSIVE way (place, number, hops) AS (
                SELECT n.key, i.number, 0 FROM json_each(?) n CROSS JOIN ids i ON i.id = n.value
                UNION SELECT w.place, l.target, hops + 1 FROM way w CROSS JOIN links l ON l.source = w.number
                WHERE l.rel = 'redirect' AND hops < 10)
            SELECT w.place, s.name || u.path, {SPELLED}, rtrim(f.state || '/' || f.reason, '/')
            FROM (SELECT DISTINCT place, number FROM way) w CROSS JOIN urls u ON u.number = w.number
            CROSS JOIN servers s ON s.number = u.server
            CROSS JOIN fetches f ON f.number = u.number AND f.fetched = (
                SELECT fetched FROM fetches WHERE number = u.number ORDER BY token DESC, fetched DESC LIMIT 1)
            WHERE f.state <> 'done' AND NOT {DOCUMENT}"""
        return list(self._db.execute(query, (as_json(map(url_id, urls)),)))

    def made(self, ids: Collection[int]) -> set[tuple[int, float]]:
        """When these URLs were fetched: pairs of a URL id and a time."""
        query = """SELECT u.id, f.fetched FROM ids u CROSS JOIN fetches f ON f.number = u.number
            WHERE u.id IN (SELECT value FROM json_each(?))"""
        return set(self._db.execute(query, (as_json(ids),)))

    def lacks(self, leases: Iterable[tuple[int, int]]) -> bool:
        """Is the fetch of one of these missing: pairs of a URL id and a token?"""
        query = (
            "SELECT 1 FROM ids u CROSS JOIN fetches f ON f.number = u.number WHERE u.id = ? AND f.token = ?"
        )
        return not all(self._db.execute(query, one).fetchone() for one in leases)

    def outcomes_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """What each of these pages that was fetched was decided as: "done/document", "failed/timeout".

        A check that found nothing new, or could not tell, has not decided it anew.
        """
        query = """
            SELECT n.value, (SELECT rtrim(f.state || '/' || f.reason, '/') FROM fetches f
                             WHERE f.number = n.value AND NOT f.retry
                               AND (f.since IS NULL OR f.found AND f.reason <> 'not-modified' OR f.found = 0)
                             ORDER BY f.token DESC, f.fetched DESC LIMIT 1) AS outcome
            FROM json_each(?) n WHERE outcome IS NOT NULL"""
        return dict(self._db.execute(query, (as_json(numbers),)))

    def order(self) -> array[int]:
        """The page numbers of all URLs that were fetched, oldest first by their newest fetches."""
        query = "SELECT number FROM fetches GROUP BY number ORDER BY max(coalesce(token, 0)), max(fetched)"
        return array("q", (number for (number,) in self._db.execute(query)))

    def newest(self, numbers: Sequence[int]) -> list[Outcome]:
        """What came of these URLs, in this order.

        Left out is what was not fetched, what nothing but a search of the web brought, and what was taken out
        of the catalog, but not by blocking its server.
        """
        query = """
            SELECT u.number, u.id, s.name || u.path, f.fetched, f.state, f.reason, f.retry, f.tries,
                   CASE WHEN d.number IS NULL THEN '' WHEN d.duplicate_of IS NOT NULL THEN 'duplicate'
                        WHEN d.noindex THEN 'noindex' ELSE 'document' END,
                   d.near_duplicate_of IS NOT NULL, coalesce(f.token, 0)
            FROM json_each(?) n CROSS JOIN urls u ON u.number = n.value
            CROSS JOIN servers s ON s.number = u.server CROSS JOIN fetches f ON f.number = u.number
            LEFT JOIN documents d ON d.number = u.number
            WHERE f.fetched = (SELECT fetched FROM fetches WHERE number = u.number
                               ORDER BY token DESC, fetched DESC LIMIT 1)
              AND (f.found IS NOT 1 OR d.number IS NOT NULL OR s.blocked)
              AND u.number NOT IN (SELECT number FROM finds)
            ORDER BY n.key"""
        return list(map(Outcome._make, self._db.execute(query, (as_json(numbers),))))

    def explored(self, ids: Collection[int]) -> set[int]:
        """Those of these URL ids that are known to have a document, or none; finds of others are unknown."""
        query = f"SELECT u.id FROM ids u WHERE u.id IN (SELECT value FROM json_each(:ids)) AND {EXPLORED}"
        rows = self._db.execute(query, {"ids": as_json(ids), "job": self._job})
        return {id for (id,) in rows}

    def outcomes(self) -> dict[str, int]:
        """How many ended in each "state/reason", retries left out; reads the whole history."""
        query = "SELECT state || '/' || reason, count(*) FROM fetches WHERE NOT retry GROUP BY 1 ORDER BY 1"
        return dict(self._db.execute(query))

    def documents_since(self, when: float) -> int:
        """How many documents were fetched since a time; of the newest 5,000 changes, which come quickly."""
        query = """
            SELECT count(DISTINCT d.number) FROM (SELECT number FROM changes ORDER BY seq DESC LIMIT 5000) c
            JOIN documents d ON d.number = c.number WHERE d.fetched >= ?"""
        return int(self._db.execute(query, (when,)).fetchone()[0])
