"""A spider and a pipeline that fail on demand, for the crawls of test_scheduler.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from scrapy.core.engine import ExecutionEngine
from scrapy.exceptions import DropItem
from scrapy.http import Response

from spiders.index import IndexSpider
from webcrawler.crawl.run import CrawlPart

# Scrapy looks for work every five seconds; here only the scheduler's own waking counts.
ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 3600.0


class Misbehaving(IndexSpider):
    name = "misbehaving"

    async def parse(self, response: Response, **_: Any) -> AsyncIterator[Any]:
        if "callback-raises" in response.url:
            raise RuntimeError("on purpose, before the page")
        if "yields-nothing" in response.url:
            return
        async for item in super().parse(response):
            yield item
        if "raises-late" in response.url:
            raise RuntimeError("on purpose, after the page")


class Pipeline(CrawlPart):
    def process_item(self, item: Any) -> Any:
        if "pipeline-raises" in item.url:
            raise RuntimeError("on purpose, in a pipeline")
        if "pipeline-drops" in item.url:
            raise DropItem("on purpose")
        if "pipeline-replaces" in item.url:
            return {"url": item.url}
        if "breaks-batch" in item.url:
            links = (item.page.links[0]._replace(anchor="\ud800"),)  # what no database takes
            self._crawl.outcomes.extend(item.fetch.lease, lambda entry: replace(entry, links=links))
        return item
