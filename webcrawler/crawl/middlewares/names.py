"""Names are looked up before a download begins: it takes none of its time, and no other's place for long.

A name server that does not answer says nothing about the servers whose names wait behind it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from webcrawler.crawl.resolver import addresses
from webcrawler.crawl.run import CrawlPart

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
