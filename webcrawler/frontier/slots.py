"""A frontier's slots: how it is opened, and how operations reach them."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterable
from functools import cached_property
from shlex import quote
from typing import Any

from redis.cluster import RedisCluster

from webcrawler.errors import BadInput
from webcrawler.frontier.messages import Budgets, Politeness
from webcrawler.frontier.partitions import Partitions
from webcrawler.frontier.scripts import Call, Client, run
from webcrawler.orderings import Ordering

TAKEN = ("server", "robots")  # by what all frontiers share


class Slots:
    """What the parts of a `Frontier` stand on; its arguments are documented there."""

    def __init__(
        self,
        client: Client,
        ordering: Ordering,
        name: str = "index",
        politeness: Politeness | None = None,
        worker: str = "",
        budgets: Budgets | None = None,
        partitions: int = 0,
    ) -> None:
        if name in TAKEN or not re.fullmatch(r"[\w.:-]+", name):
            raise BadInput(
                f"no frontier can be called {name!r}: letters, digits, . - and _; set FRONTIER_NAME"
            )
        self.client = client
        self.ordering = ordering
        self.name = name
        self._wanted = partitions
        self.politeness = politeness or Politeness()
        self.budgets = budgets or Budgets()
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}"
        self.connections = 0  # made so far
        # A server that died may come back without its last writes: what it knew is then not known.
        # (Holds for connections made from now on: crawls give each frontier a client of its own.)
        _on_connect(client, self.connected)

    @cached_property
    def partitions(self) -> Partitions:
        return Partitions.of(self.name, self._wanted or self.stored_partitions() or 1)

    def stored_partitions(self) -> int:
        """In how many parts it was made; 0: it was not yet."""
        first = Partitions.of(self.name, 1)[0]
        return int(self.client.hget(first.prefix + "meta", "partitions") or 0)

    def stored_mode(self) -> str:
        """The mode that it was opened with last; "": it was not yet."""
        first = Partitions.of(self.name, 1)[0]
        return (self.client.hget(first.prefix + "meta", "mode") or b"").decode(errors="replace")

    def open(self, mode: str) -> None:
        """Claims the frontier for a mode.

        Raises:
            BadInput: it is not empty and was made with another mode, or with another number of partitions.
        """
        self._check_partitions()
        stored = self.stored_mode()
        if stored and stored != mode and self.has_seen():
            raise BadInput(
                f"the frontier was filled with mode={stored}: go on with -a mode={quote(stored)}, "
                f"change it with --rescore, or start anew after `scrapy frontier clear`"
            )
        self.set_mode(mode)

    def _check_partitions(self) -> None:
        stored = self.stored_partitions()
        if stored and self.has_seen(stored) and stored != len(self.partitions):
            raise BadInput(
                f"the frontier was made with FRONTIER_PARTITIONS={stored}: "
                f"set it so, or start anew after `scrapy frontier clear`"
            )

    def set_mode(self, mode: str) -> None:
        meta = {
            "mode": mode,
            "turns": int(self.ordering.servers_take_turns),
            "partitions": len(self.partitions),
        }
        for partition in self.partitions:
            self.client.hset(partition.prefix + "meta", mapping=meta)

    def has_seen(self, partitions: int = 0) -> bool:
        """Was any URL ever taken in?"""
        slots = Partitions.of(self.name, partitions) if partitions else self.partitions
        return any(int(self.client.hget(slot.prefix + "counts", "seen") or 0) for slot in slots)

    def connected(self) -> None:
        """Called for each new connection."""
        self.connections += 1

    def run(self, calls: Iterable[Call]) -> list[Any]:
        """Operations in one round trip, answers in their order."""
        return run(self.client, calls)

    def keys_of(self, start: str) -> Iterable[str]:
        """All keys that begin so; reads the names of all keys of Redis."""
        pattern = start.replace("{", "\\{") + "*"
        return (key.decode() for key in self.client.scan_iter(match=pattern, count=1000))


def _on_connect(client: Client, tell: Callable[[], None]) -> None:
    """Has somebody told of each new connection of a client."""

    def connected(line: Any) -> None:
        line.on_connect()
        tell()

    if isinstance(client, RedisCluster):
        client.user_on_connect_func = lambda _: tell()  # redis-py's own place for it
    else:
        client.connection_pool.connection_kwargs["redis_connect_func"] = connected
