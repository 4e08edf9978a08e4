"""What is known of waiting URLs and of their servers: growing columns of numbers, a row each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import UNTOLD
from webcrawler.records import Link

FIRST = 1_024  # rows of a column at the start; doubled when they are full
FLOATS = np.dtype(np.float32)
TOKENS = 12  # of anchor and URL, kept for each
PARENTS = 4  # pages that link to it, kept for each
SPARE = 4_096  # free rows that may stay
SERVERS_MAX = 100_000  # those beyond share number 0
VAIN = 1 / 3  # a failure or a redirect counts as so much of a document
UNKNOWN = 0.5  # chance of an answer where nothing is known


class Column:
    """An array with a value for each row; rows that were never set hold `fill`."""

    def __init__(self, fill: float = 0, dtype: Any = FLOATS, width: int = 0) -> None:
        self._fill = fill
        self.rows: NDArray[Any] = np.full((FIRST, width) if width else FIRST, fill, dtype)

    def reach(self, row: int) -> None:
        """Makes sure that there is such a row."""
        if row >= len(self.rows):
            more = np.full_like(self.rows, self._fill, shape=(row + 1, *self.rows.shape[1:]))
            self.rows = np.concatenate([self.rows, more])

    def keep(self, rows: NDArray[Any]) -> None:
        """Keeps only these rows, which become rows 0, 1, …"""
        kept = np.full_like(self.rows, self._fill)
        kept[: len(rows)] = self.rows[rows]
        self.rows = kept


class Numbers:
    """Numbers keys from 1 to a limit, in columns that grow with them; keys that come later have number 0."""

    def __init__(self, limit: int, *columns: Column | Means) -> None:
        self._limit, self._columns = limit, columns
        self._numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, key: Hashable) -> int:
        found = self._numbers.get(key)
        if found is None:
            if len(self._numbers) >= self._limit:
                return 0
            found = self._numbers[key] = len(self._numbers) + 1
            for column in self._columns:
                column.reach(found)
        return found


class Means:
    """Means of values by number, drawn towards an expected value while there are few."""

    def __init__(self) -> None:
        self.counts, self.sums = Column(), Column()

    def reach(self, number: int) -> None:
        self.counts.reach(number)
        self.sums.reach(number)

    def add(self, number: int, value: float) -> None:
        self.counts.rows[number] += 1
        self.sums.rows[number] += value

    def of(self, numbers: NDArray[Any], expected: Any, strength: float) -> NDArray[Any]:
        """The means, as if `strength` values of `expected` had come before."""
        counts, sums = self.counts.rows[numbers], self.sums.rows[numbers]
        return np.asarray((sums + strength * expected) / (counts + strength))


class Candidates:
    """URLs that wait; rows are in the order in which they were first seen."""

    def __init__(self) -> None:
        self.links: list[Link | None] = []
        self.row: dict[int, int] = {}  # by URL id
        self.changed: set[int] = set()  # rows of which something new is known since they were last taken
        self.server, self.directory = Column(0, np.int32), Column(0, np.int32)
        self.tokens = Column(0, np.int32, TOKENS)  # numbers, 0: none
        self.parents = Column(0, np.int32, PARENTS)  # page numbers, 0: none
        self.found_on = Column(0, np.int32)  # the number of the page that linked to it first, 0: none
        self.anchor, self.context, self.url = Column(), Column(), Column()  # matches, 0 to 1: the best
        self.parent = Column()  # the highest score of a page that links to it
        self.hub, self.links_in = Column(), Column()
        self.score = Column(0, np.float64)  # the last one
        self.told = Column(UNTOLD, np.int64)  # the priority that the frontier has
        self.waits = Column(False, np.bool_)
        self._columns = [column for column in vars(self).values() if isinstance(column, Column)]

    def add(self, link: Link) -> int:
        """Adds a row for a URL that has none."""
        row = len(self.links)
        self.links.append(link)
        for column in self._columns:
            column.reach(row)
        self.row[link.id] = row
        self.waits.rows[row] = True
        self.changed.add(row)
        return row

    def drop(self, id: int) -> None:
        """Removes a URL that waits no longer, or is to be forgotten."""
        row = self.row.pop(id)
        self.links[row] = None
        self.waits.rows[row] = False
        self.changed.discard(row)

    def tidy(self) -> None:
        """Removes free rows, if most are free; then all rows get other numbers."""
        if len(self.links) < 2 * len(self.row) + SPARE:
            return
        rows = self.rows()
        for column in self._columns:
            column.keep(rows)
        self.links = [self.links[row] for row in rows]
        self.row = {link.id: row for row, link in enumerate(self.links) if link}
        self.changed.clear()

    def rows(self) -> NDArray[Any]:
        """The rows of all URLs that wait, first seen first."""
        return np.flatnonzero(self.waits.rows)

    def take_changed(self) -> NDArray[Any]:
        """The changed rows, in their order; none is changed then."""
        changed, self.changed = self.changed, set()
        return np.array(sorted(changed), np.int64)

    def links_of(self, rows: Iterable[int]) -> list[Link]:
        return [link for row in rows if (link := self.links[row])]


class Servers:
    """Columns by server number; 0 stands for no server, and for those beyond SERVERS_MAX."""

    def __init__(self) -> None:
        self.rewards = Means()  # page scores of its documents
        self.answers = Means()  # 1 for each document or redirect, 0 for each failure
        self.reveals = Means()  # by document: servers that it made known
        self.leads = Means()  # of servers that it made known: 1 where the first URL tried answered, else 0
        self.named = Column()  # how well its name, or a link from another server, matches the query
        self.revealed_by = Column(0, np.int32)  # the server that first linked to it
        self._numbers = Numbers(SERVERS_MAX, *vars(self).values())

    def of(self, name: str, linked_from: int = 0) -> tuple[int, bool]:
        """The number of a server, and whether it is new; `linked_from` is the server that links to it."""
        known = len(self._numbers)
        number = self._numbers.of(name)
        if len(self._numbers) == known:
            return number, False
        self.revealed_by.rows[number] = linked_from
        if linked_from:
            self.reveals.sums.rows[linked_from] += 1
        return number, True

    def named_as(self, server: int, match: float) -> None:
        self.named.rows[server] = max(self.named.rows[server], match)

    def answered(self, server: int, did: bool) -> None:
        """A URL of a server was decided; the first one also tells of the server that linked to it first."""
        if self.answers.counts.rows[server] == 0:
            self.leads.add(int(self.revealed_by.rows[server]), float(did))
        self.answers.add(server, float(did))

    def visits(self, servers: NDArray[Any]) -> NDArray[Any]:
        """Documents fetched from each server, plus VAIN for each other URL that was decided."""
        documents = self.rewards.counts.rows[servers]
        return np.asarray(documents + VAIN * (self.answers.counts.rows[servers] - documents))

    def alive(self, servers: NDArray[Any]) -> NDArray[Any]:
        """The chance of an answer from each server.

        While it has few of its own, those of others count that were first linked from the same server.
        """
        revealers = self.revealed_by.rows[servers]
        return self.answers.of(servers, self.leads.of(revealers, UNKNOWN, 1.0), 1.0)

    def promise(self, servers: NDArray[Any]) -> NDArray[Any]:
        """How many new servers that answer another document of each may make known."""
        return np.asarray(self.reveals.of(servers, 0.0, 1.0) * self.leads.of(servers, UNKNOWN, 1.0))
