"""Small crawls that can be searched: documents in a catalog, followed by the index."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from hashlib import sha1
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.search.vocabulary import build
from webcrawler.search.vocabulary.stored import store
from webcrawler.urls import server, url_id

FETCHED = 1_700_000_000.0  # 2023-11-14T22:13:20 UTC

Row = tuple[str, str, str]  # URL, title, body


def entry(row: Row, *links: Link, fetched: float = FETCHED) -> Entry:
    url, title, body = row
    lease = Lease(url_id(url), url, url, server(url), token=1)
    fetch = Fetch(lease, "done", "document", fetched, status=200, headers=(("Content-Type", "text/html"),))
    return Entry(fetch, digest=sha1(url.encode()).digest(), links=links, text=Text(title, "", "", "", body))


def publish(crawl_dir: Path, entries: Iterable[Entry]) -> None:
    """Write them to the catalog, let the follower catch up, and learn their words."""
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([(one, None) for one in entries])
        store(crawl_dir / "vocabulary", build(catalog, until=1_000_000), 1, catalog.identity)
    with closing(Follower(crawl_dir)) as follower:
        follower.catch_up()
