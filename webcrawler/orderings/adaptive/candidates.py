"""URLs that wait, with what speaks for each: numbers side by side, a row a URL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.adaptive.growable import Column
from webcrawler.records import Link

TOKENS = 12  # of anchor and URL, kept for each
PARENTS = 4  # pages that link to it, kept for each
SPARE = 4_096  # free rows that do no harm
NEVER = -(2**40)  # told no priority yet


class Candidates:
    """Rows stand in the order in which their URLs were first seen."""

    def __init__(self) -> None:
        self.links: list[Link | None] = []
        self._row: dict[int, int] = {}  # by URL id
        self._changed: set[int] = set()  # rows
        self.server, self.directory = Column(0, np.int32), Column(0, np.int32)
        self.tokens = Column(0, np.int32, TOKENS)  # numbers, 0: none
        self.parents = Column(0, np.int32, PARENTS)  # page numbers, 0: none
        self.anchor, self.context, self.url = Column(), Column(), Column()  # matches, 0 to 1: the best
        self.parent = Column()  # the highest score of a page that links to it
        self.hub, self.links_in = Column(), Column()
        self.score = Column(0, np.float64)  # when it was reckoned last
        self.told = Column(NEVER, np.int64)  # the priority that the frontier has
        self.waits = Column(False, np.bool_)
        self._columns = [column for column in vars(self).values() if isinstance(column, Column)]

    def __len__(self) -> int:
        return len(self._row)

    def row(self, id: int) -> int | None:
        return self._row.get(id)

    def add(self, link: Link) -> int:
        """A row for a URL that has none."""
        row = len(self.links)
        self.links.append(link)
        for column in self._columns:
            column.reach(row)
        self._row[link.id] = row
        self.waits.rows[row] = True
        self._changed.add(row)
        return row

    def drop(self, id: int) -> None:
        """It waits no longer, or is not looked at any more."""
        row = self._row.pop(id)
        self.links[row] = None
        self.waits.rows[row] = False
        self._changed.discard(row)

    def tidy(self) -> None:
        """Close up the rows, where most are free: all of them get other numbers."""
        if len(self.links) < 2 * len(self._row) + SPARE:
            return
        rows = self.rows()
        for column in self._columns:
            column.keep(rows)
        self.links = [self.links[row] for row in rows]
        self._row = {link.id: row for row, link in enumerate(self.links) if link}
        self._changed.clear()

    def rows(self) -> NDArray[Any]:
        """Of all that wait, first seen first."""
        return np.flatnonzero(self.waits.rows)

    def changed(self, row: int) -> None:
        """Something speaks for it that did not."""
        self._changed.add(row)

    def take_changed(self) -> NDArray[Any]:
        """The rows that were added or changed since this was asked last, in their order."""
        changed, self._changed = self._changed, set()
        return np.array(sorted(changed), np.int64)

    def links_of(self, rows: Iterable[int]) -> list[Link]:
        return [link for row in rows if (link := self.links[row])]

    def linked_by(self, row: int, page: int) -> None:
        """One more page links to it; of many, the last are kept."""
        count = int(self.links_in.rows[row])
        self.parents.rows[row, count % PARENTS] = page
        self.links_in.rows[row] = count + 1
