"""Frontiers of real-time searches: each has one of its own, which goes when the search is over or has died.

A search that dies leaves places of servers taken, which no other frontier knows of: so all workers look
after it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from webcrawler.errors import BadInput
from webcrawler.frontier.frontier import Frontier
from webcrawler.frontier.maintenance import clear
from webcrawler.frontier.scripts import Client, now_ms
from webcrawler.orderings import ordering

BASE = "{crawl:0}:"
KEY = f"{BASE}searches"
MISSING_MS = 60_000  # that a worker may be silent, as when its machine was asleep, before its frontier goes


def _nobody(worker: str) -> bool:
    return False


def enter(client: Client, name: str) -> None:
    """A search begins; its worker has said that it lives."""
    client.zadd(KEY, {name: now_ms(client, BASE)})


def leave(client: Client, name: str) -> None:
    """Forgets a search, of which nobody is at work; what it found is in catalog and index.

    Raises:
        BadInput: somebody is.
    """
    clear(Frontier(client, ordering("fifo"), name), with_servers=False)
    client.zrem(KEY, name)


def look_after(client: Client, is_dead: Callable[[str], bool] = _nobody) -> None:
    """Gives back what dead searches hold, and forgets those that are dead for long, or known to be."""
    known = client.zrange(KEY, 0, -1, withscores=True)
    now = now_ms(client, BASE) if known else 0
    for name, seen_ms in known:
        frontier = Frontier(client, ordering("fifo"), name.decode())
        known_dead = [is_dead(worker) for worker in frontier.workers()]
        while frontier.expire_dead(is_dead):  # so many a call
            pass
        if frontier.workers():
            client.zadd(KEY, {name: now}, xx=True)
        elif any(known_dead) or now - seen_ms > MISSING_MS:
            with suppress(BadInput):  # it has come back in this moment
                leave(client, name.decode())
