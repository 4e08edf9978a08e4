"""Marks documents that nearly repeat an older one."""

from __future__ import annotations

import json
import sqlite3

from webcrawler.archive.catalog._database import insert_many, statements
from webcrawler.text import NEAR, distance

Candidate = tuple[int, int, int]  # since, page number, simhash

MARK = """
    UPDATE documents SET near_duplicate_of = (SELECT older FROM near WHERE near.number = documents.number)
    WHERE number IN (SELECT number FROM near)"""


class NearDuplicates:
    """Part of the writer's transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        (self._candidates,) = statements("near.sql")

    def mark(self, before: int) -> None:
        """Point each document of a batch, and all near to one, to the oldest that it nearly repeats."""
        found = json.loads(self._db.execute(self._candidates, {"before": before}).fetchone()[0])
        verdicts = ((number, known, _oldest_near(simhash, older)) for number, simhash, known, older in found)
        news = [(number, older) for number, known, older in verdicts if older != known]
        if news:
            self._db.execute("DELETE FROM near")
            insert_many(self._db, "INSERT INTO near (number, older)", news)
            self._db.execute(MARK)


def _oldest_near(simhash: int | None, older: list[Candidate]) -> int | None:
    # No distances in SQL: it has no count of bits, and a function of ours would want the GIL for each row.
    near = [(since, number) for since, number, other in older if distance(simhash or 0, other) <= NEAR]
    return min(near)[1] if near else None
