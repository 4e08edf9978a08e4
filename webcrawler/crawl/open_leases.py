"""What this process has under way, how much of that there may be, and whom to blame where it fails.

Of bodies: 32 of 10 MiB on their way, and as many waiting for a parser, would fill the memory.

What a URL cannot help is not counted against it. A server that gave documents and now gives no good answer is
away: it gets ever longer pauses, and none of its URLs loses a try. That ends with a good answer, or after
`FAULTS_MAX` faults, about an hour by default.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.http import Response

from webcrawler.crawl.peers import KINDS
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
        self.waited_seconds: WeakKeyDictionary[Request, float] = WeakKeyDictionary()  # of large bodies
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


PASSING = frozenset({"unreachable", "timeout", "server-error", *KINDS})  # reasons that may be the server's
FAULTS_MAX = 8  # in a row: seven pauses of FRONTIER_BACKOFF, each twice as long as the one before
SERVERS_MAX = URLS_MAX = 50_000  # that are remembered
# Not EADDRNOTAVAIL: without IPv6, a machine says so of each host that has no other address.
OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.ENOBUFS, errno.ENOMEM})
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Blame(Enum):
    """What a fault of a download speaks against."""

    PAGE = "page"  # it is a try of its URL
    SERVER = "server"  # it is none
    LONG = "long"  # its server has been away for so long that the URL is given up


@dataclass(slots=True)
class _Faults:
    in_a_row: int = 0
    last: float = 0.0  # when the newest of them came
    ended: float = 0.0  # when a good answer ended the row before this one


class Outages:
    """Tells which faults are those of servers, from what one process sees of them. For one thread.

    Weakness: a URL that fails while all others wait is taken for its server until another page of that server
    has answered; `Outcomes` asks for one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._good: dict[str, Lease] = {}  # by server: the newest document
        self._faults: dict[str, _Faults] = {}  # by server
        self._failed: dict[str, float] = {}  # by URL: when it failed last

    def gave_document(self, lease: Lease) -> None:
        """Its server is one that gives documents."""
        _remember(self._good, lease.server, lease, SERVERS_MAX)

    def good_page(self, server: str) -> Lease | None:
        """The newest document that it gave."""
        return self._good.get(server)

    def answered(self, lease: Lease) -> None:
        """The server gave a good answer, be it "not found"."""
        self._failed.pop(lease.url, None)
        faults = self._faults.get(lease.server)
        if faults and faults.in_a_row:
            faults.in_a_row, faults.ended = 0, self._clock()

    def failed(self, lease: Lease, seconds: float) -> tuple[Blame, int]:
        """Whom to blame for a download that took so long and failed; then how many have failed in a row.

        Downloads that were under way together count as one, and then it is 0. To blame is the URL itself if
        it is the first one of a row, or has failed before its server last gave a good answer.
        """
        now, faults = self._clock(), self._faults.get(lease.server) or _Faults()
        _remember(self._faults, lease.server, faults, SERVERS_MAX)
        before = self._failed.get(lease.url)
        _remember(self._failed, lease.url, now, URLS_MAX)
        is_own = not faults.in_a_row or (before is not None and before < faults.ended)
        is_new = not faults.in_a_row or now - seconds >= faults.last
        if is_new:
            faults.in_a_row, faults.last = faults.in_a_row + 1, now
        if is_own or lease.server not in self._good:
            blame = Blame.PAGE
        else:
            blame = Blame.LONG if faults.in_a_row > FAULTS_MAX else Blame.SERVER
        return blame, faults.in_a_row if is_new else 0


def is_ours(error: BaseException) -> bool:
    """Tell whether this machine has failed, and no server: it has no descriptor or memory left."""
    return any(number in OURS for number in _numbers(error, depth=5))


def _numbers(error: Any, depth: int) -> Iterator[int]:
    yield from filter(None, (getattr(error, "errno", None), getattr(error, "osError", None)))
    causes = (error.__cause__, error.__context__, *(getattr(error, "reasons", None) or ()))
    for cause in causes if depth else ():
        if cause := getattr(cause, "value", cause):
            yield from _numbers(cause, depth - 1)


def _remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """As the newest; the oldest is forgotten."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
