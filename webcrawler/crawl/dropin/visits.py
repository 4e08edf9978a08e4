"""What the request of a lease leads to until its callback is through, and what its download came to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from webcrawler.crawl.worker import SLOW_DOWN, Refused, reason_of, reason_of_error, retry_after_seconds
from webcrawler.frontier import Report
from webcrawler.records import Lease, Link


class Failure(NamedTuple):
    """Why a lease comes to nothing, and whether another try makes sense."""

    reason: str
    retry: bool


BROKE = Failure(reason="unparsable", retry=True)  # a callback or a pipeline did


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
    """Takes the place of a callback or an errback (`original`; None: none was given) of one download.

    Calls `handle` with itself and with what the original would be called with.
    """

    __slots__ = ("_handle", "number", "original")

    def __init__(self, handle: Callable[..., Any], number: int, original: Callable[..., Any] | None) -> None:
        self._handle, self.number, self.original = handle, number, bare(original)

    def __call__(self, result: Any, **kwargs: Any) -> Any:
        return self._handle(self, result, **kwargs)


def bare(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """What the spider gave: a request that is yielded again comes with its handler."""
    return function.original if isinstance(function, Handler) else function


def failure_of(error: BaseException, request: Request, lease: Lease) -> Failure:
    """Of a download that the spider's callback did not get to see.

    What Scrapy's RetryMiddleware has tried in vain is not tried again.
    """
    retry_is_left = "retry_times" not in request.meta
    match error:
        case HttpError():
            _, reason, retry = reason_of(error.response, None, lease)
            return Failure(reason, retry and retry_is_left)
        case Refused():
            return Failure(error.reason, error.retry)
        case IgnoreRequest() if "redirect_times" in request.meta:
            return Failure(reason="redirect-loop", retry=False)
        case IgnoreRequest():
            return Failure(reason="ignored", retry=False)
    reason, retry, _ = reason_of_error(error)
    return Failure(reason, retry and retry_is_left)


def report_of(lease: Lease, request: Request, result: Response | BaseException) -> Report:
    """The end of a download, for the politeness of its server."""
    seconds: float = request.meta.get("download_latency", 0.0)
    response = result.response if isinstance(result, HttpError) else result
    if isinstance(response, Response):
        slow_down = response.status in SLOW_DOWN
        wait = retry_after_seconds(response.headers.get("Retry-After"), time.time()) if slow_down else 0.0
        return Report(lease, seconds, slow_down, wait, downloaded="cached" not in response.flags)
    if isinstance(response, IgnoreRequest):
        return Report(lease, seconds, downloaded=False)
    return Report(lease, seconds, slow_down=reason_of_error(response)[2])
