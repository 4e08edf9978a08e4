"""No connection to loopback, private and other special addresses, whatever the way to them.

Two places, one set of rules: literal hosts before a request, resolved ones at connect time, so that a
name cannot be public when checked and private when connected to.
"""

from __future__ import annotations

from scrapy import Request

from webcrawler import urls
from webcrawler.crawl.run import CrawlPart
from webcrawler.crawl.worker import Refused


class AddressMiddleware(CrawlPart):
    """Refuses special addresses written in a URL, in every spelling, and ports that are no web server's."""

    def process_request(self, request: Request) -> None:
        resolver = self._crawl.stores.resolver
        host, port = urls.host_and_port(urls.server(request.url))
        host = host.rstrip(".")
        # The resolver lets connections to a proxy's name through: no page may lead there.
        is_proxy = host in resolver.proxy_names
        if is_proxy or not (resolver.rules.permits_host(host) and resolver.rules.permits_port(port)):
            raise Refused("address-refused")
