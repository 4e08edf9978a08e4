"""What the model of the frontier knows, and how it takes links in: `frontier_model` has the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from webcrawler.frontier import Budgets, Ordering, Politeness, Source
from webcrawler.records import Lease, Link
from webcrawler.urls import path_prefix, registrable_domain, split

HIGHEST = 2**20 - 1  # priority, as LOWEST is for what is behind
LOWEST = -(2**20)


@dataclass(eq=False)
class Server:
    name: str
    next: float = 0.0  # seconds, as all times here
    active: int = 0  # downloads
    backoff: int = 0  # slow answers in a row
    crawl_delay: float = 0.0
    in_time: bool | None = None  # its last answer
    blocked: bool = False
    turn: int = 0  # number of its last access
    newcomer: int = 0  # number of the URL that it was found by; 0 when it has a document or nothing is left
    trying: bool = False  # a newcomer with a lease out
    has_domain: bool = False  # is it known that others of its domain were there before?


@dataclass(eq=False)
class Url:
    link: Link
    server: Server
    number: int
    priority: int
    window: int  # of leases, in which it was found
    repetitive: bool = False  # as its shape, server or domain is
    late: bool = False  # only repeats have linked to it
    state: str = "queued"  # or leased, done/…, failed/…, quarantined
    retry: float = 0.0  # when; 0 when it stands in its queue
    tries: int = 0
    deaths: int = 0
    alone: int = 0  # deaths of workers that held it alone
    note: int = 0  # what the ordering notes of it
    worker: str = ""
    token: int = 0
    end: float = 0.0
    downloading: bool = False

    @property
    def place(self) -> tuple[bool, int, int]:
        return (self.level is not None, -self.told, self.number)

    @property
    def level(self) -> int | None:
        """How far behind all others it stands."""
        if self.late:
            return 2 if self.repetitive else 1
        return 0 if self.repetitive else None

    @property
    def told(self) -> int:
        """Its priority, as leases tell it."""
        return self.priority if self.level is None else LOWEST - self.level


class Intake:
    def __init__(self, ordering: Ordering, politeness: Politeness, budgets: Budgets) -> None:
        self.ordering, self.polite, self.budgets = ordering, politeness, budgets
        self.urls: dict[str, Url] = {}
        self.servers: dict[str, Server] = {}
        self.workers: dict[str, float] = {}  # alive until
        self.heard = float("inf")  # when one last said that it lives
        self.letting_go: set[str] = set()  # workers that are to hold one URL alone
        self.refused: Counter[str] = Counter()
        self.repeats: Counter[str] = Counter()  # of shapes, servers and domains, less what was fresh
        self.forward: set[str] = set()  # URLs that the last links have brought there
        self.raised: set[str] = set()  # names of parts of pages whose links have raised what waits
        self.now, self.number, self.turn = 1.0, 0, 0

    # ---- what is where

    def server(self, name: str) -> Server:
        return self.servers.setdefault(name, Server(name))

    def in_state(self, state: str) -> list[Url]:
        return [url for url in self.urls.values() if url.state == state]

    def queue(self, server: Server) -> list[Url]:
        own = (url for url in self.in_state("queued") if url.server is server and not url.retry)
        return sorted(own, key=lambda url: url.place)

    def held(self, worker: str) -> list[Url]:
        return [url for url in self.in_state("leased") if url.worker == worker]

    def newest(self, lease: Lease) -> Url | None:
        url = self.urls.get(lease.url)
        return url if url and (url.state, url.token) == ("leased", lease.token) else None

    def is_busy(self, server: Server) -> bool:
        """Something of it waits or is out."""
        return any(u.state in ("queued", "leased") for u in self.urls.values() if u.server is server)

    def waits(self) -> list[float]:
        """Seconds until each thing that waits may be due, if a place is free."""
        times = [server.next for server in self.servers.values() if self.queue(server)]
        times += [url.retry for url in self.in_state("queued") if url.retry]
        return [max(0.0, time - self.now) for time in times]

    # ---- in

    def discover(self, links: Sequence[Link], source: Source | None = None, part: str = "") -> int:
        """Server by server in the order of their first links; numbers follow the order of all links.

        Args:
            source: the page that they stand on; without one they raise nothing that waits.
            part: a name for these of its links; under one name they raise once.
        """
        known = [link for link in links if link.url in self.urls]
        self.forward.clear()
        if not (source and source.repeats):
            self._come_forward(known, source)
        if source:
            self._raise(known, source, part)
        fresh = [link for link in dict.fromkeys(links) if link.url not in self.urls]
        numbers = {link.url: number for number, link in enumerate(fresh, self.number + 1)}
        by_server = list(dict.fromkeys(split(link.url)[0] for link in links))
        most = self.budgets.queued
        room = max(1, most - len(self.in_state("queued"))) if most else len(links)
        taken = 0
        for link in sorted(fresh, key=lambda link: by_server.index(split(link.url)[0])):
            if over := self._over_budget(link, room - taken):
                self.refused[over] += 1
            else:
                self._take_in(link, numbers[link.url], source)
                taken += 1
        self.number += len(fresh)
        return taken

    def _come_forward(self, links: Sequence[Link], source: Source | None) -> None:
        """What waits since only repeats have linked to it, to the priority of its first other link."""
        for link in links:
            url = self.urls[link.url]
            if url.state == "queued" and url.late:
                url.late = url.repetitive = False
                url.priority = self.ordering.first_priority(link, source)
                self.forward.add(link.url)

    def _raise(self, links: Sequence[Link], source: Source, part: str) -> None:
        """What waits, and nothing else; what is behind stays there."""
        how, raises = self.ordering.on_repeat, part not in self.raised
        self.raised.update({part} if how and part else ())
        for link in links:
            url = self.urls[link.url]
            if url.state == "queued":
                url.note = max(url.note, self._note(link, source))
                if how and raises and url.level is None and link.url not in self.forward:
                    url.priority = self._raised(url.priority, self.ordering.first_priority(link, source))

    def _raised(self, old: int, new: int) -> int:
        """Within its class, where there are some."""
        low, high = -HIGHEST, HIGHEST
        if band := self.ordering.band:
            low = old - old % band
            high, new = low + band - 1, new % band + (low if self.ordering.on_repeat == "raise" else 0)
        return max(old, new) if self.ordering.on_repeat == "raise" else min(high, max(low, old + new))

    def _note(self, link: Link, source: Source | None) -> int:
        return self.ordering.note(link, source) if source and self.ordering.takes_notes else 0

    def _over_budget(self, link: Link, room: int) -> str:
        (name, path), most = split(link.url), self.budgets
        of_domain = [
            u for u in self.urls.values() if registrable_domain(u.server.name) == registrable_domain(name)
        ]
        of_server = [u for u in of_domain if u.server.name == name]
        of_prefix = [u for u in of_server if path_prefix(split(u.link.url)[1]) == path_prefix(path)]
        recent = [u for u in of_domain if most.share and u.window == self._window()]
        servers = {u.server for u in of_domain} if not of_server else ()
        numbers = {
            "budget-server": (len(of_server), most.server),
            "budget-domain": (len(of_domain), most.domain),
            "budget-domain-servers": (len(servers), most.domain_servers),
            "budget-prefix": (len(of_prefix), most.prefix),
            "budget-share": (len(recent), most.share),
        }
        over = (name for name, (number, limit) in numbers.items() if limit and number >= limit)
        return next(over, "" if room > 0 else "full")

    def _window(self) -> int:
        return self.turn // max(1, self.budgets.share_of)

    def _take_in(self, link: Link, number: int, source: Source | None) -> None:
        name, _ = split(link.url)
        server = self.server(name)
        if not any(url.server is server for url in self.urls.values()):
            server.newcomer = number
            domains = {registrable_domain(url.server.name) for url in self.urls.values()}
            server.has_domain = registrable_domain(name) in domains
        url = Url(link, server, number, self.ordering.first_priority(link, source), self._window())
        url.note = self._note(link, source)
        url.late = source is not None and source.repeats
        self.urls[link.url] = url
