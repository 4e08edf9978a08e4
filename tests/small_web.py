"""Small webs as a search sees them: a catalog, an index of two segments, and anchors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live, Reading
from webcrawler.index.follower import Follower
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import server, url_id


class Page(NamedTuple):
    """A page as the catalog is given it; without a body: one that was never fetched."""

    url: str
    title: str = ""
    body: str | None = None
    meta: str = ""
    links: tuple[tuple[str, str], ...] = ()  # (URL, anchor text)


class Web(NamedTuple):
    pages: tuple[Page, ...]
    numbers: dict[str, int]  # of those that can be found
    reading: Reading
    linking: Callable[[str], NDArray[np.int64]]


def make_crawl(folder: Path, pages: Iterable[Page]) -> None:
    """Write the pages in two commits and let the follower catch up after each."""
    documents = [page for page in pages if page.body is not None]
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        for some in (documents[::2], documents[1::2]):
            catalog.write([(_entry(page), None) for page in some])
            with closing(Follower(folder)) as follower:
                follower.catch_up()


def make_web(folder: Path, pages: Iterable[Page]) -> Web:
    pages = tuple(pages)
    make_crawl(folder, pages)
    catalog, reading = Catalog(folder / "catalog.sqlite", readonly=True), Live(folder).reading()
    assert reading is not None
    numbers = {named.url: named.number for named in catalog.anchors.findable(range(1, 10_000))}
    known = {page.url: numbers[page.url] for page in pages if page.url in numbers}
    return Web(pages, known, reading, catalog.links.sources_of)


def _entry(page: Page) -> Entry:
    lease = Lease(url_id(page.url), page.url, page.url, server(page.url), 1)
    fetch = Fetch(lease, "done", "document", 1.0, status=200, headers=(("Content-Type", "text/html"),))
    links = tuple(Link(url, url_id(url), url, anchor) for url, anchor in page.links)
    return Entry(
        fetch, page.url.encode(), links=links, text=Text(page.title, "", page.meta, "", page.body or "")
    )
