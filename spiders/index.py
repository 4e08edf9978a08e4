"""`scrapy crawl index`: crawl from seeds in the order of a mode, and index what is found."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Spider
from scrapy.http import Response

from webcrawler.crawl import CrawledPage, wiring
from webcrawler.crawl.run import Crawl
from webcrawler.errors import ParserKilled, Unavailable
from webcrawler.job import Job
from webcrawler.records import Entry


class IndexSpider(Spider):
    """Its arguments are those of docs/reference/commands.md."""

    name = "index"
    custom_settings = wiring.SETTINGS

    def __init__(self, **arguments: str) -> None:
        super().__init__()
        self.job = self.read_job(**arguments)
        self._last = asyncio.Event()  # set when the page fetched last has been handed on
        self._last.set()

    def read_job(self, **arguments: str) -> Job:
        return Job.read(**arguments)

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: seeds go straight into the frontier, by the scheduler."""
        no_requests: tuple[Any, ...] = ()
        for request in no_requests:
            yield request

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[CrawledPage]:
        crawl = Crawl.of(self.crawler)
        assert response.request is not None
        entry: Entry = response.request.meta["entry"]
        before, self._last = self._last, asyncio.Event()
        is_over = self._last
        try:
            page = await asyncio.wrap_future(crawl.parse(entry.fetch))
            sys.audit("webcrawler.parse.after")
            await before.wait()  # several parsers must not change the order of fetching
            yield CrawledPage.of(entry, page)
        except ParserKilled as error:
            crawl.quarantine(response, str(error))
        except Unavailable:  # its parser was stopped from outside
            await crawl.give_back(response)
        finally:
            is_over.set()
