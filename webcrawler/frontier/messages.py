"""What goes in and out of a frontier, and how it treats servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    server_concurrency: int = 1
    tries: int = 3
    backoff: float = 30.0
    backoff_max: float = 3600.0
    lease: float = 900.0

    def pause(self, download_seconds: float) -> float:
        """The pause after a download: slow servers get longer ones (EW); none where no delay is wanted."""
        if not self.delay:
            return 0.0
        return max(self.delay, min(self.slowness * download_seconds, self.slowness_max))


class Report(NamedTuple):
    """A download that is over."""

    lease: Lease
    seconds: float
    slow_down: bool = False  # 429, 503, no answer in time
    retry_after: float = 0.0
    downloaded: bool = True  # False: refused before the server was asked, so no pause is due


class Done(NamedTuple):
    """A lease that is decided well; `links` are those to follow, `refused` counts those that are not."""

    lease: Lease
    reason: str
    is_document: bool
    links: Sequence[Link] = ()
    refused: Mapping[str, int] = MappingProxyType({})


class Failed(NamedTuple):
    """A lease that came to nothing; `outcome` is counted when no tries are left."""

    lease: Lease
    outcome: str  # "failed/REASON" or "quarantined"
    retry: bool


class Leased(NamedTuple):
    """What `lease` found."""

    leases: list[Lease]
    queued: int
    leased: int
    wait: float | None  # seconds until something may be due; None when nothing waits
