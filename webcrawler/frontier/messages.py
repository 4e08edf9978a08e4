"""What goes in and out of a frontier, and how it treats servers and budgets."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from webcrawler.records import Lease, Link


@dataclass(frozen=True, slots=True)
class Politeness:
    """How servers are treated; times in seconds. Sources: EW "Fetcher"; Cho 1998, 5.1."""

    delay: float = 1.0
    crawl_delay_max: float = 60.0
    slowness: float = 10.0
    slowness_max: float = 30.0
    slow: float = 3.0  # a download that takes this long is slow: its server gets one connection
    server_concurrency: int = 1
    tries: int = 3
    deaths: int = 3  # of workers that held a URL, after which it is leased alone
    backoff: float = 30.0
    backoff_max: float = 3600.0
    lease: float = 900.0

    def pause(self, download_seconds: float) -> float:
        """The pause after a download, in seconds: longer for slow servers (EW); none without a delay."""
        if not self.delay:
            return 0.0
        return max(self.delay, min(self.slowness * download_seconds, self.slowness_max))


@dataclass(frozen=True, slots=True)
class Budgets:
    """How many URLs a frontier takes in; 0: any number. Sources: EW "Frontier"; IRLbot (Lee 2008)."""

    server: int = 0  # URLs added of one server
    domain: int = 0  # URLs added of one registrable domain
    domain_servers: int = 0  # servers of one registrable domain
    prefix: int = 0  # URLs added of one path prefix of a server
    share: int = 0  # new URLs of one domain in every `share_of` leases (EW: k in every n)
    share_of: int = 0  # leases
    queued: int = 0  # queued URLs; beyond it each page adds at most one (EW)
    # URLs of a shape, a server or a domain go behind once its repeats exceed its new pages by this; so does
    # what only repeats link to. One in so many leases goes to these, and all when no others are due soon.
    repeats: int = 0
    behind: int = 0

    def of_partition(self, number: int) -> Budgets:
        """The budgets of one partition: those that count over all partitions are divided by their number."""
        return replace(self, queued=-(-self.queued // number), share_of=-(-self.share_of // number))


class Report(NamedTuple):
    """A download that is over."""

    lease: Lease
    seconds: float
    slow_down: bool = False  # 429, 503, no answer in time
    retry_after: float = 0.0
    downloaded: bool = True  # False: refused before the server was asked, so no pause is due


class Reports:
    """Reports that Redis was not told yet; several threads may put and take them."""

    def __init__(self) -> None:
        self._waiting: deque[Report] = deque()

    def put(self, report: Report) -> None:
        self._waiting.append(report)

    def take(self) -> list[Report]:
        taken = []
        with suppress(IndexError):
            while True:
                taken.append(self._waiting.popleft())
        return taken

    def put_back(self, reports: Sequence[Report]) -> None:
        self._waiting.extendleft(reversed(reports))


class Done(NamedTuple):
    """A lease to complete; `links` are to be followed, `refused` counts those that are not, by reason."""

    lease: Lease
    reason: str
    is_document: bool
    links: Sequence[Link] = ()
    refused: Mapping[str, int] = MappingProxyType({})
    repeats: bool = False  # the page is a duplicate of another one, or nearly
    note: int = 0  # what the ordering notes of the page, for its links


WAITING = "waiting"  # in place of what a URL was: it is not decided, and goes ahead where it waits


class Again(NamedTuple):
    """A URL that is to be fetched before all others: as a rule one that is decided and due again."""

    url: str  # canonical
    was: str  # what it was decided as: "done/document", "failed/not-found"; "": it may be new; or WAITING
    request: str = ""  # as the link's
    spelling: str = ""  # what is fetched; "": the canonical URL


class Failed(NamedTuple):
    """A lease whose fetch failed; `outcome` is counted when no tries are left."""

    lease: Lease
    outcome: str  # "failed/REASON" or "quarantined"
    retry: bool
    excused: bool = False  # it was no try: it is tried again, however many there were


class Past(NamedTuple):
    """What came of a URL's last fetch, as the catalog remembers it."""

    url: str  # canonical
    outcome: str  # as the frontier counts it: "done/REASON", "failed/REASON", "quarantined"
    fetched: float  # seconds since 1970
    tries: int = 0  # failed fetches
    retry: bool = False  # it is to be tried again
    is_document: bool = False
    repeats: bool = False  # it is a duplicate of another page, or nearly


class Leased(NamedTuple):
    """What `lease` found."""

    leases: list[Lease]
    queued: int
    leased: int
    wait: float | None  # seconds until something may be due; None when nothing waits that may be leased
