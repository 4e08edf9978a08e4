"""What the request of a lease leads to until its callback is through, and how the frontier is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from webcrawler.crawl.responses import Refused, reason_of, reason_of_error, report_of
from webcrawler.frontier import Done, Failed, Frontier, Report
from webcrawler.records import Lease, Link


class Failure(NamedTuple):
    """Why a lease comes to nothing, and whether another try makes sense."""

    reason: str
    retry: bool
    excused: bool = False  # its server is to blame: that was no try

    def is_tried_again(self, tries: int, most: int) -> bool:
        """After so many tries before it."""
        return self.excused or (self.retry and tries + 1 < most)


def broken(retry: bool) -> Failure:
    """A callback or a pipeline raised."""
    return Failure("unparsable", retry)


@dataclass(eq=False, slots=True)
class Visit:
    """One lease at work; without a lease, a request that could not be kept and that no page has yielded."""

    lease: Lease | None
    links: list[Link] = field(default_factory=list)  # what its callback has yielded so far
    under_way: int = 0  # its requests that are downloaded or in a callback: its own, and those in memory
    failure: Failure | None = None
    reason: str = "document"  # of "done", where there is no failure
    is_reported: bool = False  # its own download is over
    began: float = field(default_factory=time.monotonic)

    def split(self) -> Visit:
        """The visit with its lease and what it has so far; this one goes on without."""
        decided = Visit(self.lease, self.links, failure=self.failure, reason=self.reason)
        self.lease, self.links, self.failure = None, [], None
        return decided


@dataclass(eq=False, slots=True)
class Handler:
    """Takes the place of a callback or an errback of one download.

    Calls `handle` with itself and with what the original would be called with.
    """

    handle: Callable[..., Any]
    number: int  # of the download
    original: Callable[..., Any] | None  # None: none was given

    def __call__(self, result: Any, **kwargs: Any) -> Any:
        return self.handle(self, result, **kwargs)


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


def report_of_visit(lease: Lease, request: Request, result: Response | BaseException) -> Report:
    """The end of a download, whatever it came to."""
    seconds: float = request.meta.get("download_latency", 0.0)
    response = result.response if isinstance(result, HttpError) else result
    if isinstance(response, Response):
        return report_of(lease, seconds, response, downloaded="cached" not in response.flags)
    if isinstance(response, IgnoreRequest):
        return Report(lease, seconds, downloaded=False)
    return Report(lease, seconds, slow_down=reason_of_error(response)[2])


class Decisions:
    """`put` and `gather` are for the event loop, `send` is for the scheduler's thread.

    Args:
        decided: called by `send` with leases and what became of them, as in `Batch`, and how many of their
            links were new, and how many known already.
    """

    def __init__(
        self, frontier: Frontier, decided: Callable[[list[tuple[Lease, str]], int, int], object]
    ) -> None:
        self._frontier, self._decided = frontier, decided
        self._waiting: list[Visit] = []
        self._gathered: list[Visit] = []

    def put(self, visit: Visit) -> None:
        self._waiting.append(visit)

    def gather(self) -> None:
        """Marks those put so far as the next to send: their downloads have been reported."""
        self._gathered += self._waiting
        self._waiting = []

    def __bool__(self) -> bool:
        return bool(self._gathered)

    def send(self) -> None:
        """May be repeated when it fails: nothing is decided twice."""
        visits = {visit.lease: visit for visit in self._gathered if visit.lease}
        done = {lease: visit for lease, visit in visits.items() if not visit.failure}
        failed = {lease: visit for lease, visit in visits.items() if visit.failure}
        new: dict[Lease, int] = {}
        if done:
            completed = [
                Done(lease, visit.reason, visit.reason == "document", visit.links)
                for lease, visit in done.items()
            ]
            new = dict(zip(done, self._frontier.complete(completed), strict=True))
        links = {lease: len(done[lease].links) for lease, number in new.items() if number >= 0}
        outcomes = {lease: f"done/{visit.reason}" for lease, visit in done.items()}
        outcomes.update(dict.fromkeys(new.keys() - links.keys(), "stale"))
        found, known = sum(new[lease] for lease in links), sum(links.values())
        if failed:
            reasons, more, sent = self._fail(failed)
            outcomes, found, known = outcomes | reasons, found + more, known + sent
        self._gathered = []
        self._decided(list(outcomes.items()), found, known - found)

    def _fail(self, visits: dict[Lease, Visit]) -> tuple[dict[Lease, str], int, int]:
        """The links of what is not tried again are added all the same, as far as the callback came.

        Returns:
            What became of the leases, how many links were new, and how many there were.
        """
        tries = self._frontier.politeness.tries
        reasons = {lease: visit.failure for lease, visit in visits.items() if visit.failure}
        final = [lease for lease, why in reasons.items() if not why.is_tried_again(lease.tries, tries)]
        links = [link for lease in final for link in visits[lease].links]
        new = self._frontier.discover(links)
        failed = [
            Failed(lease, f"failed/{why.reason}", why.retry, why.excused) for lease, why in reasons.items()
        ]
        answers = self._frontier.fail(failed)
        outcomes = {-1: "stale", 0: "failed/{}", 1: "retry/{}"}
        told = {
            lease: outcomes[answer].format(why.reason)
            for (lease, why), answer in zip(reasons.items(), answers, strict=True)
        }
        return told, new, len(links)
