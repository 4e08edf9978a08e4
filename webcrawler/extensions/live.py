"""One live line on a terminal: pages, pages/s, servers, waiting, leased, failed, indexed."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from rich.console import Console
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.exceptions import NotConfigured

from webcrawler.extensions.crawl import Crawl
from webcrawler.frontier import inspect
from webcrawler.index.follower import applied_seq

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REFRESH_SECONDS = 1.0


class LiveLine:
    """Drawn on standard error, once a second, where that is a terminal."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._live = Live(console=Console(stderr=True), auto_refresh=False)
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LiveLine:
        if not sys.stderr.isatty():
            raise NotConfigured
        line = cls(Crawl.of(crawler))
        crawler.signals.connect(line._open, signals.spider_opened)
        crawler.signals.connect(line._close, signals.spider_closed)
        return line

    def _open(self) -> None:
        self._began = time.monotonic()
        self._live.start()
        self._task = asyncio.ensure_future(self._draw())

    def _close(self) -> None:
        if self._task:
            self._task.cancel()
        self._live.stop()

    async def _draw(self) -> None:
        while True:
            try:
                text = await asyncio.to_thread(self._text)
                self._live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)
            except RedisError:
                pass  # the log says so already
            await asyncio.sleep(REFRESH_SECONDS)

    def _text(self) -> str:
        crawl = self._crawl
        states = inspect.stats(crawl.frontier)
        rate = crawl.documents / max(time.monotonic() - self._began, 0.001)
        return (
            f"{crawl.documents:,} pages · {rate:.1f} pages/s · {states['servers']:,} servers · "
            f"{states['queued']:,} waiting · {states['leased']:,} leased · {states['failed']:,} failed · "
            f"{applied_seq(crawl.folder / 'index'):,} indexed"
        )
