"""The keys of one frontier in Redis: in which partitions they lie, and how operations reach them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, TypeVar

from redis.cluster import RedisCluster

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier.scripts import Call, Client, Partition, run

SHARED = ("server", "robots")  # kinds of keys that all frontiers share: no frontier can have such a name
T = TypeVar("T")


class Partitions(tuple[Partition, ...]):
    """The partitions of one frontier (Cho 1998, 5.1: 500 queues by a hash of the server's name).

    Servers of one registrable domain share a partition, so that the domain's budgets hold.
    """

    @classmethod
    def of(cls, name: str, number: int) -> Partitions:
        return cls(Partition(f"{{crawl:{n}}}:", f"{{crawl:{n}}}:{name}:") for n in range(number))

    def of_server(self, server: str) -> Partition:
        return self[0] if len(self) == 1 else self[_place(urls.registrable_domain(server), len(self))]

    def split(self, things: Iterable[T], server_of: Callable[[T], str]) -> dict[Partition, list[T]]:
        """Sorts things by the partition of their server; those of one partition stay in their order."""
        if len(self) == 1:
            found = list(things)
            return {self[0]: found} if found else {}
        by_partition: dict[Partition, list[T]] = {}
        for thing in things:
            by_partition.setdefault(self.of_server(server_of(thing)), []).append(thing)
        return by_partition


@lru_cache(maxsize=16_384)
def _place(domain: str, number: int) -> int:
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest()) % number


class Slots:
    """What the parts of a `Frontier` share: its client, its name and its partitions.

    Args:
        client: answers in bytes; for this frontier alone, as its new connections are counted.
        partitions: their number if the frontier is still empty; 0: as it was made, else one.
    Raises:
        BadInput: the name has other characters, or is taken.
    """

    def __init__(self, client: Client, name: str, partitions: int = 0) -> None:
        if name in SHARED or not re.fullmatch(r"[\w.:-]+", name):
            raise BadInput(
                f"no frontier can be called {name!r}: letters, digits, . - and _; set FRONTIER_NAME"
            )
        self.client, self.name = client, name
        self.connections = 0  # made so far, not counting those made before this object was
        self._wanted = partitions
        if isinstance(client, RedisCluster):
            client.user_on_connect_func = lambda _: self.connected()  # redis-py's own place for it
        else:
            client.connection_pool.connection_kwargs["redis_connect_func"] = self._connect

    def _connect(self, connection: Any) -> None:
        connection.on_connect()
        self.connected()

    def connected(self) -> None:
        """Called for each new connection. A Redis that died may have come back without its last writes."""
        self.connections += 1

    def run(self, calls: Iterable[Call]) -> list[Any]:
        """Runs operations in one round trip; answers in their order."""
        return run(self.client, calls)

    @cached_property
    def partitions(self) -> Partitions:
        return Partitions.of(self.name, self._wanted or self.stored_partitions() or 1)

    def stored_partitions(self) -> int:
        """The number of partitions that it was made with; 0: it was not made yet."""
        return int(self.stored("partitions") or 0)

    def stored(self, field: str) -> str:
        """What the frontier was made with: `mode`, `partitions` or `turns`; "": it was not made yet."""
        first = Partitions.of(self.name, 1)[0]
        return (self.client.hget(first.prefix + "meta", field) or b"").decode(errors="replace")
