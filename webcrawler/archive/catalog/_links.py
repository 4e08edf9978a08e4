"""Who links to whom, and with which words; and what sitemaps and feeds say of pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from webcrawler.archive.catalog._database import LINKED, SPELLED, URL, IntArray, as_json, columns, statements
from webcrawler.archive.catalog._urls import EXPLORED
from webcrawler.errors import require
from webcrawler.records import FORM, FORM_AND_LINK
from webcrawler.urls import url_id

# Of the page ?1.
INLINKS = """FROM inlinks i CROSS JOIN links l
    ON i.inlinks MATCH ?1 AND l.source = i.rowid AND l.target = ?1"""
NOT_FETCHED = "not-fetched"  # of a link's target, in an exported edge list
# The page t.number is a document, or led on by a redirect.
FETCHED = """EXISTS (SELECT 1 FROM documents WHERE number = t.number)
    OR EXISTS (SELECT 1 FROM links WHERE source = t.number)"""
SOURCES = 10_000  # whose links are read in one step: some 5 MB


class LinkRow(NamedTuple):
    """An edge of the link graph, by page numbers."""

    source: int
    target: int
    anchor: str
    rel: str


class FarLink(NamedTuple):
    """A link of a known page, or to it, with the URL at its other end."""

    source: int  # page number
    url: str  # canonical; by `open` as it is fetched
    anchor: str
    rel: str


class Outlink(NamedTuple):
    """A link of a known page, with its target by number, id and canonical URL."""

    source: int  # page number
    target: int
    id: int
    url: str
    anchor: str
    rel: str


class Named(NamedTuple):
    """A page that may be found by its anchor texts."""

    number: int
    url: str
    server: str
    server_number: int


class LinkGraph:
    """The links between pages. `Catalog.links` is one.

    Args:
        job: as for `Catalog`.
    """

    def __init__(self, db: sqlite3.Connection, job: str = "") -> None:
        self._db, self._job = db, job

    def all(self) -> Iterator[LinkRow]:
        """All edges, redirects included, by ascending source and target."""
        return map(LinkRow._make, self._db.execute("SELECT * FROM links ORDER BY source, target"))

    def with_urls(self) -> Iterator[tuple[int, int, str, str, str, str, int]]:
        """All edges in the order of `all`: source, target, the URL of each, anchor, rel, target fetched?"""
        return self._db.execute(f"""
            SELECT l.source, l.target, a.name || s.path, b.name || t.path, l.anchor, l.rel, {FETCHED}
            FROM links l CROSS JOIN urls s ON s.number = l.source CROSS JOIN servers a ON a.number = s.server
            CROSS JOIN urls t ON t.number = l.target CROSS JOIN servers b ON b.number = t.server
            ORDER BY l.source, l.target""")

    def outlinks(self, numbers: Sequence[int]) -> tuple[IntArray, IntArray]:
        """Sources and targets of the edges that leave these pages, by ascending source.

        Redirects included, nofollow and finds left out.
        """
        query = f"""SELECT source, target FROM links
            WHERE source IN (SELECT value FROM json_each(?)) AND rel <> 'nofollow' AND {LINKED}
            ORDER BY source"""
        sources, targets = columns(self._db.execute(query, (as_json(numbers),)), 2)
        return sources, targets

    def arrays(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Sources and targets of all edges as `outlinks` gives them, those of some sources at a time.

        One row a source, its targets as text that is parsed at once: half the time of a tuple a link.
        """
        import numpy

        rows = self._db.execute(f"""
            SELECT source, count(*), group_concat(target) FROM links WHERE rel <> 'nofollow' AND {LINKED}
            GROUP BY source ORDER BY source""")
        while some := rows.fetchmany(SOURCES):
            numbers, counts, texts = zip(*some, strict=True)
            yield numpy.repeat(numbers, counts), numpy.fromstring(",".join(texts), int, sep=",")

    def sources_of(self, url: str) -> IntArray:
        """The page numbers that link or redirect to a canonical URL, ascending; none to an unknown one."""
        query = """SELECT rowid FROM inlinks
            WHERE inlinks MATCH coalesce((SELECT number FROM ids WHERE id = ?), 0) ORDER BY rowid"""
        return columns(self._db.execute(query, (url_id(url),))).ravel()

    def most_linked(self, n: int) -> list[tuple[str, int]]:
        """The n URLs with the most in-links, redirects included; counts all in-links."""
        query = f"""
            SELECT s.name || u.path, t.n {URL}
            JOIN (SELECT CAST(term AS INTEGER) AS target, doc AS n FROM inlink_counts
                  ORDER BY n DESC, target LIMIT ?) t
            ON t.target = u.number ORDER BY t.n DESC, t.target"""
        return list(self._db.execute(query, (n,)))

    def open(self, sources: Sequence[int]) -> list[FarLink]:
        """The links of these pages to what is not explored yet, by ascending source; no nofollow, no FORM."""
        query = f"""
            SELECT l.source, {SPELLED}, l.anchor, l.rel
            FROM json_each(:sources) n CROSS JOIN links l ON l.source = n.value
            CROSS JOIN urls u ON u.number = l.target CROSS JOIN servers s ON s.number = u.server
            WHERE l.rel NOT IN ('nofollow', '{FORM}') AND NOT s.blocked AND NOT u.removed AND NOT {EXPLORED}
            ORDER BY l.source"""
        rows = self._db.execute(query, {"sources": as_json(sources), "job": self._job})
        return list(map(FarLink._make, rows))

    def followed(self, sources: Sequence[int]) -> dict[int, list[Outlink]]:
        """The links of these pages, by page number and in the order of their targets; no nofollow."""
        query = """
            SELECT l.source, l.target, u.id, s.name || u.path, l.anchor, l.rel
            FROM json_each(?) n CROSS JOIN links l ON l.source = n.value
            CROSS JOIN urls u ON u.number = l.target CROSS JOIN servers s ON s.number = u.server
            WHERE l.rel <> 'nofollow' ORDER BY n.key, l.target"""
        found: dict[int, list[Outlink]] = {number: [] for number in sources}
        for row in self._db.execute(query, (as_json(sources),)):
            found[row[0]].append(Outlink._make(row))
        return found

    def targets(self, sources: Sequence[int]) -> dict[int, list[int]]:
        """The URL ids that these pages link or redirect to, by page number; nofollow included."""
        query = """SELECT l.source, u.id FROM json_each(?) n CROSS JOIN links l ON l.source = n.value
            CROSS JOIN urls u ON u.number = l.target"""
        found: dict[int, list[int]] = {number: [] for number in sources}
        for source, id in self._db.execute(query, (as_json(sources),)):
            found[source].append(id)
        return found

    def leading_to(self, number: int) -> FarLink | None:
        """The link that may have led to a page: on the one fetched first, and before it; no nofollow."""
        query = f"""
            SELECT l.source, s.name || u.path, l.anchor, l.rel {INLINKS}
            JOIN urls u ON u.number = l.source JOIN servers s ON s.number = u.server
            WHERE l.source <> ?1 AND l.rel <> 'nofollow'
              AND {_first_fetch("l.source")} <= coalesce({_first_fetch("?1")}, 9e99)
            ORDER BY {_first_fetch("l.source")} LIMIT 1"""
        row = self._db.execute(query, (number,)).fetchone()
        return FarLink(*row) if row else None

    def redirecting_to(self, id: int) -> set[int]:
        """The ids of the URLs that redirect to this one, by any number of steps."""
        query = """
            WITH RECURSIVE alias (number) AS (
                SELECT number FROM ids WHERE id = ?
                UNION -- ends circles
                SELECT l.source FROM alias a CROSS JOIN inlinks i ON i.inlinks MATCH a.number
                CROSS JOIN links l ON l.source = i.rowid AND l.target = a.number
                WHERE l.rel = 'redirect')
            SELECT u.id FROM alias a JOIN urls u ON u.number = a.number WHERE u.id <> ?"""
        return {found for (found,) in self._db.execute(query, (id, id))}

    def to_networkx(self) -> Any:
        """A DiGraph: nodes are page numbers with `url` and `fetched`, edges have `anchor` and `rel`.

        No anchor has characters that XML forbids; catalogs of earlier versions have some.
        """
        require("graph", "a graph of networkx")
        import networkx  # 0.4 s, which no other use of a catalog should pay

        from webcrawler.parsing import plain

        fetched = FETCHED.replace("t.number", "u.number")
        urls = self._db.execute(f"SELECT u.number, s.name || u.path, {fetched} {URL} ORDER BY u.number")
        graph: Any = networkx.DiGraph()
        graph.add_nodes_from((number, {"url": url, "fetched": bool(was)}) for number, url, was in urls)
        graph.add_edges_from(
            (s, t, {"anchor": plain(anchor), "rel": rel}) for s, t, anchor, rel in self.all()
        )
        return graph


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
        query = f"""SELECT anchor FROM (
                SELECT l.anchor {INLINKS}
                WHERE l.rel IN ('', '{FORM_AND_LINK}') AND trim(l.anchor) <> '' LIMIT 10000)
            GROUP BY anchor ORDER BY count(*) DESC, anchor LIMIT ?"""
        return [anchor for (anchor,) in self._db.execute(query, (number, limit))]


def _first_fetch(number: str) -> str:
    return f"(SELECT min(f.fetched) FROM fetches f WHERE f.number = {number})"


class NamedUrl(NamedTuple):
    """A URL that a sitemap names."""

    seq: int
    number: int
    id: int
    url: str  # canonical
    server: str  # of the sitemap
    of: str  # what named the sitemap, as in `KnownSitemap`


class KnownSitemap(NamedTuple):
    """A sitemap or a feed that was read, or that an index names."""

    number: int
    server: int  # number of its server
    url: str  # as it is fetched
    of: str  # as in `webcrawler.job.sitemap_link`
    fetched: float  # when it was last read, or known to be unchanged; 0: not yet
    digest: bytes
    etag: str
    last_modified: str  # the header
    outcome: str  # of its newest fetch, "done/sitemap"; "": it was not fetched


class Signs:
    """What sitemaps say of pages. `Catalog.signs` is one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def named(self, after: int, limit: int) -> list[NamedUrl]:
        """What sitemaps name, in ascending order of the rows' seq."""
        query = """
            SELECT g.seq, u.number, u.id, s.name || u.path, p.name, m.of
            FROM signs g JOIN urls u ON u.number = g.number JOIN servers s ON s.number = u.server
            JOIN sitemaps m ON m.number = g.sitemap JOIN urls v ON v.number = g.sitemap
            JOIN servers p ON p.number = v.server
            WHERE g.seq > ? ORDER BY g.seq LIMIT ?"""
        return [NamedUrl(*row) for row in self._db.execute(query, (after, limit))]

    def of(self, url: str) -> list[tuple[str, float]]:
        """The sitemaps that have named a canonical URL, and when it changed as they say, the newest first."""
        query = f"""
            SELECT s.name || u.path, coalesce(g.modified, 0) {URL} JOIN signs g ON g.sitemap = u.number
            WHERE g.number = (SELECT number FROM ids WHERE id = ?) ORDER BY g.modified DESC"""
        return list(self._db.execute(query, (url_id(url),)))

    def said_by(self, sitemap: int) -> list[tuple[int, float, float]]:
        """The pages that a sitemap dates: page number, when it changed, when the sitemap said so first."""
        query = "SELECT number, modified, seen FROM signs WHERE sitemap = ? AND modified IS NOT NULL"
        return list(self._db.execute(query, (sitemap,)))

    def sitemaps(self) -> list[KnownSitemap]:
        """All that are known, in the order of their page numbers; `sitemap_link` makes one a link again."""
        query = f"""
            SELECT u.number, u.server, {SPELLED}, m.of, coalesce(m.fetched, 0),
                   coalesce(m.digest, x''), coalesce(m.etag, ''), coalesce(m.last_modified, ''),
                   coalesce((SELECT rtrim(f.state || '/' || f.reason, '/') FROM fetches f
                             WHERE f.number = u.number ORDER BY f.token DESC, f.fetched DESC LIMIT 1), '')
            {URL} JOIN sitemaps m ON m.number = u.number ORDER BY u.number"""
        return [KnownSitemap(*row) for row in self._db.execute(query)]
