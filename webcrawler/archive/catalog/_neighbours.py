"""What of the neighbourhood of pages is fetched already, and what is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from webcrawler.archive.catalog._linkgraph import URL, as_json

_EXPLORED = "EXISTS (SELECT 1 FROM fetches f WHERE f.number = u.number AND f.found IS NOT NULL)"


def _first_fetch(number: str) -> str:
    return f"(SELECT min(f.fetched) FROM fetches f WHERE f.number = {number})"


class OpenLink(NamedTuple):
    """A link to a page that was not fetched yet."""

    source: int  # page number
    url: str  # canonical
    id: int
    anchor: str


class LeadingLink(NamedTuple):
    """A link that leads to a page."""

    source: int  # page number
    url: str  # the source's
    anchor: str
    rel: str


class Exploring:
    """The part of `Catalog` that knows where its pages lead to."""

    _db: sqlite3.Connection

    def explored(self, ids: Collection[int]) -> set[int]:
        """Those of these URL ids that were fetched, and of which it is known what stands there."""
        query = f"SELECT u.id FROM urls u WHERE u.id IN (SELECT value FROM json_each(?)) AND {_EXPLORED}"
        return {id for (id,) in self._db.execute(query, (as_json(list(ids)),))}

    def open_links(self, sources: Sequence[int]) -> list[OpenLink]:
        """The links of these pages that lead on, by ascending source: no nofollow, nothing explored."""
        query = f"""
            SELECT l.source, s.name || u.path, u.id, l.anchor
            FROM json_each(?) n CROSS JOIN links l ON l.source = n.value
            CROSS JOIN urls u ON u.number = l.target CROSS JOIN servers s ON s.number = u.server
            WHERE l.rel <> 'nofollow' AND NOT s.blocked AND NOT {_EXPLORED} ORDER BY l.source"""
        return list(map(OpenLink._make, self._db.execute(query, (as_json(sources),))))

    def leading_link(self, number: int) -> LeadingLink | None:
        """The link that may have led to a page: on the one fetched first, and before it; no nofollow."""
        query = f"""
            SELECT l.source, s.name || u.path, l.anchor, l.rel {URL} JOIN links l ON l.source = u.number
            WHERE l.target = ?1 AND l.source <> ?1 AND l.rel <> 'nofollow'
              AND {_first_fetch("l.source")} <= coalesce({_first_fetch("?1")}, 9e99)
            ORDER BY {_first_fetch("l.source")} LIMIT 1"""
        row = self._db.execute(query, (number,)).fetchone()
        return LeadingLink(*row) if row else None

    def redirecting(self, id: int) -> set[int]:
        """The ids of the URLs that redirect to this one, by any number of steps."""
        query = """
            WITH RECURSIVE alias (number) AS (
                SELECT number FROM urls WHERE id = ?
                UNION -- ends circles
                SELECT l.source FROM alias a CROSS JOIN links l ON l.target = a.number
                WHERE l.rel = 'redirect')
            SELECT u.id FROM alias a JOIN urls u ON u.number = a.number WHERE u.id <> ?"""
        return {found for (found,) in self._db.execute(query, (id, id))}

    def has_documents_beside(self, beginning: str) -> bool:
        """Is there a document of a server whose name does not begin so?"""
        query = f"""SELECT EXISTS (SELECT 1 {URL} JOIN documents d ON d.number = u.number
            WHERE substr(s.name, 1, length(?1)) <> ?1)"""
        return bool(self._db.execute(query, (beginning,)).fetchone()[0])

    def first_documents(self, limit: int) -> list[int]:
        """The page numbers of those that were known first."""
        query = "SELECT number FROM documents ORDER BY number LIMIT ?"
        return [number for (number,) in self._db.execute(query, (limit,))]

    def last_documents(self, limit: int) -> list[int]:
        """The page numbers of those that were fetched last, oldest first."""
        query = "SELECT number FROM (SELECT * FROM documents ORDER BY fetched DESC LIMIT ?) ORDER BY fetched"
        return [number for (number,) in self._db.execute(query, (limit,))]
