"""Sees to it that a page is decided whatever a spider makes of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from webcrawler.crawl.run import CrawlPart


class UndecidedMiddleware(CrawlPart):
    """Decides a page of which the callback yields no item; items decide theirs when they are through."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        is_decided = False
        async for output in result:
            is_decided = is_decided or not isinstance(output, Request)
            yield output
        if not is_decided:
            self._crawl.decide_response(response)
