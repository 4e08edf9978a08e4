"""Writes batches: one transaction, and about forty statements whatever the number of links."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Sequence

from webcrawler.archive.catalog._database import insert_many, statements, transaction
from webcrawler.archive.catalog._rows import COLUMNS, Arrival, Row, Verdict, batch_row, outlinks, runs
from webcrawler.records import Entry
from webcrawler.text import NEAR, distance
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
# A lease that came later fences off the earlier, whatever it came to and whatever the clocks of workers say.
MARK_STALE = """
    UPDATE batch SET fresh = 0
    WHERE EXISTS (SELECT 1 FROM fetches f
                  WHERE f.number = batch.number
                    AND (f.token > batch.token
                         OR coalesce(f.token, batch.token) = batch.token
                            AND f.fetched >= batch.fetched AND f.found IS NOT NULL))
       OR EXISTS (SELECT 1 FROM urls u JOIN servers s ON s.number = u.server
                  WHERE u.number = batch.number AND s.blocked)"""
FRESH = "SELECT json_group_array(position) FROM batch WHERE fresh"
MARK_LINKED = """
    UPDATE batch SET linked = 1
    WHERE fresh AND NOT found AND EXISTS (SELECT 1 FROM links l WHERE l.source = batch.number)"""
# What these pages linked to, for those who follow links: rows stay of the links that do not come back.
NOTE_LINKS = """
    INSERT INTO dropped SELECT source, target FROM links
    WHERE source IN (SELECT number FROM batch WHERE fresh)"""
# Whose anchor texts may change though no link to them is new.
MARK_UNLINKED = """
    INSERT INTO unlinked (seq, target)
    SELECT (SELECT coalesce(max(seq), 0) + 1 FROM changes), number FROM (
        SELECT d.target AS number FROM dropped d
        WHERE NOT EXISTS (SELECT 1 FROM links l WHERE l.source = d.source AND l.target = d.target)
        UNION SELECT d.duplicate_of FROM batch b JOIN documents d ON d.number = b.number
        WHERE b.fresh AND d.duplicate_of IS NOT NULL
        UNION SELECT number FROM batch WHERE fresh AND NOT found)"""
# Where no page of the server became another document, or none: others may name its pages all the same.
MARK_SERVER = """
    INSERT INTO changes (number, kind)
    SELECT u.number, 'links' FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = ? LIMIT 1"""
RENAME_SERVER = """
    INSERT INTO unlinked (seq, target)
    SELECT (SELECT max(seq) FROM changes), u.number
    FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = ?"""
DROP_LINKS = "DELETE FROM links WHERE source IN (SELECT number FROM batch WHERE fresh)"
REPEATS = """
    SELECT json_group_array(b.position) FILTER (WHERE d.duplicate_of IS NOT NULL),
           json_group_array(b.position) FILTER (WHERE d.near_duplicate_of IS NOT NULL)
    FROM batch b JOIN documents d ON d.number = b.number
    WHERE b.found"""
MARK_NEAR = """
    UPDATE documents SET near_duplicate_of = (SELECT older FROM near WHERE near.number = documents.number)
    WHERE number IN (SELECT number FROM near)"""
BLOCK = """
    INSERT INTO servers (name, blocked) VALUES (?, 1)
    ON CONFLICT (name) DO UPDATE SET blocked = 1 WHERE NOT blocked"""
UNBLOCK = "UPDATE servers SET blocked = 0 WHERE name = ? AND blocked"
REMOVE = """
    INSERT INTO batch (position, number, found, fresh)
    SELECT d.number, d.number, 0, 1
    FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server
    WHERE s.name = ?"""


class Writer:
    """Remembers page numbers: URLs are never deleted, so what is committed holds for ever."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._numbers: dict[int, int] = {}
        self._apply, self._history = statements("apply.sql"), statements("history.sql")
        (self._near,) = statements("near.sql")
        for statement in statements("batch.sql"):
            db.execute(statement)

    def write(self, arrivals: Sequence[Arrival]) -> Verdict:
        """As `Catalog.write`. A URL that comes twice is written in two steps of the same transaction."""
        prepared = [
            ([entry for entry, _ in run], [batch_row(*arrival) for arrival in run]) for run in runs(arrivals)
        ]
        verdicts: dict[int, tuple[bool, bool]] = {}  # URL id: duplicate, near-duplicate
        try:
            sys.audit("webcrawler.catalog.before-begin")
            with transaction(self._db):
                sys.audit("webcrawler.catalog.after-begin")
                for entries, rows in prepared:
                    verdicts.update(self._write_run(entries, rows))
                sys.audit("webcrawler.catalog.before-commit")
            sys.audit("webcrawler.catalog.after-commit")
        except BaseException:
            self._numbers.clear()  # the new ones are undone
            raise
        if len(self._numbers) > REMEMBERED:
            self._numbers.clear()
        return Verdict(
            frozenset(id for id, (is_duplicate, _) in verdicts.items() if is_duplicate),
            frozenset(id for id, (_, is_near) in verdicts.items() if is_near),
        )

    def block(self, server: str) -> int:
        """As `Catalog.block`; keeps links and history, hands texts on as when a page is gone."""
        with transaction(self._db):
            is_new = self._db.execute(BLOCK, (server,)).rowcount > 0
            self._clear_batch()
            removed = self._db.execute(REMOVE, (server,)).rowcount
            self._apply_batch()
            if is_new and not removed:
                self._db.execute(MARK_SERVER, (server,))
            self._db.execute(RENAME_SERVER, (server,))
        return removed

    def unblock(self, server: str) -> None:
        with transaction(self._db):
            if self._db.execute(UNBLOCK, (server,)).rowcount:
                self._db.execute(MARK_SERVER, (server,))
                self._db.execute(RENAME_SERVER, (server,))

    def _write_run(self, entries: list[Entry], rows: list[Row]) -> dict[int, tuple[bool, bool]]:
        self._learn_numbers(entries)
        sys.audit("webcrawler.catalog.numbered")
        self._fill_batch(entries, rows)
        self._replace_links(entries)
        sys.audit("webcrawler.catalog.linked")
        self._apply_batch()
        for statement in self._history:
            self._db.execute(statement)
            sys.audit("webcrawler.catalog.history")
        duplicates, near = map(set, map(json.loads, self._db.execute(REPEATS).fetchone()))
        sys.audit("webcrawler.catalog.after-verdict")
        return {e.fetch.lease.id: (place in duplicates, place in near) for place, e in enumerate(entries)}

    def _apply_batch(self) -> None:
        before = self._db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0]
        for statement in self._apply:
            self._db.execute(statement, {"before": before})
            sys.audit("webcrawler.catalog.statement")
        self._mark_near_duplicates(before)

    def _mark_near_duplicates(self, before: int) -> None:
        """Point each document of a batch, and all near to one, to the oldest that it nearly repeats."""
        found = json.loads(self._db.execute(self._near, {"before": before}).fetchone()[0])
        verdicts = ((number, known, _oldest_near(simhash, older)) for number, simhash, known, older in found)
        news = [(number, older) for number, known, older in verdicts if older != known]
        if news:
            self._db.execute("DELETE FROM near")
            insert_many(self._db, "INSERT INTO near (number, older)", news)
            self._db.execute(MARK_NEAR)

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
        self._clear_batch()
        insert_many(self._db, f"INSERT INTO batch ({COLUMNS})", batch)
        self._db.execute(MARK_STALE)

    def _clear_batch(self) -> None:
        self._db.execute("DELETE FROM batch")
        self._db.execute("DELETE FROM vacated")

    def _replace_links(self, entries: list[Entry]) -> None:
        self._db.execute(MARK_LINKED)
        self._db.execute(NOTE_LINKS)
        self._db.execute(DROP_LINKS)
        fresh = json.loads(self._db.execute(FRESH).fetchone()[0])
        numbers = self._numbers
        rows: list[Row] = []
        for entry in (entries[position] for position in sorted(fresh)):
            source = numbers[entry.fetch.lease.id]
            rows += [(source, numbers[link.id], link.anchor, link.rel) for link in outlinks(entry)]
        insert_many(self._db, "INSERT OR IGNORE INTO links", rows)
        self._db.execute(MARK_UNLINKED)
        self._db.execute("DELETE FROM dropped")


def _oldest_near(simhash: int | None, older: list[tuple[int, int, int]]) -> int | None:
    """The oldest of (since, page number, simhash) that is near."""
    # No distances in SQL: it has no count of bits, and a function of ours would want the GIL for each row.
    near = [(since, number) for since, number, other in older if distance(simhash or 0, other) <= NEAR]
    return min(near)[1] if near else None
