"""URLs that wait, with what speaks for each: numbers side by side, a row a URL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus.growing import Column
from webcrawler.records import Link

TOKENS = 12  # of anchor and URL, kept for each
PARENTS = 4  # pages that link to it, kept for each
NEVER = -(2**40)  # told no priority yet


class Candidates:
    """Rows are used again when their URL is decided."""

    def __init__(self) -> None:
        self.links: list[Link | None] = []
        self._row: dict[int, int] = {}  # by URL id
        self._free: list[int] = []
        self.server, self.directory = Column(0, np.int32), Column(0, np.int32)
        self.tokens = Column(0, np.int32, TOKENS)  # numbers, 0: none
        self.parents = Column(0, np.int32, PARENTS)  # page numbers, 0: none
        self.anchor, self.context, self.url = Column(), Column(), Column()  # matches, 0 to 1: the best
        self.parent = Column()  # the highest score of a page that links to it
        self.best = Column()  # the best of its links, page and anchor together
        self.hub, self.depth, self.links_in = Column(), Column(), Column()
        self.told = Column(NEVER, np.int64)  # the priority that the frontier has
        self.age = Column(0, np.int64)  # when it was first seen
        self._columns = [column for column in vars(self).values() if isinstance(column, Column)]
        self._added = 0
        self._fresh: list[int] = []

    def __len__(self) -> int:
        return len(self._row)

    def row(self, id: int) -> int | None:
        return self._row.get(id)

    def add(self, link: Link) -> int:
        """A row for a URL that has none."""
        if self._free:
            row = self._free.pop()
            self.links[row] = link
        else:
            row = len(self.links)
            self.links.append(link)
        for column in self._columns:
            column.reach(row)
            column.clear(row)
        self._row[link.id] = row
        self._added += 1
        self._fresh.append(row)
        self.age.rows[row] = self._added
        return row

    def drop(self, id: int) -> None:
        """It waits no longer, or is not looked at any more."""
        row = self._row.pop(id)
        self.links[row] = None
        self._free.append(row)

    def take_fresh(self) -> NDArray[Any]:
        """The rows that were added since this was asked last."""
        fresh, self._fresh = self._fresh, []
        return np.array([row for row in dict.fromkeys(fresh) if self.links[row] is not None], np.int64)

    def rows(self) -> NDArray[Any]:
        """Of all that wait, first seen first."""
        rows = np.fromiter(self._row.values(), np.int64, len(self._row))
        return rows

    def linked_by(self, row: int, page: int) -> None:
        """One more page links to it, 0: one that did before; of many, the last are kept."""
        if not page:
            return
        count = int(self.links_in.rows[row])
        self.parents.rows[row, count % PARENTS] = page
        self.links_in.rows[row] = count + 1
