"""May this be fetched, and what came of it? Documents go on to the spider, everything else is decided here.

Names are looked up before a download: that takes none of its time, and no other's place for long. A name
server that does not answer says nothing about the servers whose names wait behind it.

Redirects and failures are results that the frontier decides on (an edge and a new URL, a later try),
not loops within Scrapy.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Headers, Response

from webcrawler import clock, urls
from webcrawler.crawl.peers import addresses
from webcrawler.crawl.responses import (
    PARSED,
    Refused,
    codings_of,
    file_name,
    headers_of,
    reason_of,
    redirect_target,
    report_of,
)
from webcrawler.crawl.run import Crawl, CrawlPart, Decided
from webcrawler.job import is_sitemap
from webcrawler.parsing import PRIVATE, declared_kind, kind_of
from webcrawler.records import Entry, Fetch, Lease, Link


class ScopeMiddleware(CrawlPart):
    """Refuses what was removed, or left the scope, while it waited."""

    def process_request(self, request: Request) -> None:
        lease: Lease | None = request.meta.get("lease")
        if lease and (refusal := self._crawl.rules.refusal(lease)):
            raise Refused(refusal)


class AddressMiddleware(CrawlPart):
    """Refuses special addresses written in a URL, in every spelling, and ports that are no web server's.

    Names are resolved later: `GuardedResolver` holds the addresses that they have against the same rules.
    """

    def process_request(self, request: Request) -> None:
        if not self._crawl.stores.resolver.permits(request.url):
            raise Refused("address-refused")


LOOK_UP_MAX_SECONDS = 90.0  # longer than a system usually asks all its name servers, a thread for it included


class NameMiddleware(CrawlPart):
    """Goes on when a name is known, or not to be known; what follows finds it in the resolver's memory."""

    async def process_request(self, request: Request) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_UP_MAX_SECONDS):
                await addresses(_host(request))
        if lease := request.meta.get("lease"):
            self._crawl.leases.downloads.begin(lease.url, lease.doubtful)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """What was not reached may have moved: the next try asks for its name again."""
        if not isinstance(exception, IgnoreRequest):
            self._crawl.stores.resolver.forget(_host(request))


def _host(request: Request) -> str:
    """The name that is connected to."""
    return urlsplit(request.meta.get("proxy") or request.url).hostname or ""


_SENT = "login"  # in a request's meta: the names of the headers that were added


class LoginMiddleware(CrawlPart):
    """For pages only: robots.txt is the same for all."""

    def process_request(self, request: Request) -> None:
        for name in request.meta.pop(_SENT, ()):  # of the same URL in another spelling
            del request.headers[name]
        if "lease" in request.meta and (own := self._crawl.logins.of(request.url)):
            request.headers.update(own)
            request.meta[_SENT] = tuple(own)

    def process_response(self, request: Request, response: Response) -> Response:
        """Takes out new cookies, which WARC files would keep, and says that it is no public page."""
        if request.meta.get(_SENT):
            response.headers.pop("Set-Cookie", None)
            if self._crawl.logins.is_private(urls.canonical(request.url)):
                response.headers[PRIVATE] = "login"
        return response


SMALL_BODY_BYTES = 64 * 1024
BEGINNING_BYTES = 1_024  # where readers look for the mark of a PDF
_BEGUN = "begun"  # in a request's meta: what has come of a body that may be a document, and its headers
# Archives of Office, OpenDocument and EPUB begin so, and doc: only all of it tells which it is, or none.
_MAY_BE_OF_OFFICE = re.compile(
    rb"(?s)PK\x03\x04.{26}(?:mimetype|META-INF/|\[Content_|_rels/|docProps/|word/|xl/|ppt/|customXml/)|\xd0\xcf\x11\xe0"
).match
RESPELLINGS = 5  # redirects between spellings of one canonical URL, within one lease


class OutcomeMiddleware(CrawlPart):
    """Reports the end of each leased download and decides it, unless it is a document."""

    def __init__(self, crawl: Crawl) -> None:
        super().__init__(crawl)
        self._tries = crawl.settings.getint("FRONTIER_TRIES")
        self._timeout_s = crawl.settings.getfloat("DOWNLOAD_TIMEOUT")  # of all downloads of a lease
        crawl.crawler.signals.connect(self.stop_what_is_no_document, signals.headers_received)
        crawl.crawler.signals.connect(self.stop_what_begins_as_none, signals.bytes_received)

    def process_request(self, request: Request) -> None:
        if "lease" in request.meta:
            sys.audit("webcrawler.download.before")
            now = time.monotonic()
            request.meta.setdefault("started", now)
            deadline = request.meta.setdefault("deadline", now + self._timeout_s)
            request.meta["download_timeout"] = max(0.1, deadline - now)

    def process_response(self, request: Request, response: Response) -> Response | Request:
        lease: Lease | None = request.meta.get("lease")
        if lease is None:
            return response
        sys.audit("webcrawler.download.after")
        target = self._target(request, response)
        respelled = request.meta.get("respelled", 0)
        if target and target.id == lease.id and respelled < RESPELLINGS:
            # The same URL under another spelling (`/index.html` sent on to `/`): the lease goes on.
            return request.replace(url=target.spelling, meta={**request.meta, "respelled": respelled + 1})
        seconds = time.monotonic() - request.meta["started"]
        state, reason, retry = reason_of(response, target, lease, self._crawl.rules.kinds)
        # Half a page has half of its links: it is asked for again. The last try takes what came.
        if reason in PARSED and "dataloss" in response.flags and lease.tries + 1 < self._tries:
            state, reason, retry = "failed", "unreachable", True
        note = self._crawl.certificates.fault(request.url)
        if note:
            self._crawl.crawler.stats.inc_value(f"webcrawler/noted/{note}")
        fetch = Fetch(
            lease,
            state,
            reason,
            clock.now(),
            seconds,
            min(response.status, 999),  # a status line may hold any number, a database does not
            headers_of(response),
            b"" if "download_stopped" in response.flags else response.body,
            retry,
            target,
            note,
        )
        fetch = self._crawl.outcomes.judged(fetch, report_of(lease, seconds, response))
        if reason in PARSED and response.status == 200:
            self._crawl.outcomes.begin(fetch)
            return response
        self._crawl.outcomes.decide(Entry(fetch, archive=True))
        raise Decided

    def stop_what_is_no_document(self, headers: Headers, body_length: object, request: Request) -> None:
        """A video is not fetched to the end only to be dropped; small bodies are, to keep the connection."""
        request.meta.pop(_BEGUN, None)  # of a redirect to this spelling
        kind = (headers.get("Content-Type") or b"").decode("latin-1")
        # Twisted's UNKNOWN_LENGTH is not a number.
        is_large = not isinstance(body_length, int) or body_length > SMALL_BODY_BYTES
        lease: Lease | None = request.meta.get("lease")
        names = (request.url, "/" + file_name(headers))
        is_read = any(declared_kind(kind, name) in self._crawl.rules.kinds for name in names)
        if lease and is_large and not is_read and not is_sitemap(lease):
            if not kind_of(kind, b"%PDF-", request.url):  # what a header names clearly is nothing else
                raise StopDownload(fail=False)
            if not codings_of(headers):
                request.meta[_BEGUN] = (b"", kind)

    def stop_what_begins_as_none(self, data: bytes, request: Request) -> None:
        """Nor is what a header names vaguely, once its first bytes show nothing that is read."""
        begun, kind = request.meta.get(_BEGUN) or (None, "")
        if begun is None:
            return
        start = begun + data
        request.meta[_BEGUN] = (start, kind)
        if len(start) >= BEGINNING_BYTES:
            del request.meta[_BEGUN]
            is_read = kind_of(kind, start, request.url) in self._crawl.rules.kinds
            if not (is_read or _MAY_BE_OF_OFFICE(start)):
                raise StopDownload(fail=False)

    def _target(self, request: Request, response: Response) -> Link | None:
        """Where a redirect leads, as the frontier takes it in."""
        location, protocols = response.headers.get("Location"), self._crawl.rules.protocols
        link = redirect_target(response.status, location, request.url, protocols)
        lease: Lease | None = request.meta.get("lease")
        if link is None:
            return None
        if lease and is_sitemap(lease):
            return self._crawl.sitemaps.moved(lease, link)
        return self._crawl.rules.apply_redirect(lease, link) if lease else self._crawl.rules.apply(link)


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
