"""A catalog as a dump by URL: what it says, without page numbers and the order in which it was written."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

URL = "(SELECT s.name || u.path FROM urls u JOIN servers s ON s.number = u.server WHERE u.number = {})"
TABLES = {
    "urls": f"SELECT {URL.format('t.number')}, id, spelling, removed FROM urls t",
    "servers": "SELECT name, blocked FROM servers WHERE blocked OR number IN (SELECT server FROM urls)",
    "documents": f"""SELECT {URL.format("t.number")}, fetched, status, content_type, digest, simhash, etag,
        last_modified, word_count, seconds, noindex, checked, changed, text_digest,
        canonical, missing_since, failing_since, {URL.format("t.duplicate_of")},
        {URL.format("t.near_duplicate_of")}, file, "offset" FROM documents t""",
    "fetches": f"""SELECT {URL.format("t.number")}, fetched, status, state, reason, retry, tries, found,
        seconds, digest, error, file, "offset", token, changed, since, audit,
        conditional FROM fetches t""",
    "links": f"SELECT {URL.format('t.source')}, {URL.format('t.target')}, anchor, rel FROM links t",
    "texts": f"SELECT {URL.format('t.number')}, packed FROM texts t",
    "sitemaps": f"""SELECT {URL.format("t.number")}, of, fetched, digest, etag, last_modified
        FROM sitemaps t""",
    "signs": f"SELECT {URL.format('t.number')}, {URL.format('t.sitemap')}, modified, seen FROM signs t",
    "finds": f"SELECT {URL.format('t.number')}, job FROM finds t",
    "gone": f"SELECT {URL.format('t.number')} FROM gone t",
}


def dumped(crawl_dir: Path) -> dict[str, list[Any]]:
    """The rows of each table in an order that depends on nothing but them."""
    with closing(sqlite3.connect(f"file:{crawl_dir / 'catalog.sqlite'}?mode=ro", uri=True)) as db:
        return {table: sorted(db.execute(query), key=repr) for table, query in TABLES.items()}


def differences(
    before: dict[str, list[Any]], after: dict[str, list[Any]]
) -> dict[str, tuple[list[Any], list[Any]]]:
    """By table, the rows that are there in one of them only."""
    found = {
        table: (
            [row for row in rows if row not in after[table]],
            [row for row in after[table] if row not in rows],
        )
        for table, rows in before.items()
    }
    return {table: rows for table, rows in found.items() if rows != ([], [])}
