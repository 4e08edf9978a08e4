"""Which documents repeat others, nearly or to the byte, and which blocks of text repeat over a server?"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from typing import NamedTuple

from webcrawler.archive.catalog._database import LINKED, as_json, insert_many, run, statements
from webcrawler.archive.catalog._links import INLINKS
from webcrawler.records import FORM_AND_LINK
from webcrawler.text import NEAR, content, distance
from webcrawler.urls import registrable_domain, url_id

RIVALS = 10_000  # duplicates that are compared in one batch: some seconds
VOTERS = 1_000  # in-links of a page that are looked at: some milliseconds
TIMES = 2  # as many voters as the original has: a few links more or less change nothing
SAMPLED = 64  # pages of a server whose blocks are known
LEAST_PAGES = 4  # that have a block which repeats,
LEAST_SHARE = 1 / 8  # and how many of the sample: fewer may be copies of one page, such as its versions

SAMPLE = """
    FROM servers s CROSS JOIN blocks b ON b.server = s.number CROSS JOIN documents d ON d.number = b.number
    WHERE s.name = ? AND d.duplicate_of IS NULL AND d.near_duplicate_of IS NULL"""


class Repeats(NamedTuple):
    """What repeats over the pages of a server."""

    pages: int  # that say so, SAMPLED at most
    digests: frozenset[int]  # of blocks, as `content.digests` gives them


NO_REPEATS = Repeats(0, frozenset())


class Blocks:
    """Blocks of sampled pages. `Catalog.blocks` is one."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def repeats(self, server: str) -> Repeats:
        """Return what repeats over a server's pages; pages that repeat others do not count. Takes 1 ms."""
        pages, counts = 0, Counter[int]()
        for (packed,) in self._db.execute(f"SELECT b.digests {SAMPLE}", (server,)):
            pages += 1
            counts.update(content.unpacked(packed))
        least = max(LEAST_PAGES, pages * LEAST_SHARE)
        return Repeats(pages, frozenset(digest for digest, count in counts.items() if count >= least))

    def pages(self, server: str) -> int:
        """Return how many pages say what repeats, as `repeats` does."""
        return int(self._db.execute(f"SELECT count(*) {SAMPLE}", (server,)).fetchone()[0])


def mark_near_duplicates(db: sqlite3.Connection, before: int) -> None:
    """Point what has changed since then, and what was near to that, to the oldest that it nearly repeats."""
    found = json.loads(run(db, "near.sql", before=before).fetchone()[0])
    verdicts = ((number, known, _oldest_near(simhash, older)) for number, simhash, known, older in found)
    news = [(number, older) for number, known, older in verdicts if older != known]
    if news:
        db.execute("DELETE FROM near")
        insert_many(db, "INSERT INTO near (number, older)", news)
        db.execute(  # by number: with UPDATE FROM, SQLite reads all documents for it
            "UPDATE documents AS d SET near_duplicate_of ="
            " (SELECT older FROM near n WHERE n.number = d.number) WHERE number IN (SELECT number FROM near)"
        )


def is_near(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and distance(one, other) <= NEAR


def _oldest_near(simhash: int | None, older: list[tuple[int, int, int]]) -> int | None:
    """The oldest of (since, page number, simhash) that is near."""
    # Not in SQL: it cannot count bits, and a Python function would need the GIL for each row.
    near = [(since, number) for since, number, other in older if distance(simhash or 0, other) <= NEAR]
    return min(near)[1] if near else None


class Rival(NamedTuple):
    number: int
    id: int
    canonical: int | None
    server: str
    original: int | None


def choose_originals(db: sqlite3.Connection, before: int) -> None:
    """Let duplicates take the part of their originals where the evidence is for them.

    The original stays unless the first of these that decides speaks against it: its own canonical link names
    the duplicate; twice as many domains link to the duplicate; twice as many link to the home page of its
    server. The domains of the two have no vote, and what the duplicate says of itself is no evidence.

    Args:
        before: the last changes.seq of earlier batches.
    Weakness: links of whoever can make up many domains count.
    """
    homes, rivals = statements("rivals.sql")
    grown = []
    for home, server, name, voters in db.execute(homes).fetchall():
        now = len(_voters(db, home) - {registrable_domain(name)})
        if now >= max(1, TIMES * voters):
            db.execute("UPDATE servers SET voters = ? WHERE number = ?", (now, server))
            grown.append(server)
    values = {"before": before, "servers": as_json(grown), "most": RIVALS}
    for (number,) in db.execute(rivals, values).fetchall():
        rival = _rival(db, number)
        if rival.original and _prevails(db, rival, _rival(db, rival.original)):
            run(db, "take-over.sql", before=before, new=number, old=rival.original)


def _prevails(db: sqlite3.Connection, rival: Rival, original: Rival) -> bool:
    is_conceded, concedes = original.canonical == rival.id, rival.canonical == original.id
    if is_conceded != concedes:
        return is_conceded
    theirs = {registrable_domain(rival.server), registrable_domain(original.server)}
    for pages in ((rival.number, original.number), (_home(db, rival), _home(db, original))):
        votes, others = (len(_voters(db, page) - theirs) for page in pages)
        if max(votes, others) >= max(1, TIMES * min(votes, others)):
            return votes > others
    return False  # the one that was known first


def _rival(db: sqlite3.Connection, number: int) -> Rival:
    query = """
        SELECT d.number, u.id, d.canonical, s.name, d.duplicate_of
        FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server
        WHERE d.number = ?"""
    return Rival(*db.execute(query, (number,)).fetchone())


def _home(db: sqlite3.Connection, rival: Rival) -> int:
    """The page number of the server's home page; 0: nobody has named it."""
    found = db.execute("SELECT number FROM ids WHERE id = ?", (url_id(rival.server + "/"),)).fetchone()
    return int(found[0]) if found else 0


def _voters(db: sqlite3.Connection, number: int) -> set[str]:
    """The registrable domains that link to a page; of what is blocked or removed, and finds, none."""
    query = f"""
        SELECT DISTINCT s.name
        FROM (SELECT l.source {INLINKS} WHERE l.rel IN ('', '{FORM_AND_LINK}') AND {LINKED} LIMIT ?2) f
        JOIN urls u ON u.number = f.source JOIN servers s ON s.number = u.server
        WHERE NOT s.blocked AND NOT u.removed"""
    return {registrable_domain(name) for (name,) in db.execute(query, (number, VOTERS))}
