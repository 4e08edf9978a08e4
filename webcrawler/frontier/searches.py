"""The frontiers of real-time searches: each search has its own, which is deleted when it ends or has died.

A search that dies leaves places of servers taken, and no other frontier knows of that: so all workers look
for dead searches.
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
MISSING_MS = 60_000  # for which a worker may be silent, as when its machine slept, before its frontier goes


def _nobody(worker: str) -> bool:
    return False


def enter(client: Client, name: str) -> None:
    """Registers a search whose worker has said that it lives."""
    client.zadd(KEY, {name: now_ms(client, BASE)})


def leave(client: Client, name: str) -> None:
    """Deletes a search's frontier; what it found is in catalog and index.

    Raises:
        BadInput: a worker of it is alive.
    """
    clear(Frontier(client, ordering("fifo"), name), with_servers=False)
    client.zrem(KEY, name)


def look_after(client: Client, is_dead: Callable[[str], bool] = _nobody) -> None:
    """Gives back what dead searches hold, and deletes those that have been silent for long.

    Args:
        is_dead: is a worker known to be dead? Its search is deleted at once.
    """
    known = client.zrange(KEY, 0, -1, withscores=True)
    now = now_ms(client, BASE) if known else 0
    for name, seen_ms in known:
        frontier = Frontier(client, ordering("fifo"), name.decode())
        known_dead = [is_dead(worker) for worker in frontier.workers()]
        while frontier.expire_dead(is_dead):  # 1,000 a call
            pass
        if frontier.workers():
            client.zadd(KEY, {name: now}, xx=True)
        elif any(known_dead) or now - seen_ms > MISSING_MS:
            with suppress(BadInput):  # it has just come back
                leave(client, name.decode())
