"""What this process has leased from the frontier, what is under way, and how much of that there may be.

Of bodies: 32 of 10 MiB on their way, and as many waiting for a parser, would fill the memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from math import inf
from weakref import WeakSet

from scrapy.http import Response

from webcrawler.frontier import Report, Reports
from webcrawler.records import Lease

PATIENCE_SECONDS = 2.0
LOOK_UP_SECONDS = 0.2  # most names are known sooner
EXEMPT = 15  # times as many may be exempt as count
DOUBTFUL_SHARE = 0.75  # of the young, at most: the rest is for servers that are known to answer in time
UNLIMITED = 2**31


class Downloads:
    """Downloads under way. Those of more than 2 s are exempt from the limit; others are young.

    With a limit of one none is exempt, so that the order is exact. Nor does the look-up of a name count for
    long: it asks nothing of a server.

    Args:
        limit: of young ones; 0: any number.
        clock: in seconds.
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit, self._clock = limit, clock
        self._young: dict[Hashable, float] = {}  # when they become exempt
        self.exempt: set[Hashable] = set()
        self._doubtful: set[Hashable] = set()  # those of them whose server may not answer in time

    @property
    def scrapy_limit(self) -> int:
        """What Scrapy's downloader has to let through."""
        return self.limit * (1 + EXEMPT) if self.limit > 1 else self.limit

    def begin(self, key: Hashable, doubtful: bool = False, patience: float = PATIENCE_SECONDS) -> None:
        """Count a download from now on, also one that was under way already."""
        self.end(key)
        self._young[key] = self._clock() + (patience if self.limit != 1 else inf)
        if doubtful:
            self._doubtful.add(key)

    def end(self, key: Hashable) -> None:
        self._young.pop(key, None)
        self.exempt.discard(key)
        self._doubtful.discard(key)

    def wait(self) -> float:
        """Seconds until there is room for one more at the latest; 0 when there is."""
        seconds = self.until_exempt()
        return seconds if 0 < self.limit <= len(self._young) else 0.0

    def until_exempt(self) -> float:
        """Make old ones exempt; seconds until the next of the young is."""
        now = self._clock()
        for key in [key for key, until in self._young.items() if until <= now]:
            self.end(key)
            self.exempt.add(key)
        return min(self._young.values(), default=inf) - now

    def doubtful_room(self) -> int:
        """How many more may be of doubtful servers."""
        if self.limit <= 1:
            return UNLIMITED
        self.until_exempt()
        return max(0, int(DOUBTFUL_SHARE * self.limit) - len(self._doubtful))


class OpenLeases:
    """For the event loop; only new leases are put in by the scheduler's thread.

    Args:
        concurrency: downloads at a time, as for Downloads.
    """

    def __init__(self, concurrency: int) -> None:
        self.downloads = Downloads(concurrency)
        self.open: dict[str, Lease] = {}  # by URL: leased here and not yet decided
        self.downloading: set[str] = set()  # those of them whose download is not over
        self.reports = Reports()
        self.changed = asyncio.Event()  # set when a download is over, a lease is decided or a link is new

    def report(self, report: Report) -> None:
        """A download is over: its server may be asked again when politeness allows it."""
        self.end_download(report.lease.url)
        self.reports.put(report)
        self.changed.set()

    def end_download(self, url: str) -> None:
        self.downloading.discard(url)
        self.downloads.end(url)

    def unread(self) -> int:
        """How many were leased and nobody knows yet what they say, without downloads that are exempt."""
        self.downloads.until_exempt()
        return len(self.open) - len(self.downloads.exempt)

    def close(self, lease: Lease) -> None:
        """A lease is decided; one that was leased anew meanwhile stays open."""
        if self.open.get(lease.url) == lease:
            del self.open[lease.url]


LARGE_BYTES = 2**20  # from here on a body is received only while there is room
PLACES = 4  # of large bodies that are received, or inflated, at a time
HELD_BYTES_MAX = 32 * 2**20  # of those that wait for the spider and the pipelines
POLL_SECONDS = 0.05


class Room:
    """Says whether there is room for another large body."""

    def __init__(self) -> None:
        self._taken = 0
        self._held: WeakSet[Response] = WeakSet()

    def take(self) -> bool:
        """Takes a place, if there is room; `give` gives it back."""
        has_room = self._taken < PLACES and sum(len(one.body) for one in self._held) < HELD_BYTES_MAX
        self._taken += has_room
        return has_room

    def give(self) -> None:
        self._taken -= 1

    def hold(self, response: Response) -> None:
        """Counts a large response for as long as it is in memory."""
        if len(response.body) > LARGE_BYTES:
            self._held.add(response)
