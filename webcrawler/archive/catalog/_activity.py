"""What the crawl has done lately, for those who watch it."""

from __future__ import annotations

import sqlite3


class Activity:
    """The part of `Catalog` that counts."""

    _db: sqlite3.Connection

    def count_documents(self) -> int:
        """Duplicates and noindex pages included; reads the whole table of documents."""
        return int(self._db.execute("SELECT count(*) FROM documents").fetchone()[0])

    def fetched_lately(
        self, after_seq: int, since: float, bin_seconds: int, most: int
    ) -> tuple[int, dict[int, int]]:
        """How many documents were fetched in each bin of time.

        Args:
            after_seq: only the changes after that one are looked at, and of them the newest `most`.
        Returns:
            The last seq looked at, and documents by the number of the bin: time // bin_seconds.
        """
        last = int(self._db.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchone()[0])
        query = """
            SELECT CAST(d.fetched / ? AS INTEGER), count(*)
            FROM (SELECT number FROM changes WHERE seq > ? AND seq <= ? ORDER BY seq DESC LIMIT ?) c
            JOIN documents d ON d.number = c.number
            WHERE d.fetched >= ? GROUP BY 1"""
        return last, dict(self._db.execute(query, (bin_seconds, after_seq, last, most, since)))

    def outcomes(self) -> dict[str, int]:
        """Fetches by "state/reason", but those that are tried again; reads the whole history."""
        query = "SELECT state || '/' || reason, count(*) FROM fetches WHERE NOT retry GROUP BY 1 ORDER BY 1"
        return dict(self._db.execute(query))
