"""Sends cookies and headers to the sites that they are for, and marks what was fetched so.

The last one before a download, so that all else of the crawl sees a request without anything secret. Each
redirect is a request of its own, and is looked at anew.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from webcrawler import urls
from webcrawler.crawl.run import CrawlPart
from webcrawler.parsing import PRIVATE

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
