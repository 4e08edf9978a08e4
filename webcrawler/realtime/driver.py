"""Drives a real-time search beside the crawl that fetches for it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

from webcrawler import clock
from webcrawler.connection import RedisError, is_passing
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import Frontier
from webcrawler.realtime.journal import Journal
from webcrawler.realtime.search import RealtimeSearch
from webcrawler.records import Link

if TYPE_CHECKING:
    from webcrawler.crawl.run import Crawl

logger = logging.getLogger(__name__)
T = TypeVar("T")

# Of a Redis, a disk, an index being exchanged: others repair these, the next step may succeed.
PASSING = (RedisError, WebcrawlerError, sqlite3.Error, OSError)


class Driver:
    """Runs the search step by step in a thread of its own; its methods are for the event loop.

    Args:
        show: called with the journal whenever that is written.
    """

    def __init__(self, search: RealtimeSearch, show: Callable[[Journal], object]) -> None:
        self._search, self._show = search, show
        self._thread = ThreadPoolExecutor(1, "search")

    async def run(self, crawl: Crawl) -> None:
        """Goes on until the search or the crawl is over; ends the crawl where it is the search."""
        stats, is_demo = crawl.crawler.stats.get_stats(), crawl.stores.demo is not None
        with ExitStack() as opened:
            frontier = crawl.stores.new_frontier(opened)
            while not crawl.is_closing:
                reason = await self._in_thread(lambda: self._try_step(frontier, crawl.rules.admits))
                self._search.note_crawl(stats, is_demo)
                if reason:
                    crawl.stop(reason)
                    return
                self._show(self._search.journal())
                await asyncio.sleep(clock.SEARCH_POLL_SECONDS)

    def _try_step(self, frontier: Frontier, admits: Callable[[Link], bool]) -> str:
        try:
            return self._search.step(frontier, admits)
        except PASSING as error:
            logger.warning("the search waits: %s", error)
            return "failed" if isinstance(error, RedisError) and not is_passing(error) else ""
        except Exception:
            logger.critical("the search failed", exc_info=True)
            return "failed"

    async def end(self, reason: str) -> None:
        """Shows the last list; `reason` is that of the crawl."""
        try:
            self._show(await self._in_thread(lambda: self._search.end(reason)))
        finally:
            self._thread.shutdown(wait=False)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)
