"""What a catalog says of URLs, for another catalog that is made of several."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from webcrawler.archive.catalog._database import COLLECTED, LINKED, SPELLED, URL, as_json
from webcrawler.archive.catalog._rows import Row
from webcrawler.records import Link

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

# Of documents: what makes them others when it differs, and what follows from it; what any fetch may change.
CONTENT = ("digest", "text_digest", "noindex", "canonical")
DERIVED = ("word_count", "simhash")
PLACE = ("file", '"offset"')
SEEN = ("fetched", "status", "content_type", "etag", "last_modified", "seconds", *PLACE)
CHECKED = ("checked", "changed", "missing_since", "failing_since")
BATCH = (*CONTENT, *DERIVED, *SEEN)
DOCUMENT = (*BATCH, *CHECKED)
HISTORY = (
    *("fetched", "status", "state", "reason", "retry", "tries", "found", "seconds", "digest", "error"),
    *(*PLACE, "token", "changed", "since", "audit", "conditional"),
)
FETCHED, FOUND, FILE, TOKEN = (HISTORY.index(name) for name in ("fetched", "found", "file", "token"))


class Position(NamedTuple):
    """How far a catalog was read."""

    made: str  # the catalog; another one after a purge, or when it was made anew
    changes: int = 0
    fetches: int = 0
    urls: int = 0

    def is_before(self, other: Position) -> bool:
        """Tell whether one may go on from here to the other position."""
        return self.made == other.made and all(a <= b for a, b in zip(self[1:], other[1:], strict=True))


class Said(NamedTuple):
    """What a catalog says of a URL."""

    link: Link  # the URL itself
    verdict: tuple[bool, int, float]  # the greater one is believed: does it tell, by which lease, when
    document: dict[str, Any] | None
    packed: bytes | None
    blocks: bytes | None  # where it is among the pages of its server whose blocks are known
    links: list[Link]
    history: list[Row]  # columns HISTORY


NEVER_TOLD = (False, 0, 0.0)


class Source:
    """A catalog as others copy it, without finds. `Catalog.source` is one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def position(self) -> Position:
        """The end of the catalog."""
        query = """
            SELECT (SELECT value FROM meta WHERE key = 'identity'),
                   (SELECT schema_version FROM pragma_schema_version),
                   (SELECT coalesce(max(seq), 0) FROM changes),
                   (SELECT coalesce(max(seq), 0) FROM fetches WHERE seq IS NOT NULL),
                   (SELECT coalesce(max(number), 0) FROM urls)"""
        # A purge ends with a VACUUM, which raises the version: places of records are others, texts are gone.
        identity, version, *rest = self._db.execute(query).fetchone()
        return Position(f"{identity}:{version}", *rest)

    def news(self, after: Position) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64]]:
        """The ids of the URLs of which it says something new, and since when each has what it has now."""
        import numpy

        fetches = "seq > :fetches" if after.fetches else "TRUE"  # rows of old versions have no seq
        query = f"""
            WITH touched (number) AS (
                SELECT number FROM changes WHERE seq > :changes
                UNION SELECT number FROM fetches WHERE {fetches})
            SELECT u.id, coalesce(
                (SELECT min(f.fetched) FROM documents d CROSS JOIN fetches f ON f.number = d.number
                 WHERE d.number = t.number AND f.digest = d.digest AND f.fetched > coalesce(
                     (SELECT max(o.fetched) FROM fetches o
                      WHERE o.number = d.number AND (o.found = 0 OR o.digest <> d.digest)), 0.0)),
                (SELECT max(f.fetched) FROM fetches f WHERE f.number = t.number), 0.0)
            FROM touched t JOIN urls u ON u.number = t.number ORDER BY u.number"""
        rows = self._db.execute(query, {"changes": after.changes, "fetches": after.fetches})
        found = numpy.fromiter(rows, [("id", numpy.int64), ("since", numpy.float64)])
        return found["id"], found["since"]

    def urls(self, after: Position) -> Iterator[Link]:
        """The URLs that are new to it, in the order of their discovery."""
        query = f"SELECT s.name || u.path, u.id, {SPELLED} {URL} WHERE u.number > ? ORDER BY u.number"
        return (Link(*row) for row in self._db.execute(query, (after.urls,)))

    def said(self, ids: Sequence[int], folder: str) -> list[Said]:
        """What it says of those of these URLs that it knows.

        Args:
            folder: of its WARC files, for the new catalog.
        """
        query = f"""SELECT u.number, s.name || u.path, u.id, {SPELLED} {URL}
            WHERE u.number IN (SELECT number FROM ids WHERE id IN (SELECT value FROM json_each(?)))"""
        known = {number: Link(*link) for number, *link in self._db.execute(query, (as_json(ids),))}
        numbers = as_json(known)
        documents, texts = self._documents(numbers, folder), self._texts(numbers)
        blocks = self._blocks(numbers)
        links, history = self._links(numbers), self._history(numbers, folder)
        return [
            Said(
                link,
                _verdict(history.get(number, []), number in documents),
                documents.get(number),
                texts.get(number) if number in documents else None,
                blocks.get(number) if number in documents else None,
                links.get(number, []),
                history.get(number, []),
            )
            for number, link in known.items()
        ]

    def _documents(self, numbers: str, folder: str) -> dict[int, dict[str, Any]]:
        query = f"""SELECT number, {", ".join(DOCUMENT)} FROM documents
            WHERE number IN (SELECT value FROM json_each(?)) AND {COLLECTED}"""
        found = {n: dict(zip(DOCUMENT, row, strict=True)) for n, *row in self._db.execute(query, (numbers,))}
        for document in found.values():
            document["file"] = _within(folder, document["file"])
        return found

    def _texts(self, numbers: str) -> dict[int, bytes]:
        """A duplicate may have been stored without a text: it says what its original says."""
        query = """
            SELECT d.number, t.packed FROM json_each(?) n CROSS JOIN documents d ON d.number = n.value
            LEFT JOIN texts own ON own.number = d.number
            CROSS JOIN texts t ON t.number = coalesce(own.number, d.duplicate_of) WHERE NOT d.noindex"""
        return dict(self._db.execute(query, (numbers,)))

    def _blocks(self, numbers: str) -> dict[int, bytes]:
        query = """
            SELECT u.number, b.digests FROM json_each(?) n CROSS JOIN urls u ON u.number = n.value
            CROSS JOIN blocks b ON b.server = u.server AND b.id = u.id"""
        return dict(self._db.execute(query, (numbers,)))

    def _links(self, numbers: str) -> dict[int, list[Link]]:
        query = f"""
            SELECT l.source, s.name || u.path, u.id, {SPELLED}, l.anchor, l.rel
            FROM json_each(?) n CROSS JOIN links l ON l.source = n.value
            CROSS JOIN urls u ON u.number = l.target CROSS JOIN servers s ON s.number = u.server
            WHERE {LINKED} ORDER BY l.source, l.target"""
        found: dict[int, list[Link]] = {}
        for number, url, id, spelling, anchor, rel in self._db.execute(query, (numbers,)):
            found.setdefault(number, []).append(Link(url, id, spelling, anchor, rel=rel))
        return found

    def _history(self, numbers: str, folder: str) -> dict[int, list[Row]]:
        query = f"""SELECT number, {", ".join(HISTORY)} FROM fetches
            WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number, fetched"""
        found: dict[int, list[Row]] = {}
        for number, *row in self._db.execute(query, (numbers,)):
            row[FILE] = _within(folder, row[FILE])
            found.setdefault(number, []).append(tuple(row))
        return found


def _verdict(history: Iterable[Row], has_document: bool) -> tuple[bool, int, float]:
    """What was taken out of a collection, or was a find, says nothing of what stands there."""
    telling = [(row[TOKEN] or 0, row[FETCHED], row[FOUND]) for row in history if row[FOUND] is not None]
    if not telling:
        return NEVER_TOLD
    token, fetched, found = max(telling)
    return has_document or not found, token, fetched


def _within(folder: str, file: str | None) -> str | None:
    return file and f"{folder}/{file}"
