"""A data folder as a crawl leaves it, made of a few pages: catalog, archive, and an index where wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from crawled import link

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.index.follower import wait_until_caught_up
from webcrawler.parsing import parse
from webcrawler.records import Entry, Fetch, Lease, Text
from webcrawler.urls import server, url_id

HEADERS = (("Content-Type", "text/html; charset=utf-8"),)


def recorded(folder: Path, pages: Mapping[str, str], archived: bool = True, indexed: bool = False) -> Path:
    """`pages` are HTML by canonical URL, fetched in that order; "-> URL" is a redirect."""
    with (
        closing(Catalog(folder / "catalog.sqlite")) as catalog,
        closing(PageStore(folder / "pages")) as store,
    ):
        arrivals = []
        for when, (url, html) in enumerate(pages.items(), 1):
            entry = _entry(url, html, when)
            place = store.append(entry) if archived and entry.text else None
            arrivals.append((entry, place))
        store.sync()
        catalog.write(arrivals)
    if indexed:
        wait_until_caught_up(folder)
    return folder


def page(title: str, body: str, *targets: str) -> str:
    """Each link stands in a sentence of its own, its anchor the end of its URL."""
    links = "".join(f'<p>before <a href="{url}">{url[-5:]}</a> after</p>' for url in targets)
    return f"<html><head><title>{title}</title></head><body><p>{body}</p>{links}</body></html>"


def _entry(url: str, html: str, when: int) -> Entry:
    lease = Lease(url_id(url), url, url, server(url), when)
    if html.startswith("-> "):
        return Entry(Fetch(lease, "done", "redirect", float(when), status=301, target=link(html[3:])))
    body = html.encode()
    parsed = parse(body, url, "text/html")
    text = Text(parsed.title, "", "", "", parsed.text)
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    fetch = Fetch(lease, "done", "document", float(when), 0.01, 200, HEADERS, body)
    return Entry(fetch, digest, links=parsed.links, text=text, archive=True)
