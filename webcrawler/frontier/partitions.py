"""Which part of a frontier a server belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import TypeVar

from webcrawler import urls
from webcrawler.frontier.scripts import Partition

T = TypeVar("T")


class Partitions(tuple[Partition, ...]):
    """The slots of one frontier (Cho 1998, 5.1: 500 queues by a hash of the server's name).

    Servers of one registrable domain share a slot, so that the domain's budgets hold.
    """

    @classmethod
    def of(cls, name: str, number: int) -> Partitions:
        return cls(Partition(f"{{crawl:{n}}}:", f"{{crawl:{n}}}:{name}:") for n in range(number))

    def of_server(self, server: str) -> Partition:
        return self[0] if len(self) == 1 else self[_slot(urls.registrable_domain(server), len(self))]

    def split(self, things: Iterable[T], server_of: Callable[[T], str]) -> dict[Partition, list[T]]:
        """What belongs to each slot, in its order."""
        if len(self) == 1:
            found = list(things)
            return {self[0]: found} if found else {}
        by_slot: dict[Partition, list[T]] = {}
        for thing in things:
            by_slot.setdefault(self.of_server(server_of(thing)), []).append(thing)
        return by_slot


@lru_cache(maxsize=16_384)
def _slot(domain: str, number: int) -> int:
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest()) % number
