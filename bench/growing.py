"""A catalog of made-up documents that grows: 36 links each, 31 to known URLs, to older ones more often.

`grow` adds rows without texts, as fast as SQLite takes them: a million documents in minutes. `batch` makes
entries for `Catalog.write`, with texts of 2,400 words; `pages` writes WARC files of small HTML.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.catalog._database import newest_url, sweep, transaction
from webcrawler.archive.pages import PageStore
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import url_id

STEP = 1_000  # documents to a transaction when the catalog grows: its look-ups are then as in a crawl
SYNCED = 500  # records
LINKS, NEW = 36, 5  # of a document, and those of them whose URLs nobody has named before
WORDS = [
    f"{a}{b}{c}" for a in ("ge", "ra", "no", "li") for b in ("ta", "mo", "sen") for c in ("ne", "ro", "x")
]
TYPE = (("content-type", "text/html"),)
random_numbers = np.random.default_rng(1)


def grow(path: Path, size: int) -> None:
    """Add documents until there are so many, in the order in which their URLs became known."""
    Catalog(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for pragma in ("synchronous = OFF", "cache_size = -200000", "wal_autocheckpoint = 16000"):
            db.execute(f"PRAGMA {pragma}")
        (documents,) = db.execute("SELECT count(*) FROM documents").fetchone()
        for start in range(documents, size, STEP):
            with transaction(db):
                before = newest_url(db)
                _add(db, range(start + 1, min(start + STEP, size) + 1))
                sweep(db, before)


def _add(db: sqlite3.Connection, sources: range) -> None:
    known = newest_url(db)
    new = range(known + 1, known + NEW * len(sources) + 1)
    servers = [(n, f"http://www.site{n:06}.example") for n in range(new[0] // 50, new[-1] // 50 + 1)]
    db.executemany("INSERT OR IGNORE INTO servers (number, name) VALUES (? + 1, ?)", servers)
    urls = ((n, url_id(_url(n)), n // 50 + 1, f"/pages/{n:08}.html") for n in new)
    db.executemany("INSERT INTO urls (number, id, server, path) VALUES (?, ?, ?, ?)", urls)
    rows = ((n, 1e9 + n, random.randbytes(20), n, random.getrandbits(63)) for n in sources)
    insert = """INSERT INTO documents (number, fetched, status, content_type, digest, since, simhash,
        word_count, seconds, noindex) VALUES (?, ?, 200, 'text/html', ?, ?, ?, 2400, 0.1, 0)"""
    db.executemany(insert, rows)
    fetches = ((n, 1e9 + n, random.randbytes(20), n) for n in sources)
    insert = """INSERT INTO fetches (number, fetched, status, state, reason, retry, tries, found, seconds,
        digest, token) VALUES (?, ?, 200, 'done', 'document', 0, 0, 1, 0.1, ?, ?)"""
    db.executemany(insert, fetches)
    changes = ((n, n) for n in sources)
    db.executemany("INSERT INTO changes (seq, number, kind) VALUES (?, ?, 'insert')", changes)
    links = ((n, t, f"{WORDS[t % 36]} {t % 97}", "") for n in sources for t in _targets(n))
    db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)", links)
    db.executemany(
        "INSERT INTO inlinks (rowid, targets) "
        "SELECT source, group_concat(target, ' ') FROM links WHERE source = ? GROUP BY source",
        ((n,) for n in sources),
    )


def _url(number: int) -> str:
    return f"http://www.site{number // 50:06}.example/pages/{number:08}.html"


def _targets(source: int) -> list[int]:
    """Numbers of known pages, older ones more often, then of new ones."""
    known = NEW * (source - 1)
    old = (random_numbers.random(LINKS - NEW) ** 3 * known).astype(int) + 1
    return sorted({*old.tolist(), *range(known + 1, known + NEW + 1)} - {source})


def batch(documents: int, size: int) -> Iterator[Entry]:
    """The next documents of a catalog that has so many."""
    for number in range(documents + 1, documents + size + 1):
        links = [Link(_url(t), url_id(_url(t)), _url(t), f"{WORDS[t % 36]} {t}") for t in _targets(number)]
        text = Text(f"Page {number}", "", "", "", " ".join(random.choices(WORDS, k=2400)))
        fetch, simhash = _fetch(number), random.getrandbits(63)
        yield Entry(fetch, random.randbytes(20), links=tuple(links), text=text, simhash=simhash)


def pages(folder: Path, size: int) -> None:
    """Write the records of so many documents of 100 words, from the first one on."""
    with closing(PageStore(folder)) as store:
        for number in range(1, size + 1):
            anchors = (f'<a href="{_url(t)}">{WORDS[t % 36]} {t}</a>' for t in _targets(number))
            text = " ".join(random.choices(WORDS, k=100))
            body = f"<title>Page {number}</title><p>{text}</p>{' '.join(anchors)}".encode()
            store.append(Entry(_fetch(number, body), random.randbytes(20), archive=True))
            if number % SYNCED == 0 or number == size:
                store.sync()


def _fetch(number: int, body: bytes = b"") -> Fetch:
    own = _url(number)
    lease = Lease(url_id(own), own, own, own.partition("/pages")[0], number)
    return Fetch(lease, "done", "document", 1e9 + number, 0.1, 200, TYPE, body)
