"""Writes what other catalogs say: of each URL, what the newest fetch tells that could tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from webcrawler.archive.catalog._database import as_json, insert_many, run
from webcrawler.archive.catalog._rows import Row
from webcrawler.archive.catalog._source import BATCH, CHECKED, CONTENT, HISTORY, NEVER_TOLD, SEEN, Said
from webcrawler.archive.catalog._writer import Writer
from webcrawler.records import Link


class Copier(Writer):
    """Writes what other catalogs say."""

    def copy(self, said: Iterable[Said]) -> None:
        """As `Catalog.copy`."""
        best: dict[int, Said] = {}
        history: list[tuple[int, Row]] = []
        for one in said:
            id = one.link.id
            history += [(id, row) for row in one.history]
            if id not in best or one.verdict > best[id].verdict:
                best[id] = one
        with self._all_or_nothing():
            self._learn_numbers(chain.from_iterable((one.link, *one.links) for one in best.values()))
            self._copy_what_differs(list(best.values()))
            self._copy_history(history)

    def learn(self, urls: Sequence[Link]) -> None:
        """As `Catalog.learn`."""
        with self._all_or_nothing():
            self._learn_numbers(urls)

    def _copy_what_differs(self, said: list[Said]) -> None:
        db, numbers = self._db, self._numbers
        fresh = self._different([one for one in said if one.verdict != NEVER_TOLD or one.links])
        self._clear_batch()
        columns = ", ".join(("position, number, found, fresh, spelling, packed, blocks", *BATCH))
        insert_many(
            db,
            f"INSERT INTO batch ({columns})",
            [(place, numbers[one.link.id], *_batch_row(one)) for place, one in enumerate(fresh)],
        )
        run(db, "copied.sql")
        run(db, "spell.sql")
        run(db, "fresh.sql")
        links = [
            (numbers[one.link.id], numbers[link.id], link.anchor, link.rel)
            for one in fresh
            for link in one.links
        ]
        insert_many(db, "INSERT OR IGNORE INTO links", links)
        run(db, "linked.sql")
        run(db, "unlinked.sql")
        self._apply_batch()
        kept = (*SEEN, *CHECKED)
        db.executemany(
            f"UPDATE documents SET {', '.join(f'{name} = ?' for name in kept)} WHERE number = ?",
            [(*(one.document[name] for name in kept), numbers[one.link.id]) for one in said if one.document],
        )

    def _different(self, said: list[Said]) -> list[Said]:
        """Those whose documents are others than the catalog has; and all that are none."""
        query = f"""SELECT number, {", ".join(CONTENT)} FROM documents
            WHERE number IN (SELECT value FROM json_each(?))"""
        pages = as_json(self._numbers[one.link.id] for one in said)
        known = {number: tuple(row) for number, *row in self._db.execute(query, (pages,))}
        return [
            one
            for one in said
            if one.document is None
            or known.get(self._numbers[one.link.id]) != tuple(one.document[name] for name in CONTENT)
        ]

    def _copy_history(self, history: Sequence[tuple[int, Row]]) -> None:
        query = "SELECT coalesce(max(seq), 0) FROM fetches WHERE seq IS NOT NULL"
        seq = self._db.execute(query).fetchone()[0]
        insert_many(
            self._db,
            f"INSERT OR IGNORE INTO fetches (number, {', '.join(HISTORY)}, seq)",
            [(self._numbers[id], *row, seq + place) for place, (id, row) in enumerate(history, 1)],
        )


def _batch_row(one: Said) -> Row:
    """The columns of `batch` from `found` on."""
    document = one.document or {}
    spelling = one.link.spelling if one.link.spelling != one.link.url else None
    columns = (document.get(name) for name in BATCH)
    return one.document is not None, 1, spelling, one.packed, one.blocks, *columns
