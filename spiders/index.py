"""`webcrawler crawl index`: crawl from seeds in the order of a mode, and index what is found."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider
from scrapy.http import Response

from webcrawler.crawl import CrawledPage, wiring
from webcrawler.crawl.run import Crawl
from webcrawler.errors import ParserKilled, Unavailable, Unreadable
from webcrawler.job import Job
from webcrawler.parsing import with_headers
from webcrawler.urls import Mirrors

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class IndexSpider(Spider):
    """Its arguments are those of docs/reference/commands.md."""

    name = "index"
    custom_settings = wiring.SETTINGS
    job_type = Job

    def __init__(self, **arguments: str) -> None:
        super().__init__()
        self.job = self.job_type.read(**arguments)
        self._last = asyncio.Event()  # set when the page fetched last has been handed on
        self._last.set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        spider.job = spider.job.of_originals(Mirrors.read(crawler.settings["MIRRORS"]))
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: seeds go straight into the frontier, by the scheduler."""
        no_requests: tuple[Any, ...] = ()
        for request in no_requests:
            yield request

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[CrawledPage]:
        crawl = Crawl.of(self.crawler)
        outcomes, parsers = crawl.outcomes, crawl.stores.parsers
        fetch = outcomes.fetch_of(response)
        content_type = dict(fetch.headers).get("Content-Type", "")
        before, self._last = self._last, asyncio.Event()
        is_over = self._last
        try:
            sys.audit("webcrawler.parse.before")
            body, url, protocols = fetch.body, fetch.lease.spelling, crawl.rules.protocols
            if fetch.reason == "sitemap":
                named = parsers.parse_sitemap(body, url, content_type, fetch.fetched, protocols)
                entry = await asyncio.to_thread(crawl.sitemaps.entry, fetch, await asyncio.wrap_future(named))
                await before.wait()
                outcomes.extend(fetch.lease, lambda _: entry)
                return
            forms = crawl.rules.forms.match(fetch.lease.url)
            parsed = await asyncio.wrap_future(parsers.parse(body, url, content_type, protocols, forms))
            page = with_headers(parsed, fetch.headers, parsers.robot)
            sys.audit("webcrawler.parse.after")
            await before.wait()  # several parsers must not change the order of fetching
            item = CrawledPage.of(fetch, page)
            if fetch.reason == "probe":
                text, simhash = item.index_text, page.simhash
                outcomes.extend(fetch.lease, lambda entry: replace(entry, text=text, simhash=simhash))
                return
            outcomes.extend(fetch.lease, lambda entry: replace(entry, noindex=page.noindex))
            yield item
        except ParserKilled as error:
            outcomes.quarantine(response, str(error))
        except Unreadable as error:
            outcomes.refuse(response, str(error))
        except Unavailable:  # its parser was stopped from outside
            await outcomes.give_back(response)
        finally:
            is_over.set()
