"""Which fetches a data folder must have: the newest that were durable there before they were decided.

So one can tell whether a catalog is older than the frontier, as that of a copy or a backup may be. Of several
folders that share a frontier, each has marks of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from webcrawler.frontier.frontier import Frontier

KIND = "marks:"
KEPT = 64  # more than there are workers on a folder, each of which may be about to tell of a batch


def mark(frontier: Frontier, folder: str, id: int, token: int) -> None:
    """Remember a fetch that is durable in that folder; before it is decided, lest a crash comes between.

    Args:
        id: of the URL.
        token: of the lease.
    """
    key = frontier.partitions[0].prefix + KIND + folder
    pipe = frontier.client.pipeline(transaction=False)
    pipe.lpush(key, f"{id} {token}")
    pipe.ltrim(key, 0, KEPT - 1)
    pipe.execute()


def marks(frontier: Frontier, folder: str) -> list[tuple[int, int]]:
    """Pairs of a URL id and the token of a lease."""
    found: Iterable[bytes] = frontier.client.lrange(frontier.partitions[0].prefix + KIND + folder, 0, -1)
    return [(int(id), int(token)) for id, token in map(bytes.split, found)]


def folders(frontier: Frontier) -> set[str]:
    """Those that the frontier knows; reads the names of all keys of Redis."""
    prefix = frontier.partitions[0].prefix + KIND
    return {key.removeprefix(prefix) for key in frontier.keys_of(prefix)}
