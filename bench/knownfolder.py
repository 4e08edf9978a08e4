"""A data folder that knows some random documents of a recorded crawl, as if only they had been crawled."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore, record_at
from webcrawler.evaluation.focused import Recording, sample
from webcrawler.index import follower
from webcrawler.parsing import index_text, parse
from webcrawler.records import Document, Entry, Fetch, Lease
from webcrawler.urls import server

AT_ONCE = 200  # documents in a transaction
PROTOCOLS = ("http",)


def make(whole: Path, folder: Path, documents: int, seed: int) -> None:
    """Catalog, pages, index, ranks and vocabulary of so many of them; takes two minutes for 5,000."""
    recording = Recording(whole)
    chosen = sorted(sample(recording, documents, seed), key=lambda n: recording.documents[n].fetched)
    folder.mkdir(parents=True)
    with (
        closing(Catalog(folder / "catalog.sqlite")) as catalog,
        closing(PageStore(folder / "pages")) as pages,
    ):
        entries = list[Entry]()
        for entry in _entries(recording, chosen):
            entries.append(entry)
            if len(entries) == AT_ONCE:
                _write(catalog, pages, entries)
        _write(catalog, pages, entries)
    follower.wait_until_caught_up(folder)
    for module in ("webcrawler.views",):  # it ends when all is done, as no crawl is alive
        done = subprocess.run([sys.executable, "-m", module, folder], input=b"", capture_output=True)
        if done.returncode:
            sys.exit(f"bench: {module} failed:\n{done.stderr.decode()[-2000:]}")


def _write(catalog: Catalog, pages: PageStore, entries: list[Entry]) -> None:
    places = [pages.append(entry) for entry in entries]
    pages.sync()
    catalog.write(list(zip(entries, places, strict=True)))
    entries.clear()


def _entries(recording: Recording, numbers: list[int]) -> Iterator[Entry]:
    for token, number in enumerate(numbers, 1):
        document = recording.documents[number]
        places = [one.place for one in recording.with_bytes_of(document) if one.place]
        found = (record_at(recording.crawl_dir / "pages", place).response for place in places)
        response = next(one for one in found if one.body)
        yield _entry(document, tuple(response.headers), response.body, token)


def _entry(document: Document, headers: tuple[tuple[str, str], ...], body: bytes, token: int) -> Entry:
    url = document.url
    page = parse(body, url, document.content_type, PROTOCOLS)
    lease = Lease(document.id, url, url, server(url), token)
    fetch = Fetch(lease, "done", "document", document.fetched, 0.01, document.status, headers, body)
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    links = tuple(link._replace(rel="nofollow") for link in page.links) if page.nofollow else page.links
    return Entry(
        fetch,
        digest,
        links=links,
        text=None if page.noindex else index_text(page),
        noindex=page.noindex,
        archive=True,
        simhash=page.simhash,
    )
