"""What pages are called by those that link to them, read from the catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from webcrawler.archive.catalog._database import statements
from webcrawler.archive.catalog._linkgraph import as_json


class Named(NamedTuple):
    """A page that may be found by its anchor texts."""

    number: int
    url: str
    server: str
    server_number: int


class Anchors:
    """The part of `Catalog` that views of anchor texts follow."""

    _db: sqlite3.Connection

    def renamed(self, after: int, until: int) -> list[int]:
        """The page numbers whose anchor texts may be others after the changes from one seq to another."""
        _, changed, _ = _statements()
        return [number for (number,) in self._db.execute(changed, {"after": after, "until": until})]

    def named(self, numbers: Sequence[int]) -> list[Named]:
        """Those that may be found by their anchors: no redirects, duplicates, noindex pages, what is gone."""
        *_, shown = _statements()
        return list(map(Named._make, self._db.execute(shown, {"numbers": as_json(numbers)})))

    def anchors(self, numbers: Sequence[int]) -> Iterator[tuple[int, str, int]]:
        """Page number, anchor text and the source's server number, page by page in ascending order.

        Links to a redirect or a duplicate count for the page it stands for. Without nofollow.
        """
        anchors, *_ = _statements()
        return self._db.execute(anchors, {"numbers": as_json(numbers)})


@cache
def _statements() -> list[str]:
    return statements("anchors.sql")
