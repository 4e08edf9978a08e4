"""Writes batches: one transaction, and about forty statements, however many links there are."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from webcrawler.archive.catalog._database import (
    URL,
    as_json,
    insert_many,
    newest_url,
    run,
    sweep,
    transaction,
)
from webcrawler.archive.catalog._likeness import SAMPLED, choose_originals, is_near, mark_near_duplicates
from webcrawler.archive.catalog._rows import (
    COLUMNS,
    Arrival,
    Row,
    Verdict,
    batch_row,
    joined,
    named,
    outlinks,
    runs,
    sitemap_row,
    spelling_of,
    told_row,
)
from webcrawler.clock import now
from webcrawler.records import Entry, Lease, Link
from webcrawler.scope import Patterns, Scope, Watched
from webcrawler.urls import split

REMEMBERED = 250_000  # page numbers by URL id, about 160 bytes each
FINDS = "SELECT f.number, u.id FROM finds f JOIN urls u ON u.number = f.number WHERE f.job = ? LIMIT ?"
BLOCK = """INSERT INTO servers (name, blocked) VALUES (?, 1)
    ON CONFLICT (name) DO UPDATE SET blocked = 1 WHERE NOT blocked"""
UNBLOCK = "UPDATE servers SET blocked = 0 WHERE name = ? AND blocked"
TOUCHED = "number IN (SELECT number FROM touched)"
# As if they were gone.
TAKE_OUT = f"""INSERT INTO batch (position, number, found, fresh)
    SELECT d.number, d.number, 0, 1 {URL} JOIN documents d ON d.number = u.number
    WHERE d.{TOUCHED} AND (u.removed OR s.blocked)"""
# The anchor texts of all these pages may have changed, with the newest change.
RENAMED = """INSERT INTO unlinked (seq, target)
    SELECT (SELECT max(seq) FROM changes), number FROM touched"""
DISCARDED = 500  # finds to a transaction: other processes that write wait for it
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
# When a check may remove a document: the placeholders of checks.sql.
LIMITS: dict[str, Any] = {
    "missing_s": HOUR_S,
    "moved_s": 22 * HOUR_S,  # less than a day: a nightly crawl may start a little earlier than the last
    "lost_s": 14 * DAY_S,
    "incident_s": 22 * HOUR_S,
    "incident_share": 0.3,
    "incident_checks": 10,
}


class Writer:
    """What of `Catalog` writes; everything raises Unavailable where nothing was written, and may be repeated.

    Remembers page numbers: URLs are never deleted, so a committed number never changes.

    Args:
        job, limits, readonly: as for `Catalog`.
    """

    def __init__(
        self, db: sqlite3.Connection, scope: Watched, job: str, limits: Mapping[str, float], readonly: bool
    ) -> None:
        self._db, self._scope, self._job = db, scope, job
        self._limits = {**LIMITS, **limits}
        self._obeyed: Scope | None = None
        self._numbers: dict[int, int] = {}
        if readonly:
            return
        run(db, "batch.sql")
        if self._digest_of_removed() != scope.now().digest_of_removed:
            with transaction(db):
                self._obey()

    def write(self, arrivals: Sequence[Arrival]) -> Verdict:
        """Write a batch of fetches in one transaction, with the places of their WARC records.

        A fetch that was written before changes nothing. One under an older lease than the newest known, of a
        blocked server or a removed URL, goes into the history only; where leases cannot tell, the time of the
        fetch decides. A URL that comes twice is written in two steps.
        """
        prepared = [
            ([entry for entry, _ in part], [batch_row(*arrival) for arrival in part])
            for part in runs(arrivals)
        ]
        told = Verdict()
        if not arrivals:
            return told
        with self._all_or_nothing():
            for entries, rows in prepared:
                ids = [entry.fetch.lease.id for entry in entries]
                told = joined(told, ids, self._write_run(entries, rows))
        return told

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A transaction that may give URLs their page numbers."""
        try:
            sys.audit("webcrawler.catalog.before-begin")
            with transaction(self._db):
                sys.audit("webcrawler.catalog.after-begin")
                self._obey()
                before = newest_url(self._db)
                yield
                sweep(self._db, before)
                sys.audit("webcrawler.catalog.before-commit")
            sys.audit("webcrawler.catalog.after-commit")
        except BaseException:
            self._numbers.clear()  # the new ones were rolled back
            self._obeyed = None
            raise
        if len(self._numbers) > REMEMBERED:
            self._numbers.clear()

    def block(self, server: str) -> int:
        """Remove the documents and texts of a server, and store no new ones; returns how many were removed.

        Its links and the history stay; the changes take it out of the index.
        """
        with transaction(self._db):
            return self._take_out_of(server) if self._db.execute(BLOCK, (server,)).rowcount else 0

    def unblock(self, server: str) -> None:
        """Store what is fetched there from now on; what was removed comes back with its next fetch."""
        with transaction(self._db):
            if self._db.execute(UNBLOCK, (server,)).rowcount:
                self._take_out_of(server)

    def move_places(self, old: str, new: str, moved: Mapping[int, int]) -> None:
        """One WARC file has taken the place of another: old offsets and new ones; others have no record now.

        Reads the whole history.
        """
        with transaction(self._db):
            self._db.execute("DELETE FROM moved")
            insert_many(self._db, "INSERT INTO moved", list(moved.items()))
            run(self._db, "move-places.sql", old=old, new=new)

    def forget(self, named: Patterns) -> None:
        """Delete links, digests and errors of removed URLs, not when they were fetched."""
        with transaction(self._db):
            self._obey()
            rows = self._db.execute(f"SELECT u.number, s.name || u.path {URL} WHERE u.removed")
            self._touch([number for number, url in rows if named.match(url)])
            run(self._db, "forget.sql")

    def _touch(self, numbers: Sequence[int]) -> None:
        self._db.execute("DELETE FROM touched")
        insert_many(self._db, "INSERT INTO touched", [(number,) for number in numbers])

    def _obey(self) -> None:
        """Take out what the scope has removed since the last time, and let in again what it no longer has.

        Reads all URLs if anything has changed: about 2 s for a million.
        """
        scope = self._scope.now()
        if scope is self._obeyed:
            return
        if self._digest_of_removed() != scope.digest_of_removed:
            rows = self._db.execute(f"SELECT u.number, s.name || u.path, u.removed {URL}")
            changed = [number for number, url, removed in rows if scope.has_removed(url) != removed]
            self._touch(changed)
            self._db.execute(f"UPDATE urls SET removed = NOT removed WHERE {TOUCHED}")
            if changed:
                self._take_out()
            meta = ("removed", scope.digest_of_removed)
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta)
        self._obeyed = scope

    def _take_out_of(self, server: str) -> int:
        rows = self._db.execute(f"SELECT u.number {URL} WHERE s.name = ?", (server,))
        self._touch([number for (number,) in rows])
        return self._take_out()

    def _digest_of_removed(self) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = 'removed'").fetchone()
        return str(row[0]) if row else ""

    def _take_out(self) -> int:
        """Remove the documents in `touched` that are blocked or removed; returns how many.

        Removes their texts, keeps links and history, and passes texts on as when a page is gone.
        """
        self._clear_batch()
        removed = self._db.execute(TAKE_OUT).rowcount
        self._apply_batch()
        if not removed:  # other pages may still name these
            self._db.execute("INSERT INTO changes (number, kind) SELECT number, 'links' FROM touched LIMIT 1")
        self._db.execute(RENAMED)
        return removed

    def discard(self, numbers: Collection[int]) -> None:
        """Remove documents and texts, as others are worth more. Their links stay, else ranks would fall."""
        with transaction(self._db):
            self._clear_batch()
            run(self._db, "discard.sql", numbers=as_json(list(numbers)), now=now())
            self._apply_batch()

    def discard_finds(self, kept: Collection[int]) -> set[int]:
        """Remove the finds of this search, with their texts and links; the history stays.

        What other searches found too leaves with the last of them.

        Args:
            kept: ids of URLs that become part of the collection instead.
        Returns:
            The ids of the URLs that this search has let go.
        """
        with transaction(self._db):
            run(self._db, "keep-finds.sql", job=self._job, ids=as_json(kept))
        discarded: set[int] = set()
        while some := self._discard_some():
            discarded |= some
        return discarded

    def _discard_some(self) -> set[int]:
        with transaction(self._db):
            ids = dict(self._db.execute(FINDS, (self._job, DISCARDED)))  # by page number
            if ids:
                self._clear_batch()
                run(self._db, "discard-finds.sql", job=self._job, numbers=as_json(ids))
                run(self._db, "fresh.sql")
                run(self._db, "unlinked.sql")
                self._apply_batch()
        return set(ids.values())

    def _write_run(self, entries: list[Entry], rows: list[Row]) -> Verdict:
        """Write entries of different URLs."""
        db, numbers = self._db, self._numbers
        urls: list[Lease | Link] = []
        for entry in entries:
            urls += [entry.fetch.lease, *named(entry)]
        self._learn_numbers(urls)
        sys.audit("webcrawler.catalog.numbered")
        pages = [numbers[entry.fetch.lease.id] for entry in entries]
        batch = [(place, page, *row) for place, (page, row) in enumerate(zip(pages, rows, strict=True))]
        self._clear_batch()
        insert_many(db, f"INSERT INTO batch ({COLUMNS})", batch)
        soft = self._soft_404s()
        run(db, "checks.sql", **self._limits)
        sys.audit("webcrawler.catalog.checked")
        links: list[Row] = []
        unchanged: set[int] = set()  # URL ids of sitemaps
        for place in sorted(json.loads(run(db, "fresh.sql").fetchone()[0])):
            page, entry = pages[place], entries[place]
            targets = () if place in soft else outlinks(entry)
            links += [(page, numbers[link.id], link.anchor, link.rel) for link in targets]
            if entry.fetch.reason == "sitemap" and self._write_sitemap(page, entry):
                unchanged.add(entry.fetch.lease.id)
        was = [page for page, entry in zip(pages, entries, strict=True) if entry.fetch.lease.was]
        before = self._links_before(was)
        insert_many(db, "INSERT OR IGNORE INTO links", links)
        run(db, "linked.sql")
        run(db, "unlinked.sql")
        sys.audit("webcrawler.catalog.linked")
        run(db, "mark-finds.sql", job=self._job)
        self._apply_batch()
        told = run(db, "history.sql", lambda: sys.audit("webcrawler.catalog.history")).fetchone()
        sys.audit("webcrawler.catalog.after-verdict")
        ids = [entry.fetch.lease.id for entry in entries]
        sets = [frozenset(ids[place] for place in places) for places in (*map(json.loads, told), soft)]
        links_before = {id: before[page] for id, page in zip(ids, pages, strict=True) if page in before}
        verdict = Verdict._make((*sets, links_before))
        return verdict._replace(unchanged=verdict.unchanged | unchanged)

    def _soft_404s(self) -> list[int]:
        """Store what probes brought, and turn checks that brought the same into 404s: their positions."""
        found = json.loads(run(self._db, "soft-404.sql").fetchone()[0])
        soft = [
            place
            for place, same_words, simhash, before, missing in found
            if (same_words or is_near(simhash, missing)) and not is_near(before, missing)
        ]
        if soft:
            self._db.execute(
                """UPDATE batch SET found = 0, state = 'failed', reason = 'not-found', error = 'a soft 404',
                    digest = NULL, simhash = NULL, packed = NULL
                WHERE position IN (SELECT value FROM json_each(?))""",
                (as_json(soft),),
            )
        return soft

    def _links_before(self, pages: list[int]) -> dict[int, frozenset[int]]:
        """Of the checked pages whose links are about to be replaced: the URL ids that they linked to."""
        query = """
            SELECT d.source, json_group_array(CAST(u.id AS TEXT))
            FROM dropped d JOIN urls u ON u.number = d.target
            WHERE d.source IN (SELECT value FROM json_each(?)) GROUP BY d.source"""
        rows = self._db.execute(query, (as_json(pages),)) if pages else ()
        return {page: frozenset(map(int, json.loads(ids))) for page, ids in rows}

    def _write_sitemap(self, page: int, entry: Entry) -> bool:
        """Write what a sitemap says; returns whether its bytes are those known before."""
        known: tuple[bytes | None] | None = self._db.execute(
            "SELECT digest FROM sitemaps WHERE number = ?", (page,)
        ).fetchone()
        told = [(place, *told_row(self._numbers[link.id], link)) for place, link in enumerate(named(entry))]
        insert_many(self._db, "INSERT INTO told (position, number, modified, of)", told)
        values = sitemap_row(entry)
        run(self._db, "sitemap.sql", lambda: sys.audit("webcrawler.catalog.sitemap"), number=page, **values)
        return known == (entry.digest,)

    def _learn_numbers(self, urls: Iterable[Lease | Link]) -> None:
        known = self._numbers
        unknown: dict[int, Lease | Link] = {}
        for one in urls:
            if one.id not in known:
                unknown.setdefault(one.id, one)  # the first spelling seen, as the frontier
        for level in (2, 1, 0):  # where most are found first: each look-up may read a page of the file
            of = f"FROM leveled_ids WHERE level = {level} AND id IN (SELECT value FROM json_each(?))"
            self._remember(f"SELECT id, number {of}", as_json(id for id in unknown if id not in known))
        self._db.execute("DELETE FROM batch_urls")
        scope = self._scope.now()
        rows = [
            (id, *split(one.url), scope.has_removed(one.url), spelling_of(one))
            for id, one in unknown.items()
            if id not in known
        ]
        insert_many(self._db, "INSERT INTO batch_urls (id, server, path, removed, spelling)", rows)
        before = newest_url(self._db)
        run(self._db, "number.sql")
        self._remember("SELECT id, number FROM urls WHERE number > ?", before)

    def _remember(self, query: str, value: str | int) -> None:
        """Remember the page numbers that a query gives beside URL ids, in one step (as `insert_many`)."""
        arrays = f"SELECT json_group_array(id), json_group_array(number) FROM ({query})"
        ids, numbers = map(json.loads, self._db.execute(arrays, (value,)).fetchone())
        self._numbers.update(zip(ids, numbers, strict=True))

    def _clear_batch(self) -> None:
        self._db.execute("DELETE FROM batch")
        self._db.execute("DELETE FROM vacated")

    def _apply_batch(self) -> None:
        """Apply `batch` to documents, texts and changes, and find originals and near-duplicates anew."""
        before = self._db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0]
        run(
            self._db,
            "apply.sql",
            lambda: sys.audit("webcrawler.catalog.statement"),
            before=before,
            sampled=SAMPLED,
        )
        choose_originals(self._db, before)
        mark_near_duplicates(self._db, before)
