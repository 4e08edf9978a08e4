"""The frontier: URLs known and not yet fetched, and what has become of the others."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.frontier.messages import Done, Failed, Leased, Politeness, Report
from webcrawler.frontier.orderings import Ordering
from webcrawler.frontier.scripts import Argument, Client, Scripts
from webcrawler.records import Lease, Link

LINKS_PER_CALL = 1_000  # keeps one call within a few milliseconds of Redis' time
KNOWN_MAX = 1_000_000  # ids remembered in this process, about 60 MB


class Frontier:
    """One named frontier. Every method is one round trip, or one per 1,000 links.

    Several processes share one frontier. Several threads may share an instance, but for `discover` and
    `complete`, which want one each.
    """

    def __init__(
        self,
        client: Client,
        ordering: Ordering,
        name: str = "index",
        politeness: Politeness | None = None,
        worker: str = "",
    ) -> None:
        self.client = client
        self.ordering = ordering
        self.name = name
        self.base = "{crawl:0}:"
        self.prefix = f"{self.base}{name}:"
        self.politeness = politeness or Politeness()
        self.worker = worker or f"{socket.gethostname()}-{os.getpid()}"
        self._scripts = Scripts(client, self.base, self.prefix)
        self._known: set[int] = set()
        self.connections = 0  # made so far
        # A server that died may come back without its last writes: what it knew is then not known.
        # (Holds for connections made from now on: crawls give each frontier a client of its own.)
        client.connection_pool.connection_kwargs["redis_connect_func"] = self._connected

    def open(self, mode: str) -> None:
        """Claims the frontier for a mode.

        Raises:
            BadInput: it is not empty and was made with another mode.
        """
        meta, counts = self.prefix + "meta", self.prefix + "counts"
        stored = (self.client.hget(meta, "mode") or b"").decode()
        if stored and stored != mode and int(self.client.hget(counts, "seen") or 0):
            raise BadInput(
                f"the frontier was filled with mode={stored}: go on with -a mode={stored}, "
                f"change it with --rescore, or start anew after `scrapy frontier clear`"
            )
        turns = int(self.ordering.servers_take_turns)
        self.client.hset(meta, mapping={"mode": mode, "turns": turns})

    def discover(self, links: Iterable[Link]) -> int:
        """Takes links in, once each; returns how many were new."""
        fresh, links = 0, list(links)
        for start in range(0, len(links), LINKS_PER_CALL):
            part, before = links[start : start + LINKS_PER_CALL], self.connections
            fresh += self._discover(self._unknown(part))
            if self.connections != before:  # what was left out may be unknown there
                fresh += self._discover(self._unknown(part))
        return fresh

    def _discover(self, links: Sequence[Link]) -> int:
        if not links:
            return 0
        fresh = self._scripts.run("discover", len(links), *self._arguments(links))
        self._remember(links)
        return int(fresh)

    def lease(self, limit: int, reports: Sequence[Report] = ()) -> Leased:
        """Up to `limit` URLs, best first, from servers that are due and have a place free.

        Downloads that are over are reported in the same round trip, before.
        """
        polite = self.politeness
        call: tuple[str, Iterable[Argument]] = (
            "lease",
            (self.worker, limit, _ms(polite.lease), polite.server_concurrency, _ms(polite.delay)),
        )
        answer = self._scripts.pipeline([*self._fetched(reports), call])[-1]
        queued, leased, wait_ms = answer[:3]
        return Leased(
            [_lease(answer[i : i + 6]) for i in range(3, len(answer), 6)],
            queued,
            leased,
            None if wait_ms < 0 else wait_ms / 1000,
        )

    def fetched(self, reports: Sequence[Report]) -> None:
        """Downloads are over: their servers have a place again, and are due after a pause."""
        self._scripts.pipeline(self._fetched(reports))

    def complete(self, done: Sequence[Done]) -> list[int]:
        """Decides leases as done and takes in their links; -1 for each that somebody else holds by now."""
        answers: list[int] = []
        for chunk in _chunks(done):
            unknown, before = [self._unknown(one.links) for one in chunk], self.connections
            arguments: list[Argument] = [len(chunk)]
            for one, links in zip(chunk, unknown, strict=True):
                arguments += [one.lease.url, one.lease.token, one.reason, int(one.is_document)]
                arguments += [len(one.refused), len(links)]
                for reason, number in one.refused.items():
                    arguments += [reason, number]
                arguments += self._arguments(links)
            taken = self._scripts.run("complete", *arguments)
            for links, new in zip(unknown, taken, strict=True):
                if new >= 0:
                    self._remember(links)
            if self.connections != before:
                self.discover(link for one in chunk for link in one.links)
            answers += taken
        return answers

    def fail(self, failed: Sequence[Failed]) -> list[int]:
        """1 for each that is queued again, 0 for each that is decided, -1 as in `complete`."""
        polite = self.politeness
        arguments: list[Argument] = [polite.tries, _ms(polite.backoff), _ms(polite.backoff_max)]
        for one in failed:
            arguments += [one.lease.url, one.lease.token, one.outcome, int(one.retry)]
        return self._scripts.run("fail", *arguments)  # type: ignore[no-any-return]

    def release(self, leases: Sequence[Lease]) -> int:
        """Gives leases back unused."""
        arguments: list[Argument] = []
        for lease in leases:
            arguments += [lease.url, lease.token]
        return self._scripts.run("release", *arguments)  # type: ignore[no-any-return]

    def reclaim(self, known: Container[str]) -> int:
        """Gives back what this worker holds but does not know of: leased by a call whose answer was lost."""
        held = (url.decode() for url in self.client.smembers(f"{self.prefix}held:{self.worker}"))
        lost = [url for url in held if url not in known]
        packed = self.client.hmget(self.prefix + "leases", lost) if lost else []
        tokens = [msgpack.unpackb(lease)[0] if lease else 0 for lease in packed]
        arguments = chain.from_iterable(zip(lost, tokens, strict=True))
        return self._scripts.run("release", *arguments) if lost else 0

    def expire(self, alive_seconds: float = 0.0) -> int:
        """Takes back the leases of dead workers; with `alive_seconds` this worker says that it lives."""
        worker = self.worker if alive_seconds else ""
        return self._scripts.run("expire", worker, _ms(alive_seconds))  # type: ignore[no-any-return]

    def leave(self) -> None:
        """This worker ends: what it still holds goes back."""
        self.client.zadd(self.prefix + "workers", {self.worker: 0})
        while self.expire():  # so many a call
            pass

    def workers(self) -> list[str]:
        """Those that are alive, or were until a few seconds ago."""
        return [name.decode() for name in self.client.zrange(self.prefix + "workers", 0, -1)]

    def servers(self) -> list[str]:
        """All servers that were ever seen."""
        return [name.decode() for name in self.client.hkeys(self.prefix + "turns")]

    def bury(self, is_dead: Callable[[str], bool]) -> int:
        """Takes back the leases of workers that somebody knows to be dead, before their time has run out."""
        for worker in filter(is_dead, self.workers()):
            self.client.zadd(self.prefix + "workers", {worker: 0}, xx=True)
        return self.expire()

    def postpone(self, server: str, seconds: float, crawl_delay: float | None = None) -> None:
        """The server is not due before that time; a Crawl-delay holds from now on, for all frontiers."""
        delay: Argument = "" if crawl_delay is None else _ms(crawl_delay)
        self._scripts.run("postpone", server, _ms(seconds), delay)

    def _fetched(self, reports: Sequence[Report]) -> list[tuple[str, Iterable[Argument]]]:
        if not reports:
            return []
        polite = self.politeness
        arguments: list[Argument] = [_ms(polite.delay), _ms(polite.backoff)]
        arguments += [_ms(polite.backoff_max), _ms(polite.crawl_delay_max)]
        for report in reports:
            pause = _ms(max(polite.pause(report.seconds), report.retry_after)) if report.downloaded else -1
            arguments += [report.lease.url, report.lease.token, pause, int(report.slow_down)]
            arguments.append(round(random.uniform(0.5, 1.5), 3))
        return [("fetched", arguments)]

    def _connected(self, line: Any) -> None:
        line.on_connect()
        self._known.clear()
        self.connections += 1

    def _unknown(self, links: Sequence[Link]) -> list[Link]:
        """Those that this process has not yet seen taken in: most links of a page are old ones."""
        known = self._known
        return [link for link in links if link.id not in known]

    def _remember(self, links: Sequence[Link]) -> None:
        if len(self._known) > KNOWN_MAX:
            self._known.clear()
        self._known.update(link.id for link in links)

    def _arguments(self, links: Sequence[Link]) -> list[Argument]:
        arguments: list[Argument] = []
        for link in links:
            server, path = urls.split(link.url)
            spelling = "" if link.spelling == link.url else link.spelling
            arguments += (link.id, server, path, self.ordering.first_priority(link), spelling)
        return arguments


def _ms(seconds: float) -> int:
    return round(min(seconds, 10**9) * 1000)


def _lease(values: Sequence[bytes | int]) -> Lease:
    url, server, _, spelling, token, tries = (v.decode() if isinstance(v, bytes) else v for v in values)
    canonical = str(url)
    return Lease(
        urls.url_id(canonical), canonical, str(spelling) or canonical, str(server), int(token), int(tries)
    )


def _chunks(done: Sequence[Done]) -> Iterable[list[Done]]:
    """Runs of leases with about LINKS_PER_CALL links in all; one page is never cut."""
    chunk: list[Done] = []
    links = 0
    for one in done:
        chunk.append(one)
        links += len(one.links)
        if links >= LINKS_PER_CALL or len(chunk) >= 100:
            yield chunk
            chunk, links = [], 0
    if chunk:
        yield chunk
