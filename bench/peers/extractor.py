"""The same spider with Scrapy's LinkExtractor, as most are written."""

from __future__ import annotations

from collections.abc import Iterator

from plain import PlainSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

EXTRACTOR = LinkExtractor()


class ExtractorSpider(PlainSpider):
    name = "extractor"

    def links(self, response: Response) -> Iterator[str]:
        if isinstance(response, HtmlResponse):
            yield from (link.url for link in EXTRACTOR.extract_links(response))
