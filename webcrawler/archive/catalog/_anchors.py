"""What links say of the pages that they lead to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from webcrawler.archive.catalog._database import as_json, statements


class Named(NamedTuple):
    """A page that may be found by its anchor texts."""

    number: int
    url: str
    server: str
    server_number: int


class Anchors:
    """The anchor texts of pages. `Catalog.anchors` is one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._of, self._changed, self._findable = statements("anchors.sql")

    def changed(self, after: int, until: int) -> list[int]:
        """The page numbers whose anchor texts the changes between two seqs may have changed."""
        rows = self._db.execute(self._changed, {"after": after, "until": until})
        return [number for (number,) in rows]

    def findable(self, numbers: Sequence[int]) -> list[Named]:
        """Those that may be found by their anchors: no redirects, duplicates, noindex pages, what is gone."""
        return list(map(Named._make, self._db.execute(self._findable, {"numbers": as_json(numbers)})))

    def of(self, numbers: Sequence[int]) -> Iterator[tuple[int, str, int]]:
        """Page number, anchor text and the source's server number, page by page in ascending order.

        Links to a redirect or a duplicate count for the page it stands for. Without nofollow.
        """
        return self._db.execute(self._of, {"numbers": as_json(numbers)})

    def most_frequent(self, number: int, limit: int) -> list[str]:
        """What links to a page say most often; looks at 10,000 links."""
        query = """SELECT anchor FROM (
                SELECT anchor FROM links WHERE target = ? AND rel = '' AND trim(anchor) <> '' LIMIT 10000)
            GROUP BY anchor ORDER BY count(*) DESC, anchor LIMIT ?"""
        return [anchor for (anchor,) in self._db.execute(query, (number, limit))]
