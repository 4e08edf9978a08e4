"""Small crawls as a catalog has them: what was fetched, and what it linked to."""

from __future__ import annotations

from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import server, url_id


def link(url: str, anchor: str = "", rel: str = "") -> Link:
    return Link(url, url_id(url), url, anchor, rel=rel)


def fetched(url: str, *links: Link, reason: str = "document", target: str = "", title: str = "") -> Entry:
    lease = Lease(url_id(url), url, url, server(url), 1)
    state = "done" if reason in ("document", "redirect") else "failed"
    html = (("Content-Type", "text/html"),) if reason == "document" else ()
    fetch = Fetch(
        lease, state, reason, 1.0, 0.1, 200, html, url.encode(), target=link(target) if target else None
    )
    return Entry(
        fetch, url.encode(), links=tuple(links), text=Text(title or f"Title of {url}", "", "", "", "body")
    )


def crawled(folder: Path, *entries: Entry) -> Path:
    catalog = Catalog(folder / "catalog.sqlite")
    catalog.write([(entry, None) for entry in entries])
    catalog.close()
    return folder
