"""What did I fetch, and who links to whom? One SQLite file; its central class is `Catalog`.

Documents, the history of fetches, links, texts, and the changes that views follow.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from webcrawler.archive.catalog._checks import Checks, Due, Known, Told
from webcrawler.archive.catalog._database import (
    COLLECTED,
    LINKED,
    SPELLED,
    URL,
    IntArray,
    as_json,
    columns,
    compact,
    connect,
    run,
    snapshot,
    statements,
    take_place,
)
from webcrawler.archive.catalog._likeness import LEAST_PAGES, NO_REPEATS, SAMPLED, Blocks, Repeats
from webcrawler.archive.catalog._links import (
    NOT_FETCHED,
    Anchors,
    KnownSitemap,
    LinkGraph,
    LinkRow,
    Outlink,
    Signs,
)
from webcrawler.archive.catalog._rows import (
    GONE,
    REFUSING,
    PastFetch,
    Verdict,
    document,
    pack,
    unpack,
    unpack_beginning,
)
from webcrawler.archive.catalog._tables import Tables, ToldDocument, ToldLink, ToldUrl
from webcrawler.archive.catalog._urls import Fetches, Outcome, Urls
from webcrawler.archive.catalog._writer import Writer
from webcrawler.errors import BadInput
from webcrawler.records import Change, Document, Original, Place, Text
from webcrawler.scope import Watched
from webcrawler.urls import url_id

__all__ = [
    "GONE",
    "LEAST_PAGES",
    "NOT_FETCHED",
    "NO_REPEATS",
    "OTHERS",
    "REFUSING",
    "SAMPLED",
    "Catalog",
    "Due",
    "Known",
    "KnownSitemap",
    "LinkRow",
    "Outcome",
    "Outlink",
    "PastFetch",
    "Repeats",
    "Told",
    "ToldDocument",
    "ToldLink",
    "ToldUrl",
    "Verdict",
    "blocked_servers",
    "compact",
    "pack",
    "snapshot",
    "take_place",
    "unpack",
    "unpack_beginning",
]

DOCUMENT = """
    SELECT d.number, u.id, s.name || u.path, s.name, d.fetched, d.status, d.content_type, d.digest,
           d.word_count, d.duplicate_of, d.noindex, d.file, d."offset"
    FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server"""
# With the same bytes as d. Its WARC record has them; that of the original may only refer to it.
FIRST = "SELECT o.number FROM documents o WHERE o.digest = d.digest ORDER BY o.since LIMIT 1"
OTHERS = 16  # changes at most for each that may be of a document
NO_LIMITS: Mapping[str, float] = MappingProxyType({})


def blocked_servers(path: Path) -> list[str]:
    """Those that the catalog at this path knows as blocked; none where there is none that can be read."""
    with suppress(BadInput, sqlite3.DatabaseError), closing(Catalog(path, readonly=True)) as catalog:
        return catalog.urls.blocked_servers()
    return []


class Catalog(Writer):
    """One SQLite file for any number of processes; an object is for one thread at a time.

    Holds documents, their texts and their changes; `urls`, `links`, `anchors`, `fetches`, `signs`, `checks`,
    `blocks` and `tables` read the rest.
    Opened for writing, and with each batch, it takes out what the scope of its folder has removed.

    Args:
        job: name of a search of the web. Documents that it is the first to bring are its finds, which are
            no part of the collection: nobody else sees them, and nothing counts them.
        limits: when a check removes a document, where it is not as `LIMITS` says.
    Raises:
        BadInput: the file is missing (readonly), is not a catalog, or cannot be written.
    """

    def __init__(
        self, path: Path, readonly: bool = False, job: str = "", limits: Mapping[str, float] = NO_LIMITS
    ) -> None:
        db = connect(path, readonly)
        super().__init__(db, Watched(path.parent), job, limits, readonly)
        self.urls, self.links, self.anchors = Urls(db), LinkGraph(db, job), Anchors(db)
        self.fetches, self.signs, self.checks = Fetches(db, job), Signs(db), Checks(db)
        self.blocks, self.tables = Blocks(db), Tables(db)

    def close(self) -> None:
        self._db.close()

    def has_places(self, file: str) -> bool:
        """Does anything stand in this WARC file? Reads the whole history."""
        query = """SELECT EXISTS (SELECT 1 FROM documents WHERE file = :file)
                       OR EXISTS (SELECT 1 FROM fetches WHERE file = :file)"""
        return bool(self._db.execute(query, {"file": file}).fetchone()[0])

    def known_places(self, newest: bool = False) -> Iterator[tuple[Place, bytes | None]]:
        """Where all records stand that it knows, by file and offset, and the digests of their bodies.

        Reads the whole history.

        Args:
            newest: of each file the last one only.
        """
        each = "file" if newest else 'file, "offset"'
        query = f"""
            SELECT file, max("offset"), digest FROM (SELECT file, "offset", digest FROM documents
                UNION ALL SELECT file, "offset", digest FROM fetches)
            WHERE file IS NOT NULL GROUP BY {each} ORDER BY {each}"""
        return ((Place(*place), digest) for *place, digest in self._db.execute(query))

    def refuse_damaged(self) -> None:
        """Raises BadInput: SQLite finds fault with the file, all of which it reads."""
        if (found := self._one("PRAGMA quick_check(1)")[0]) != "ok":
            raise BadInput(f"The catalog is damaged: {found}")

    def finds(self) -> dict[int, str]:
        """The finds of this search: by URL id, the URL as it was fetched."""
        query = f"SELECT u.id, {SPELLED} {URL} JOIN finds f ON f.number = u.number WHERE f.job = ?"
        return dict(self._db.execute(query, (self._job,)))

    def jobs_with_finds(self) -> list[str]:
        """The names of the searches whose finds are here: those that run, or have died."""
        return [name for (name,) in self._db.execute("SELECT DISTINCT job FROM finds")]

    def unseen(self) -> IntArray:
        """The page numbers that this search, or anybody else, may not see, ascending.

        They are the finds of others, and the URLs that nothing but these links to.
        """
        return columns(run(self._db, "unseen.sql", job=self._job)).ravel()

    @property
    def version(self) -> int:
        """Changes when another connection has written."""
        return int(self._one("PRAGMA data_version")[0])

    @property
    def identity(self) -> str:
        """Random, given when the file was made: a view that follows another identity must start anew."""
        return str(self._one("SELECT value FROM meta WHERE key = 'identity'")[0])

    def changes(self, after: int, limit: int) -> list[Change]:
        """The next changes in ascending order of seq, with at most `limit` of documents among them.

        Many more may be of other URLs, which are little work: where most URLs lead nowhere, what is written
        for so many documents at once would else be written for a few.
        """
        query = """
            SELECT seq, number, kind FROM (
                SELECT *, count(*) FILTER (WHERE kind <> 'links') OVER (ORDER BY seq) AS documents
                FROM (SELECT * FROM changes WHERE seq > :after ORDER BY seq LIMIT :most))
            WHERE documents <= :limit ORDER BY seq"""
        rows = self._db.execute(query, {"after": after, "limit": limit, "most": limit * OTHERS})
        return [Change(*row) for row in rows]

    def changed(self, after: int, until: int) -> IntArray:
        """The page numbers of all changes after one seq and until another, ascending, each once."""
        query = "SELECT DISTINCT number FROM changes WHERE seq > ? AND seq <= ? ORDER BY number"
        return columns(self._db.execute(query, (after, until))).ravel()

    def last_seq(self) -> int:
        """The newest change, 0 where there is none."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM changes")[0])

    def documents(self, numbers: Sequence[int]) -> dict[int, Document]:
        """Those that are documents now, by page number."""
        query = f"{DOCUMENT} WHERE d.number IN (SELECT value FROM json_each(?))"
        return {row[0]: document(row) for row in self._db.execute(query, (as_json(numbers),))}

    def texts(self, numbers: Sequence[int], most_bytes: int = 0) -> dict[int, Text]:
        """Those that have a text, by page number: no noindex pages.

        Args:
            most_bytes: unpack so much of the body, at most twice that, without emphasis; 0: all of the text.
        """
        query = "SELECT number, packed FROM texts WHERE number IN (SELECT value FROM json_each(?))"
        return {
            number: unpack_beginning(packed, most_bytes) if most_bytes else unpack(packed)
            for number, packed in self._db.execute(query, (as_json(numbers),))
        }

    def first_with_bytes_of(self, number: int) -> int:
        """The document that had the same bytes first, or this one: its WARC record has them."""
        row = self._db.execute(f"SELECT ({FIRST}) FROM documents d WHERE d.number = ?", (number,)).fetchone()
        return row[0] or number if row else number

    def near_duplicates(self, numbers: Sequence[int]) -> dict[int, int]:
        """Those that nearly repeat an older document, by page number: the number of the oldest."""
        query = """
            SELECT number, near_duplicate_of FROM documents
            WHERE number IN (SELECT value FROM json_each(?)) AND near_duplicate_of IS NOT NULL"""
        return dict(self._db.execute(query, (as_json(numbers),)))

    def find(self, url: str) -> Document | None:
        """The document at a canonical URL."""
        row = self._db.execute(
            f"{DOCUMENT} WHERE d.number = (SELECT number FROM ids WHERE id = ?)", (url_id(url),)
        ).fetchone()
        return document(row) if row else None

    def listed(self, state: str, links: int, to_visitors: bool = False) -> Iterator[dict[str, Any]]:
        """All URLs in a state, by page number, as they are read; listed.sql says which, and what of each.

        Args:
            links: to each at most.
            to_visitors: only what a search may show as well: nothing that is blocked, removed or noindex.
        Raises:
            BadInput: there is no such state; the message names all.
        """
        states, query = statements("listed.sql")
        names = [name for (name,) in self._db.execute(states)]
        name = state.rpartition("/")[2]
        if name not in names and not (name.isascii() and name.isdecimal() and len(name) == 3):
            raise BadInput(f"no state {state[:40]!r}: a status such as 404, or one of {', '.join(names)}")
        rows = self._db.execute(query, {"state": state, "links": links, "visitors": to_visitors})
        columns = [name for name, *_ in rows.description]
        return (dict(zip(columns, (*row, json.loads(found)), strict=True)) for *row, found in rows)

    def first_documents(self, limit: int) -> list[int]:
        """The page numbers of those that were known first, without finds."""
        query = f"SELECT number FROM documents WHERE {COLLECTED} ORDER BY number LIMIT ?"
        return [number for (number,) in self._db.execute(query, (limit,))]

    def last_documents(self, limit: int) -> list[int]:
        """The page numbers of those that were fetched last, oldest first, without finds."""
        last = f"SELECT * FROM documents WHERE {COLLECTED} ORDER BY fetched DESC LIMIT ?"
        query = f"SELECT number FROM ({last}) ORDER BY fetched"
        return [number for (number,) in self._db.execute(query, (limit,))]

    def documents_fetched(self, since: float, until: float) -> list[int]:
        """The page numbers of those that were fetched from one time on and before another, oldest first."""
        within = f"fetched >= ? AND fetched < ? AND {COLLECTED}"
        query = f"SELECT number FROM documents WHERE {within} ORDER BY fetched"
        return [number for (number,) in self._db.execute(query, (since, until))]

    def has_documents_beside(self, beginning: str) -> bool:
        """Is there a document of a server whose name does not begin so?"""
        query = f"""SELECT EXISTS (SELECT 1 {URL} JOIN documents d ON d.number = u.number
            WHERE substr(s.name, 1, length(?1)) <> ?1)"""
        return bool(self._db.execute(query, (beginning,)).fetchone()[0])

    def count_documents(self) -> int:
        """Duplicates and noindex pages included, finds not; reads the whole table of documents."""
        return int(self._one(f"SELECT count(*) FROM documents WHERE {COLLECTED}")[0])

    def digests(self, limit: int) -> dict[bytes, Original]:
        """By digest the first document that had it, the newest `limit` of them, without finds."""
        query = f"""SELECT d.digest, {SPELLED}, d.fetched {URL} JOIN documents d ON d.number = u.number
            WHERE d.digest IS NOT NULL AND d.number = ({FIRST}) AND d.{COLLECTED}
            ORDER BY d.since DESC LIMIT ?"""
        return {digest: Original(url, fetched) for digest, url, fetched in self._db.execute(query, (limit,))}

    def kept(self, ids: Sequence[int]) -> dict[int, tuple[bytes, Original]]:
        """Digest and last full record of the documents among these URL ids."""
        query = f"""SELECT u.id, d.digest, {SPELLED}, d.fetched
            {URL} JOIN documents d ON d.number = u.number
            WHERE d.number IN (SELECT number FROM ids WHERE id IN (SELECT value FROM json_each(?)))
              AND d.digest IS NOT NULL AND d.file IS NOT NULL"""
        rows = self._db.execute(query, (as_json(ids),))
        return {id: (digest, Original(url, fetched)) for id, digest, url, fetched in rows}

    def stats(self) -> dict[str, int]:
        """Servers with a document, documents, duplicates, and links without redirects; none of finds.

        Reads all links.
        """
        query = f"""SELECT count(DISTINCT u.server), count(*), count(d.duplicate_of)
            FROM documents d JOIN urls u USING (number) WHERE {COLLECTED}"""
        servers, documents, duplicates = self._one(query)
        links = self._one(f"SELECT count(*) FROM links WHERE rel <> 'redirect' AND {LINKED}")[0]
        return {"servers": servers, "documents": documents, "duplicates": duplicates, "links": links}

    def _one(self, query: str) -> Any:
        return self._db.execute(query).fetchone()
