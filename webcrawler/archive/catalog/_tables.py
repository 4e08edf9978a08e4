"""What a catalog tells to other machines: its rows without page numbers, which nobody else knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from webcrawler.archive.catalog._database import as_json, statements


class ToldUrl(NamedTuple):
    """A URL, and what became of it."""

    number: int
    id: int
    server: str
    path: str  # query included
    state: str
    fetched: float | None  # when the newest fetch told whether a document is there


class ToldDocument(NamedTuple):
    """A document, by its URL's page number."""

    number: int
    fetched: float
    status: int
    digest: bytes | None
    content_type: str
    words: int
    file: str | None
    offset: int | None
    text_digest: bytes | None
    simhash: int | None
    canonical: int | None
    duplicate_of: int | None  # id
    near_duplicate_of: int | None  # id
    noindex: int
    changed: float | None


class ToldLink(NamedTuple):
    """A link of a known page."""

    source: int  # page number
    target: int  # id
    server: str  # of the target
    anchor: str
    rel: str


class Tables:
    """Rows for other machines. `Catalog.tables` is one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._changed, self._new, self._urls, self._documents, self._links = statements("tables.sql")

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Read everything as of one moment; others go on writing."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def changed(self, after: int, until: int) -> dict[int, int]:
        """The pages that the changes between two seqs tell of, and the newest change of each."""
        return dict(self._db.execute(self._changed, {"after": after, "until": until}))

    def new(self, after: int, until: int) -> list[int]:
        """The page numbers between two that no change may tell of: nothing but links to them is known."""
        rows = self._db.execute(self._new, {"after": after, "until": until})
        return [number for (number,) in rows]

    def urls(self, numbers: Sequence[int]) -> list[ToldUrl]:
        return list(map(ToldUrl._make, self._db.execute(self._urls, {"numbers": as_json(numbers)})))

    def documents(self, numbers: Sequence[int]) -> list[ToldDocument]:
        rows = self._db.execute(self._documents, {"numbers": as_json(numbers)})
        return list(map(ToldDocument._make, rows))

    def links(self, numbers: Sequence[int]) -> Iterator[ToldLink]:
        """The links of these pages, by ascending source."""
        return map(ToldLink._make, self._db.execute(self._links, {"numbers": as_json(numbers)}))
