"""One worker's membership of a frontier: from its first heartbeat to the return of its leases."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from types import TracebackType
from typing import Self

from webcrawler.connection import Connection, attempt, retry
from webcrawler.crawl.worker import parts
from webcrawler.crawl.worker.heartbeat import Heartbeat
from webcrawler.frontier import Budgets, Client, Frontier, Politeness, ordering, searches
from webcrawler.orderings import guarded


def bury_the_dead(connection: Connection, name: str = "index") -> None:
    """Takes back what dead processes of this machine hold, where all workers are of this machine."""
    if connection.embedded:
        Frontier(connection.client, ordering("fifo"), name).expire_dead(parts.is_dead_process)


def bury_searches(connection: Connection) -> None:
    """The same of real-time searches, which have frontiers of their own."""
    known = {"is_dead": parts.is_dead_process} if connection.embedded else {}
    searches.look_after(connection.client, **known)


class Member:
    """Closing it gives back what is leased, and blocks for as long as that takes.

    Args:
        partitions: as for Frontier.
    Raises:
        BadInput: there is no such mode, or the frontier was filled with another one.
    """

    def __init__(
        self,
        connection: Connection,
        mode: str,
        politeness: Politeness,
        budgets: Budgets,
        partitions: int,
        name: str = "index",
    ) -> None:
        self.connection = connection
        with ExitStack() as opened:
            self.frontier = Frontier(
                self._new_client(opened),
                guarded(mode),
                name,
                politeness,
                parts.worker_name(),
                budgets,
                partitions,
            )
            retry(lambda: self.frontier.open(mode), connection.revive)
            own = self.new_frontier(opened)
            heartbeat = retry(lambda: Heartbeat(own, connection.revive), connection.revive)
            opened.callback(sys.audit, "webcrawler.leave.after")
            opened.callback(attempt, self.frontier.leave, connection.revive)
            opened.callback(sys.audit, "webcrawler.leave.before")
            opened.callback(heartbeat.stop)
            self._opened = opened.pop_all()

    def new_frontier(self, opened: ExitStack) -> Frontier:
        """The same frontier for another thread, with connections of its own."""
        return self.frontier.on(self._new_client(opened))

    def _new_client(self, opened: ExitStack) -> Client:
        # Not sent twice: URLs leased by a call of which the answer was lost would be nobody's.
        return opened.enter_context(closing(self.connection.new_client(retries=0)))

    def close(self) -> None:
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
