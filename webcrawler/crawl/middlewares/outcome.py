"""The result of a download: documents go on to the spider, everything else is decided here.

Redirects and failures are results that the frontier decides on (an edge and a new URL, a later try),
not loops within Scrapy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response

from webcrawler import urls
from webcrawler.crawl.run import Crawl, CrawlPart, Decided, LinkRules, Outcomes
from webcrawler.crawl.worker import (
    SLOW_DOWN,
    Leases,
    headers_of,
    is_other_type,
    reason_of,
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


class OutcomeMiddleware:
    """Reports the end of each leased download and decides it, unless it is a document.

    Args:
        tries: fetches of a URL before it has failed.
        timeout_s: for all downloads of a lease, from one spelling to the next.
    """

    def __init__(
        self, outcomes: Outcomes, leases: Leases, rules: LinkRules, tries: int, timeout_s: float
    ) -> None:
        self._outcomes, self._leases, self._rules = outcomes, leases, rules
        self._tries, self._timeout_s = tries, timeout_s

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> OutcomeMiddleware:
        crawl, settings = Crawl.of(crawler), crawler.settings
        tries, timeout_s = settings.getint("FRONTIER_TRIES"), settings.getfloat("DOWNLOAD_TIMEOUT")
        outcome = cls(crawl.outcomes, crawl.leases, crawl.rules, tries, timeout_s)
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
        self._leases.report(Report(lease, seconds, slow_down, wait))
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
            self._outcomes.begin(fetch)
            return response
        self._outcomes.decide(Entry(fetch, archive=True))
        raise Decided

    def _is_cut_short(self, response: Response, lease: Lease) -> bool:
        """Half a page has half of its links: it is asked for again. The last try takes what came."""
        return "dataloss" in response.flags and lease.tries + 1 < self._tries

    def stop_what_is_no_document(self, headers: Headers, body_length: object, request: Request) -> None:
        """A video is not fetched to the end only to be dropped; small bodies are, to keep the connection."""
        kind = (headers.get("Content-Type") or b"").decode("latin-1")
        is_large = (
            not isinstance(body_length, int) or body_length > SMALL_BODY_BYTES
        )  # Twisted's UNKNOWN_LENGTH
        if "lease" in request.meta and is_large and is_other_type(kind):
            raise StopDownload(fail=False)

    def _target(self, request: Request, response: Response) -> Link | None:
        """Where a redirect leads, as the frontier takes it in."""
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or location is None:
            return None
        try:
            found = urls.outlink(location.decode("utf-8", "replace"), request.url, self._rules.protocols)
        except BadUrl:
            return None
        link = Link(found.url, found.id, found.spelling, rel="redirect", refused=found.refused)
        return self._rules.apply(link)


def _respelled(request: Request, target: Link) -> Request:
    """The same URL under another spelling (`/index.html` sent on to `/`): the lease goes on."""
    meta = {**request.meta, "respelled": request.meta.get("respelled", 0) + 1}
    return request.replace(url=target.spelling, meta=meta)


class PagesWithoutItemsMiddleware(CrawlPart):
    """Decides a page of which the callback yields no item; items decide theirs behind the pipelines."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        has_item = False
        async for output in result:
            has_item = has_item or not isinstance(output, Request)
            yield output
        if not has_item:
            self._crawl.outcomes.finish(response)
