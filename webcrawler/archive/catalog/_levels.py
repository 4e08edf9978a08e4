"""Keeps the look-ups of URL ids and of fingerprints cheap to write, however large the catalog is.

They are log-structured: a row that comes to a random place of a large table costs a page of the file, and one
of the log. So rows are collected at level 0, then at level 1, and only neighbours move on, several to a page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from webcrawler.archive.catalog._database import run

# From levels 0 and 1: after so many new URLs, or changes of documents, a hand has gone around all keys.
# Half as many rows wait on an average, four a document; those of level 0 fit in the cache.
ID_TURNS = 2**15, 2**20
BAND_TURNS = 2**13, 2**18
IDS = 2**64
BANDS = 2**18


class Clock(NamedTuple):
    """What moves the hands, in the order of the rows that they move."""

    number: int  # of the newest URL
    seq: int  # of the newest change


def clock(db: sqlite3.Connection) -> Clock:
    query = "SELECT (SELECT coalesce(max(number), 0) FROM urls), (SELECT coalesce(max(seq), 0) FROM changes)"
    return Clock(*db.execute(query).fetchone())


def sweep(db: sqlite3.Connection, before: Clock) -> None:
    """Move on the rows whose keys the hands have passed since then; about as many as came to level 0.

    Run in the transaction that added them.

    Source: O'Neil et al. 1996, "The Log-Structured Merge-Tree"; the hand is LevelDB's `compact_pointer`.
    """
    now = clock(db)
    for level in (1, 0):  # in this order, no row moves twice
        for first, last in passed(before.number, now.number, ID_TURNS[level], IDS):
            run(db, "sweep-ids.sql", level=level, first=first - IDS // 2, last=last - IDS // 2)
        for first, last in passed(before.seq, now.seq, BAND_TURNS[level], BANDS):
            run(db, "sweep-bands.sql", level=level, first=first, last=last)


def passed(start: int, end: int, turn: int, keys: int) -> Iterator[tuple[int, int]]:
    """The first and the last keys of the ranges that a hand passes between two times.

    Args:
        turn: it goes around all keys in this time; divides `keys`.
    """
    first = start % turn * (keys // turn)
    last = first + min(end - start, turn) * (keys // turn) - 1
    if last >= first:
        yield first, min(last, keys - 1)
    if last >= keys:
        yield 0, last - keys
