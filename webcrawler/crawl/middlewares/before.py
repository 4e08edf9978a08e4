"""What happens to a request before its download: may it be asked, where is its server, and who asks?

Names are looked up first: that takes none of a download's time, and no other's place for long. A name
server that does not answer says nothing about the servers whose names wait behind it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from webcrawler import urls
from webcrawler.crawl.resolver import addresses
from webcrawler.crawl.responses import Refused
from webcrawler.crawl.run import CrawlPart
from webcrawler.parsing import PRIVATE
from webcrawler.records import Lease


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
