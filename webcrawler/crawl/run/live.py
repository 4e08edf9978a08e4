"""One live line on a terminal: pages, pages/s, servers, waiting, leased, failed, indexed."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text
from scrapy import signals
from scrapy.exceptions import NotConfigured

from webcrawler.connection import RedisError
from webcrawler.crawl.run.agents import Agents
from webcrawler.crawl.run.crawl import AGENTS, Crawl
from webcrawler.frontier import inspect
from webcrawler.index import indexed_documents

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

REFRESH_SECONDS = 1.0
LABELS = {"servers": "servers", "waiting": "queued", "leased": "leased", "failed": "failed"}


class LiveLine:
    """Drawn on standard error, once a second, where that is a terminal."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._states: dict[str, int] = {}
        self._live = Live(console=Console(stderr=True), auto_refresh=False)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LiveLine:
        agents: Agents | None = crawler.settings.get(AGENTS)
        if not sys.stderr.isatty() or (agents and not agents.is_first):
            raise NotConfigured
        line = cls(crawler)
        crawler.signals.connect(line._open, signals.spider_opened)
        crawler.signals.connect(line._close, signals.spider_closed)
        return line

    def _open(self) -> None:
        self._crawl = Crawl.of(self._crawler)  # extensions can be asked for when all of them are made
        self._began = time.monotonic()
        self._live.start()
        self._task = asyncio.ensure_future(self._draw())

    def _close(self) -> None:
        self._task.cancel()
        self._live.update(self._line(), refresh=True)
        self._live.stop()

    async def _draw(self) -> None:
        while True:
            with suppress(RedisError):  # the log says so already
                self._states = await asyncio.to_thread(inspect.stats, self._crawl.frontier)
            self._live.update(self._line(), refresh=True)
            await asyncio.sleep(REFRESH_SECONDS)

    def _line(self) -> Text:
        crawl = self._crawl
        seconds = max(time.monotonic() - self._began, 0.001)
        documents = crawl.outcomes.documents
        parts = [f"{documents:,} pages", f"{documents / seconds:.1f} pages/s"]
        parts += [f"{self._states.get(state, 0):,} {label}" for label, state in LABELS.items()]
        parts.append(f"{indexed_documents(crawl.folder / 'index'):,} indexed")
        return Text("  ".join(parts), overflow="ellipsis", no_wrap=True)
