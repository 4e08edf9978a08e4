"""The workers that share a frontier: who is alive, and what the dead have left."""

from __future__ import annotations

from collections.abc import Callable, Container

import msgpack

from webcrawler import urls
from webcrawler.frontier.leases import Leasing
from webcrawler.frontier.scripts import Call
from webcrawler.frontier.wire import milliseconds


class Workers(Leasing):
    def reclaim(self, known: Container[str]) -> int:
        """Gives back what this worker holds but does not know of: leased by a call whose answer was lost."""
        lost = []
        for partition in self.partitions:
            held = (url.decode() for url in self.client.smembers(f"{partition.prefix}held:{self.worker}"))
            foreign = [url for url in held if url not in known]
            packed = self.client.hmget(partition.prefix + "leases", foreign) if foreign else []
            for url, lease in zip(foreign, packed, strict=True):
                lost.append((urls.server(url), url, msgpack.unpackb(lease)[0] if lease else 0))
        return self._release(lost)

    def expire(self, alive_seconds: float = 0.0) -> int:
        """Takes back the leases of dead workers; with `alive_seconds` this worker says that it lives."""
        arguments = (self.worker if alive_seconds else "", milliseconds(alive_seconds))
        return sum(self.run([Call(p, "expire", arguments) for p in self.partitions]))

    def leave(self) -> None:
        """This worker ends in good order: what it still holds goes back, and nobody counts it as dead."""
        self.reclaim(())
        for partition in self.partitions:
            self.client.zrem(partition.prefix + "workers", self.worker)
            self.client.hdel(partition.prefix + "alone", self.worker)

    def workers(self) -> list[str]:
        """Those that are alive, or were until a few seconds ago."""
        found = (self.client.zrange(p.prefix + "workers", 0, -1) for p in self.partitions)
        return sorted({name.decode() for names in found for name in names})

    def bury(self, is_dead: Callable[[str], bool]) -> int:
        """Takes back the leases of workers that somebody knows to be dead, before their time has run out."""
        dead = dict.fromkeys(filter(is_dead, self.workers()), 0)
        for partition in self.partitions if dead else ():
            self.client.zadd(partition.prefix + "workers", dead, xx=True)
        return self.expire()
