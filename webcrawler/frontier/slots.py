"""The keys of one frontier in Redis: in how many partitions they lie, and how operations reach them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar

from redis.cluster import RedisCluster

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier.scripts import Argument, Call, Client, Partition, run
from webcrawler.frontier.wire import milliseconds

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
        return self[0] if len(self) == 1 else self[_hashed(urls.registrable_domain(server), len(self))]

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
def _hashed(domain: str, number: int) -> int:
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest()) % number


class Slots:
    """What the parts of a `Frontier` share: its client, name and partitions, and what it knows of servers.

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
        return int(self._stored("partitions") or 0)

    def stored_mode(self) -> str:
        return self._stored("mode")

    def _stored(self, field: str) -> str:
        first = Partitions.of(self.name, 1)[0]
        return (self.client.hget(first.prefix + "meta", field) or b"").decode(errors="replace")

    def store(self, meta: Mapping[str, str | int]) -> None:
        for partition in self.partitions:
            self.client.hset(partition.prefix + "meta", mapping=meta)

    def has_seen(self, partitions: int = 0) -> bool:
        own = Partitions.of(self.name, partitions) if partitions else self.partitions
        return any(int(self.client.hget(one.prefix + "counts", "seen") or 0) for one in own)

    def keys_of(self, start: str) -> Iterable[str]:
        pattern = start.replace("{", "\\{") + "*"
        return (key.decode() for key in self.client.scan_iter(match=pattern, count=1000))

    def servers(self) -> list[str]:
        names = (self.client.hkeys(partition.prefix + "taken") for partition in self.partitions)
        return [name.decode() for name in chain.from_iterable(names)]

    def block(self, server: str, blocked: bool) -> int:
        partition, decided = self.partitions.of_server(server), 0
        while some := self.run([Call(partition, "block", (server, int(blocked)))])[0]:
            decided += int(some)
        return decided

    def postpone(self, server: str, seconds: float, crawl_delay: float | None) -> None:
        delay: Argument = "" if crawl_delay is None else milliseconds(crawl_delay)
        partition = self.partitions.of_server(server)
        self.run([Call(partition, "postpone", (server, milliseconds(seconds), delay))])
