"""What the request of a lease leads to, until its callback is through."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webcrawler.crawl.dropin.outcome import Failure
from webcrawler.records import Lease, Link


@dataclass(eq=False, slots=True)
class Visit:
    """One lease at work; without a lease, a request that could not be kept and that no page has yielded."""

    lease: Lease | None
    links: list[Link] = field(default_factory=list)  # what its callback has yielded so far
    under_way: int = 0  # its requests that are downloaded or in a callback: its own, and those in memory
    failure: Failure | None = None
    reason: str = "document"  # of "done", where there is no failure
    is_reported: bool = False  # its own download is over
    in_memory: set[bytes] = field(default_factory=set)  # fingerprints of requests that are not kept
    began: float = field(default_factory=time.monotonic)

    def split(self) -> Visit:
        """The visit with its lease and what it has so far; this one goes on without."""
        decided = Visit(self.lease, self.links, failure=self.failure, reason=self.reason)
        self.lease, self.links, self.failure = None, [], None
        return decided


class Handler:
    """Stands in for a callback or an errback (`original`; None: none was given) of one download.

    Calls `meet` with itself and what the other is called with.
    """

    __slots__ = ("_meet", "number", "original")

    def __init__(self, meet: Callable[..., Any], number: int, original: Callable[..., Any] | None) -> None:
        self._meet, self.number, self.original = meet, number, bare(original)

    def __call__(self, result: Any, **kwargs: Any) -> Any:
        return self._meet(self, result, **kwargs)


def bare(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """What the spider gave: a request that is yielded again comes with the stand-in."""
    return function.original if isinstance(function, Handler) else function
