"""Is it the page that fails, or its server? What a URL cannot help is not counted against it.

A server that gave documents and now gives no good answer is away: it gets ever longer pauses, and none of
its URLs loses a try. That ends with a good answer, or after `FAULTS_MAX` faults, about an hour by default.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from webcrawler.crawl.certificates import KINDS
from webcrawler.records import Lease

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
