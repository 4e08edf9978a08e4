"""The frontier: URLs known and not yet fetched, and what has become of the others."""

from __future__ import annotations

from collections.abc import Sequence

from webcrawler.frontier.completion import Deciding
from webcrawler.frontier.leases import UNLIMITED
from webcrawler.frontier.messages import Done, Leased
from webcrawler.frontier.servers import Servers
from webcrawler.frontier.workers import Workers


class Frontier(Deciding, Workers, Servers):
    """One named frontier. Every method is one round trip, or one per 1,000 links.

    Several processes share one frontier. Several threads may share an instance, but for `discover` and
    `complete`, which want one each.

    Args:
        client: that answers in bytes; a client of its own, as new connections of it are told to the frontier.
        ordering: gives URLs their first priority.
        worker: under whose name URLs are leased; host and process id by default.
        partitions: slots of a frontier that is still to be filled; 0: as it was made, else one.
    """

    def complete_and_lease(self, done: Sequence[Done], limit: int) -> tuple[list[int], Leased]:
        """`complete`, then `lease`: in one round trip where there is one partition and all fits one call.

        For crawls in exact order, where nothing is leased ahead; `done` is a few pages. What is to go behind
        all others (`Budgets.repeats`) goes there after the lease, then.
        """
        if len(self.partitions) > 1 or not done:
            return self.complete(done), self.lease(limit)
        before, prepared = self.connections, self._prepared(done)
        decided, leased = self.run(
            [*self._complete_calls(prepared), *self._lease_calls(self.partitions, limit, UNLIMITED)]
        )
        answers = self._decided(prepared, [decided])
        if self.connections != before:  # what was left out may be unknown there
            taken = zip(done, answers, strict=True)
            self.discover(link for one, new in taken if new >= 0 for link in one.links)
        return answers, self._leased([leased])
