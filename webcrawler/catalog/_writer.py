"""Writes batches: one transaction, and about thirty statements whatever the number of links."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from webcrawler.catalog._database import insert_many, statements, transaction
from webcrawler.catalog._rows import COLUMNS, Arrival, Row, batch_row, outlinks, runs
from webcrawler.records import Entry
from webcrawler.urls import split

REMEMBERED = 250_000  # page numbers by URL id, about 160 bytes each

NUMBER_SERVERS = (
    "INSERT OR IGNORE INTO servers (name) SELECT DISTINCT server FROM batch_urls ORDER BY position"
)
NUMBER_URLS = """
    INSERT OR IGNORE INTO urls (id, server, path)
    SELECT b.id, s.number, b.path FROM batch_urls b JOIN servers s ON s.name = b.server ORDER BY b.position"""
NUMBERS = """
    SELECT json_group_object(CAST(u.id AS TEXT), u.number) FROM batch_urls b JOIN urls u ON u.id = b.id"""
MARK_STALE = """
    UPDATE batch SET fresh = 0
    WHERE EXISTS (SELECT 1 FROM fetches f
                  WHERE f.number = batch.number AND f.fetched >= batch.fetched AND f.found IS NOT NULL)"""
FRESH = "SELECT json_group_array(position) FROM batch WHERE fresh"
DROP_LINKS = "DELETE FROM links WHERE source IN (SELECT number FROM batch WHERE fresh)"
DUPLICATES = """
    SELECT json_group_array(b.position)
    FROM batch b JOIN documents d ON d.number = b.number
    WHERE b.found AND d.duplicate_of IS NOT NULL"""


class Writer:
    """Remembers page numbers: URLs are never deleted, so what is committed holds for ever."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._numbers: dict[int, int] = {}
        self._apply = statements("apply.sql")
        for statement in statements("batch.sql"):
            db.execute(statement)

    def write(self, arrivals: Sequence[Arrival]) -> frozenset[int]:
        """As `Catalog.write`. A URL that comes twice is written in two steps of the same transaction."""
        prepared = [
            ([entry for entry, _ in run], [batch_row(*arrival) for arrival in run]) for run in runs(arrivals)
        ]
        duplicates: dict[int, bool] = {}
        try:
            with transaction(self._db):
                for entries, rows in prepared:
                    duplicates.update(self._write_run(entries, rows))
        except BaseException:
            self._numbers.clear()  # the new ones are undone
            raise
        if len(self._numbers) > REMEMBERED:
            self._numbers.clear()
        return frozenset(id for id, is_duplicate in duplicates.items() if is_duplicate)

    def _write_run(self, entries: list[Entry], rows: list[Row]) -> dict[int, bool]:
        self._learn_numbers(entries)
        self._fill_batch(entries, rows)
        self._replace_links(entries)
        before = self._db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0]
        for statement in self._apply:
            self._db.execute(statement, {"before": before})
        duplicates = set(json.loads(self._db.execute(DUPLICATES).fetchone()[0]))
        return {entry.fetch.lease.id: place in duplicates for place, entry in enumerate(entries)}

    def _learn_numbers(self, entries: list[Entry]) -> None:
        known = self._numbers
        unknown: dict[int, str] = {}
        for entry in entries:
            lease = entry.fetch.lease
            if lease.id not in known:
                unknown[lease.id] = lease.url
            unknown.update({link.id: link.url for link in outlinks(entry) if link.id not in known})
        self._db.execute("DELETE FROM batch_urls")
        rows = [(id, *split(url)) for id, url in unknown.items()]
        insert_many(self._db, "INSERT INTO batch_urls (id, server, path)", rows)
        self._db.execute(NUMBER_SERVERS)
        self._db.execute(NUMBER_URLS)
        learnt = json.loads(self._db.execute(NUMBERS).fetchone()[0])
        known.update({int(id): number for id, number in learnt.items()})

    def _fill_batch(self, entries: list[Entry], rows: list[Row]) -> None:
        numbers = [self._numbers[entry.fetch.lease.id] for entry in entries]
        batch = [(place, number, *row) for place, (number, row) in enumerate(zip(numbers, rows, strict=True))]
        self._db.execute("DELETE FROM batch")
        self._db.execute("DELETE FROM vacated")
        insert_many(self._db, f"INSERT INTO batch ({COLUMNS})", batch)
        self._db.execute(MARK_STALE)

    def _replace_links(self, entries: list[Entry]) -> None:
        self._db.execute(DROP_LINKS)
        fresh = json.loads(self._db.execute(FRESH).fetchone()[0])
        numbers = self._numbers
        rows: list[Row] = []
        for entry in (entries[position] for position in sorted(fresh)):
            source = numbers[entry.fetch.lease.id]
            rows += [(source, numbers[link.id], link.anchor, link.rel) for link in outlinks(entry)]
        insert_many(self._db, "INSERT OR IGNORE INTO links", rows)
