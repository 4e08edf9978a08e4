"""Sitemaps and feeds, and what they say of pages."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from webcrawler.archive.catalog._database import SPELLED, URL
from webcrawler.urls import url_id


class Named(NamedTuple):
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

    def named(self, after: int, limit: int) -> list[Named]:
        """What sitemaps name, in ascending order of the rows' seq."""
        query = """
            SELECT g.seq, u.number, u.id, s.name || u.path, p.name, m.of
            FROM signs g JOIN urls u ON u.number = g.number JOIN servers s ON s.number = u.server
            JOIN sitemaps m ON m.number = g.sitemap JOIN urls v ON v.number = g.sitemap
            JOIN servers p ON p.number = v.server
            WHERE g.seq > ? ORDER BY g.seq LIMIT ?"""
        return [Named(*row) for row in self._db.execute(query, (after, limit))]

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
