"""What a download came to: documents go on to the spider, all else is decided here.

Redirects and failures are results that the frontier decides on (an edge and a new URL, a later try),
not loops within Scrapy.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Headers, Response
from twisted.python.failure import Failure

from webcrawler import urls
from webcrawler.crawl.run import Crawl
from webcrawler.crawl.worker import (
    SLOW_DOWN,
    headers_of,
    is_other_type,
    reason_of,
    reason_of_error,
    retry_after_seconds,
)
from webcrawler.errors import BadUrl
from webcrawler.frontier import Report
from webcrawler.records import Entry, Fetch, Lease, Link

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REDIRECTS = frozenset({301, 302, 303, 307, 308})
SMALL_BODY_BYTES = 64 * 1024
RESPELLINGS = 5  # redirects between spellings of one canonical URL, within one lease


class Decided(IgnoreRequest):
    """Raised to end the way of a response that is no document."""


class OutcomeMiddleware:
    """Reports the end of each leased download and decides it, unless it is a document."""

    def __init__(self, crawl: Crawl, timeout_s: float = 30.0) -> None:
        """Have a lease's downloads, from one spelling to the next, end within `timeout_s`."""
        self._crawl, self._timeout_s = crawl, timeout_s
        crawl.on_failure = self.failed

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> OutcomeMiddleware:
        outcome = cls(Crawl.of(crawler), crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
        crawler.signals.connect(outcome.stop_what_is_no_document, signals.headers_received)
        return outcome

    def process_request(self, request: Request) -> None:
        if "lease" in request.meta:
            sys.audit("webcrawler.download.before")
            now = time.time()
            request.meta.setdefault("started", now)
            deadline = request.meta.setdefault("deadline", now + self._timeout_s)
            request.meta["download_timeout"] = max(0.1, deadline - now)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        lease: Lease | None = request.meta.get("lease")
        if lease is None:
            return response
        sys.audit("webcrawler.download.after")
        target = self._target(request, response)
        if target and target.id == lease.id and request.meta.get("respelled", 0) < RESPELLINGS:
            return _respelled(request, target)
        now = time.time()
        seconds = now - request.meta["started"]
        slow_down = response.status in SLOW_DOWN
        wait = retry_after_seconds(response.headers.get("Retry-After"), now) if slow_down else 0.0
        self._crawl.report(Report(lease, seconds, slow_down, wait))
        state, reason, retry = reason_of(response, target, lease)
        if reason == "document" and self._is_cut_short(response, lease):
            state, reason, retry = "failed", "unreachable", True
        fetch = Fetch(
            lease,
            state,
            reason,
            now,
            seconds,
            min(response.status, 999),  # a status line may hold any number, a database does not
            headers_of(response),
            response.body,
            retry,
            target,
        )
        if reason == "document":
            request.meta["entry"] = Entry(fetch)
            return response
        self._crawl.decide(Entry(fetch, archive=True))
        raise Decided

    def _is_cut_short(self, response: Response, lease: Lease) -> bool:
        """Half a page has half of its links: it is asked for again. The last try takes what came."""
        return "dataloss" in response.flags and lease.tries + 1 < self._crawl.frontier.politeness.tries

    def stop_what_is_no_document(self, headers: Headers, body_length: object, request: Request) -> None:
        """A video is not fetched to the end only to be dropped; small bodies are, to keep the connection."""
        kind = (headers.get("Content-Type") or b"").decode("latin-1")
        is_large = (
            not isinstance(body_length, int) or body_length > SMALL_BODY_BYTES
        )  # Twisted's UNKNOWN_LENGTH
        if "lease" in request.meta and is_large and is_other_type(kind):
            raise StopDownload(fail=False)

    def failed(self, failure: Failure) -> None:
        """The errback of each leased request: whatever has not been decided by now, is."""
        error = failure.value
        if error is None or isinstance(error, Decided):
            return
        sys.audit("webcrawler.download.failed")
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy sets it
        lease: Lease = request.meta["lease"]
        reason, retry, slow_down = reason_of_error(error)
        if reason == "unreachable" and self._crawl.is_refused_host(request.url):
            reason, retry = "address-refused", False
        now = time.time()
        seconds = now - request.meta.get("started", now)
        self._crawl.report(Report(lease, seconds, slow_down, downloaded="started" in request.meta))
        message = f"{type(error).__name__}: {error}"[:500]
        fetch = Fetch(lease, "failed", reason, now, seconds, retry=retry, error=message)
        self._crawl.decide(Entry(fetch, archive=True))

    def _target(self, request: Request, response: Response) -> Link | None:
        """Where a redirect leads, as the frontier takes it in."""
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or location is None:
            return None
        try:
            found = urls.outlink(location.decode("utf-8", "replace"), request.url, self._crawl.protocols)
        except BadUrl:
            return None
        link = Link(found.url, found.id, found.spelling, rel="redirect", refused=found.refused)
        return self._crawl.within_job(link)


def _respelled(request: Request, target: Link) -> Request:
    """The same URL under another spelling (`/index.html` sent on to `/`): the lease goes on."""
    meta = {**request.meta, "respelled": request.meta.get("respelled", 0) + 1}
    return request.replace(url=target.spelling, meta=meta)
