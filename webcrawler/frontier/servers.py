"""What a frontier knows of servers."""

from __future__ import annotations

from itertools import chain

from webcrawler.frontier.scripts import Argument, Call
from webcrawler.frontier.slots import Slots
from webcrawler.frontier.wire import milliseconds


class Servers(Slots):
    def block(self, server: str, blocked: bool = True) -> int:
        """A server is not asked any more; what waits or is out is decided as failed/blocked: how many.

        With `blocked=False` it is let in again; what was decided stays so.
        """
        partition, decided = self.partitions.of_server(server), 0
        while some := self.run([Call(partition, "block", (server, int(blocked)))])[0]:
            decided += int(some)
        return decided

    def servers(self) -> list[str]:
        """All servers that were ever seen."""
        names = (self.client.hkeys(partition.prefix + "taken") for partition in self.partitions)
        return [name.decode() for name in chain.from_iterable(names)]

    def shared_key(self, kind: str, server: str) -> str:
        """The key of something that all frontiers know of a server ("robots")."""
        return f"{self.partitions.of_server(server).base}{kind}:{server}"

    def postpone(self, server: str, seconds: float, crawl_delay: float | None = None) -> None:
        """The server is not due before that time; a Crawl-delay holds from now on, for all frontiers."""
        delay: Argument = "" if crawl_delay is None else milliseconds(crawl_delay)
        partition = self.partitions.of_server(server)
        self.run([Call(partition, "postpone", (server, milliseconds(seconds), delay))])
