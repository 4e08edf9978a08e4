"""Which blocks of text repeat over the pages of a server."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import NamedTuple

from webcrawler.text import content

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
