"""What does writing a page cost in a catalog of a million documents, and in an empty one?

    python bench/catalog.py [-n 1000000] [--folder DIR] [--json FILE]

A catalog grows to n documents by made-up rows: 36 links a document, of which 31 lead to known URLs, to older
ones more often. On the way, at 0, 10,000, 100,000 … documents, `Catalog.write` writes batches of 200 pages of
2,400 words: its processor time, and the bytes that the process writes, to the log and from there to the file.
Then the anchors of all pages that the last batch links to are read, as the follower does.
"""

import argparse
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.catalog._database import newest_url, sweep, transaction
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import url_id

BATCH, BATCHES = 200, 10
STEP = 1_000  # documents to a transaction when the catalog grows: its look-ups are then as in a crawl
LINKS, NEW = 36, 5  # of a document, and those of them whose URLs nobody has named before
WORDS = [
    f"{a}{b}{c}" for a in ("ge", "ra", "no", "li") for b in ("ta", "mo", "sen") for c in ("ne", "ro", "x")
]
random_numbers = np.random.default_rng(1)


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        path = Path(name) / "catalog.sqlite"
        rows = [_measured(path)]
        size = 10_000
        while size <= arguments.n:
            _grow(path, size)
            rows.append(_measured(path))
            size *= 10
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(f"{value:,.1f}" if value % 1 else f"{value:,.0f}" for value in row.values()))
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2))


def _url(number: int) -> str:
    return f"http://www.site{number // 50:06}.example/pages/{number:08}.html"


def _targets(source: int, known: int) -> list[int]:
    """Numbers of known pages, older ones more often, then of new ones."""
    old = (random_numbers.random(LINKS - NEW) ** 3 * known).astype(int) + 1
    return sorted({*old.tolist(), *range(known + 1, known + NEW + 1)} - {source})


def _grow(path: Path, size: int) -> None:
    """Add documents until there are so many, in the order in which their URLs became known."""
    print(f"growing to {size:,} documents", flush=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
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
    rows = ((n, random.randbytes(20), n, random.getrandbits(63)) for n in sources)
    insert = """INSERT INTO documents (number, fetched, status, content_type, digest, since, simhash,
        word_count, seconds, noindex) VALUES (?, 1e9, 200, 'text/html', ?, ?, ?, 2400, 0.1, 0)"""
    db.executemany(insert, rows)
    changes = ((n, n) for n in sources)
    db.executemany("INSERT INTO changes (seq, number, kind) VALUES (?, ?, 'insert')", changes)
    links = ((n, t, f"{WORDS[t % 36]} {t % 97}", "") for n in sources for t in _targets(n, NEW * n))
    db.executemany("INSERT OR IGNORE INTO links VALUES (?, ?, ?, ?)", links)
    db.executemany(
        "INSERT INTO inlinks (rowid, targets) "
        "SELECT source, group_concat(target, ' ') FROM links WHERE source = ? GROUP BY source",
        ((n,) for n in sources),
    )


def _measured(path: Path) -> dict[str, float]:
    """Write some batches more, and read anchors."""
    with closing(Catalog(path)) as catalog:
        documents = catalog.count_documents()
        batches = [list(_batch(documents + n * BATCH)) for n in range(BATCHES + 1)]
        catalog.write([(entry, None) for entry in batches[0]])  # learns what the process has to learn once
        before, started = _written(), time.process_time()
        for batch in batches[1:]:
            catalog.write([(entry, None) for entry in batch])
        pages = BATCH * BATCHES
        cpu, written = (time.process_time() - started) / pages, (_written() - before) / pages
        last = {link.id for entry in batches[-1] for link in entry.links}
        numbers = [number for number, id in enumerate(catalog.urls.ids().tolist(), 1) if id in last]
        started = time.process_time()
        anchors = sum(1 for _ in catalog.anchors.of(numbers))
        reading = time.process_time() - started
    return {
        "documents": documents,
        "ms a page": 1e3 * cpu,
        "kB a page": written / 1e3,
        "MB": path.stat().st_size / 1e6,
        "anchors read": anchors,
        "µs an anchor": 1e6 * reading / max(1, anchors),
    }


def _batch(documents: int) -> Iterator[Entry]:
    for number in range(documents + 1, documents + BATCH + 1):
        own = _url(number)
        links = [
            Link(_url(t), url_id(_url(t)), _url(t), f"{WORDS[t % 36]} {t}")
            for t in _targets(number, NEW * number)
        ]
        server = own.partition("/pages")[0]
        lease = Lease(url_id(own), own, own, server, 1)
        fetch = Fetch(lease, "done", "document", 1e9 + number, 0.1, 200, (("content-type", "text/html"),))
        text = Text(f"Page {number}", "", "", "", " ".join(random.choices(WORDS, k=2400)))
        yield Entry(
            fetch, random.randbytes(20), links=tuple(links), text=text, simhash=random.getrandbits(63)
        )


def _written() -> int:
    """Bytes that this process has written, to files of any kind."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=1_000_000, metavar="DOCUMENTS")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="for the catalog, 2 GB")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
