"""What is known of servers: do they answer, are they about it, do they lead to others?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus.growing import Column, Means, Numbers

SERVERS_MAX = 100_000
VAIN = 1 / 3  # of a document: what a failure or a redirect teaches of a server


class Servers:
    """Columns by server number."""

    def __init__(self) -> None:
        self._numbers = Numbers(SERVERS_MAX)
        self.rewards = Means()  # page scores of its documents
        self.answers = Means()  # 1 for each document or redirect, 0 for each failure
        self.named = Column()  # how well its name, or a link from another server, names what is wanted
        self.revealed_by = Column(0, np.int32)  # the server that first linked to it
        self.reveals = Means()  # of a document: servers that it made known; their number
        self.leads = Means()  # of the servers it made known that were tried: 1 for each that has documents
        self._size = 0

    def of(self, name: str, source: int = 0) -> tuple[int, bool]:
        """The number of a server, and whether it is new; `source` is the server that links to it."""
        number = self._numbers.of(name)
        if number < self._size:
            return number, False
        self._size = number + 1
        for column in (self.rewards, self.answers, self.named, self.revealed_by, self.reveals, self.leads):
            column.reach(number)
        self.revealed_by.rows[number] = source
        return number, True

    def named_as(self, server: int, match: float) -> None:
        self.named.rows[server] = max(self.named.rows[server], match)

    def answered(self, server: int, has_document: bool) -> None:
        """A URL of it was decided; the first news is news of the server that led to it."""
        if self.answers.counts.rows[server] == 0:
            self.leads.add(int(self.revealed_by.rows[server]), float(has_document))
        self.answers.add(server, float(has_document))

    def visits(self, servers: NDArray[Any]) -> NDArray[Any]:
        """Documents, and what came to none counts for VAIN of one."""
        documents = self.rewards.counts.rows[servers]
        return np.asarray(documents + VAIN * (self.answers.counts.rows[servers] - documents))

    def alive(self, servers: NDArray[Any]) -> NDArray[Any]:
        """The chance of an answer: by its own record, else by that of others from the same source."""
        sources = self.revealed_by.rows[servers]
        return self.answers.of(servers, self.leads.of(sources, 0.5, 1.0), 1.0)

    def promise(self, servers: NDArray[Any]) -> NDArray[Any]:
        """New servers that a further document of each may make known, those that answer."""
        return self.reveals.of(servers, 0.0, 1.0) * self.leads.of(servers, 0.5, 1.0)
