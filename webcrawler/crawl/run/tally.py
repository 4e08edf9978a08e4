"""What the processes of one crawl have fetched, counted together."""

from __future__ import annotations

import fcntl
import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

COLUMNS = ("documents", "fetches", "added", "promised")
CELL_BYTES = 8


class Tally:
    """Counts in memory that processes share when they are forked; each changes its own row only.

    `documents` and `fetches` were decided, checks included; `added` is by how much the collection has grown;
    `promised` is how many URLs are leased, or about to be, that may yet be documents.

    Args:
        rows: how many processes.
    """

    def __init__(self, rows: int = 1) -> None:
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  (as long as the process lives)
        memory = mmap.mmap(-1, rows * len(COLUMNS) * CELL_BYTES)
        self._cells = memoryview(memory).cast("q")
        self.row = 0

    def add(self, column: str, number: int) -> None:
        self._cells[self._place(column, self.row)] += number

    def promise(self, number: int) -> None:
        """Say how many URLs of this process may yet be documents."""
        self._cells[self._place("promised", self.row)] = number

    def forget_promise(self, row: int) -> None:
        """A process has ended: what it held is somebody else's by now."""
        self._cells[self._place("promised", row)] = 0

    def has_turn(self, now: float) -> bool:
        """May this process lease where nearly all is promised that may still be fetched? A turn is a second.

        Else one that meets nothing but dead links could renew its promise, and keep others from the rest.

        Args:
            now: in seconds, by the same clock for all of them.
        """
        return (int(now) + self.row) % (len(self._cells) // len(COLUMNS)) == 0

    def total(self, column: str) -> int:
        return sum(self._cells[self._place(column, 0) :: len(COLUMNS)].tolist())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else promises anything meanwhile. A process that is killed holds nothing up."""
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def _place(self, column: str, row: int) -> int:
        return row * len(COLUMNS) + COLUMNS.index(column)
