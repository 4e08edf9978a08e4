"""Bare Scrapy: queue in memory, lxml links, one Request for each new link of a page, nothing stored.

scrapy-redis runs the same spider with its own scheduler (see contenders.py).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin

import scrapy
from lxml import html
from scrapy.http import Response

SKIPPED = frozenset(
    ("png", "jpg", "gif", "svg", "zip", "gz", "pdf", "txt", "js", "css", "tar", "bz2", "ps", "h", "c", "py")
)


class PlainSpider(scrapy.Spider):
    name = "plain"
    custom_settings = {
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
    }

    def __init__(self, seed: str) -> None:
        super().__init__()
        self.seed = seed

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self.seed)

    def parse(self, response: Response, **_: Any) -> Iterator[scrapy.Request]:
        if b"html" not in (response.headers.get("Content-Type") or b"text/html"):
            return
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value("plain/documents")
        for url in dict.fromkeys(self.links(response)):
            if url.startswith("http://") and url.rsplit(".", 1)[-1].lower() not in SKIPPED:
                yield scrapy.Request(url)

    def links(self, response: Response) -> Iterator[str]:
        try:
            root = html.document_fromstring(response.body)
        except Exception:  # whatever lxml makes of bytes that are no page
            return
        for anchor in root.iter("a"):
            try:
                if href := anchor.get("href"):
                    yield urldefrag(urljoin(response.url, href)).url
            except ValueError:
                continue
