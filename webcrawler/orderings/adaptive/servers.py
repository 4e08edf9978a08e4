"""What is known of servers: do they answer, are they about it, do they lead to others?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.adaptive.growable import Column, Means, Numbers

SERVERS_MAX = 100_000
VAIN = 1 / 3  # of a document: what a failure or a redirect teaches of a server
UNKNOWN = 0.5  # chance of an answer where nothing is known


class Servers:
    """Columns by server number; 0 stands for no server, and for those beyond SERVERS_MAX."""

    def __init__(self) -> None:
        self._numbers, self._size = Numbers(SERVERS_MAX), 1
        self.rewards = Means()  # page scores of its documents
        self.answers = Means()  # 1 for each document or redirect, 0 for each failure
        self.reveals = Means()  # by document: servers that it made known
        self.leads = Means()  # of servers that it made known: 1 where the first URL tried answered, else 0
        self.named = Column()  # how well its name, or a link from another server, names what is wanted
        self.revealed_by = Column(0, np.int32)  # the server that first linked to it

    def of(self, name: str, source: int = 0) -> tuple[int, bool]:
        """The number of a server, and whether it is new; `source` is the server that links to it."""
        number = self._numbers.of(name)
        if number < self._size:
            return number, False
        self._size = number + 1
        for column in (self.rewards, self.answers, self.reveals, self.leads, self.named, self.revealed_by):
            column.reach(number)
        self.revealed_by.rows[number] = source
        if source:
            self.reveals.sums.rows[source] += 1
        return number, True

    def named_as(self, server: int, match: float) -> None:
        self.named.rows[server] = max(self.named.rows[server], match)

    def answered(self, server: int, did: bool) -> None:
        """A URL of it was decided; the first news is news of the server that led to it."""
        if self.answers.counts.rows[server] == 0:
            self.leads.add(int(self.revealed_by.rows[server]), float(did))
        self.answers.add(server, float(did))

    def has_document(self, server: int, score: float) -> None:
        self.rewards.add(server, score)
        self.reveals.counts.rows[server] += 1

    def visits(self, servers: NDArray[Any]) -> NDArray[Any]:
        """Documents, and what came to none counts for VAIN of one."""
        documents = self.rewards.counts.rows[servers]
        return np.asarray(documents + VAIN * (self.answers.counts.rows[servers] - documents))

    def alive(self, servers: NDArray[Any]) -> NDArray[Any]:
        """The chance of an answer: by its own record, else by that of others from the same source."""
        sources = self.revealed_by.rows[servers]
        return self.answers.of(servers, self.leads.of(sources, UNKNOWN, 1.0), 1.0)

    def promise(self, servers: NDArray[Any]) -> NDArray[Any]:
        """New servers that a further document of each may make known, those that answer."""
        return np.asarray(self.reveals.of(servers, 0.0, 1.0) * self.leads.of(servers, UNKNOWN, 1.0))
