"""What a search needs to know of page numbers before it shows them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from webcrawler.archive.catalog._linkgraph import URL, as_json, columns
from webcrawler.urls import url_id

if TYPE_CHECKING:
    from webcrawler.archive.catalog._linkgraph import IntArray

_HIDDEN = """
    SELECT u.number FROM urls u JOIN servers s ON s.number = u.server
    WHERE u.number IN (SELECT value FROM json_each(?)) AND (
        s.blocked
        OR EXISTS (SELECT 1 FROM documents d
                   WHERE d.number = u.number AND (d.noindex OR d.duplicate_of IS NOT NULL))
        OR (SELECT f.found FROM fetches f WHERE f.number = u.number AND f.found IS NOT NULL
            ORDER BY f.token DESC, f.fetched DESC LIMIT 1) = 0)"""


class Showing:
    """The part of `Catalog` that tells what may be shown."""

    _db: sqlite3.Connection

    def hidden(self, numbers: Sequence[int]) -> set[int]:
        """Those that no search may show, though others link to them.

        No document stands there any more, it wants no index, repeats another, or its server is blocked.
        """
        return {number for (number,) in self._db.execute(_HIDDEN, (as_json(numbers),))}

    def servers_of(self, numbers: Sequence[int]) -> dict[int, str]:
        """The server of each page number that is known."""
        query = f"SELECT u.number, s.name {URL} WHERE u.number IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (as_json(numbers),)))

    def anchors_of(self, number: int, limit: int) -> list[str]:
        """What links to a page say, the most frequent first; looks at 10,000 links."""
        query = """SELECT anchor FROM (
                SELECT anchor FROM links WHERE target = ? AND rel = '' AND trim(anchor) <> '' LIMIT 10000)
            GROUP BY anchor ORDER BY count(*) DESC, anchor LIMIT ?"""
        return [anchor for (anchor,) in self._db.execute(query, (number, limit))]

    def linking_to(self, url: str) -> IntArray:
        """The page numbers that link or redirect to a canonical URL, ascending."""
        query = """SELECT l.source FROM links l JOIN urls u ON u.number = l.target
            WHERE u.id = ? ORDER BY l.source"""
        return columns(self._db.execute(query, (url_id(url),))).ravel()
