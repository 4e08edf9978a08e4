"""The frontier: URLs known and not yet fetched, and what has become of the others."""

from __future__ import annotations

from webcrawler.frontier.deciding import Deciding
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
