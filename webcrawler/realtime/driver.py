"""Drives a real-time search beside the crawl that fetches for it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from webcrawler.frontier import Frontier, inspect
from webcrawler.realtime.journal import Journal
from webcrawler.realtime.search import Fetched, RealtimeSearch
from webcrawler.records import Link

T = TypeVar("T")
POLL_SECONDS = 0.25
logger = logging.getLogger(__name__)


class Driver:
    """Runs the search step by step in a thread of its own; its methods are for the event loop.

    Args:
        show: called with the journal whenever that is written.
        passing: errors of Redis, of the disk or of an index that is being exchanged; after these the search
            goes on with its next step.
    """

    def __init__(
        self,
        search: RealtimeSearch,
        show: Callable[[Journal], object],
        passing: tuple[type[Exception], ...],
    ) -> None:
        self._search, self._show, self._passing = search, show, passing
        self._thread = ThreadPoolExecutor(1, "search")
        self._fetched: deque[Fetched] = deque()  # that the search has still to look at
        self._has_joined = False
        self._waiting = 0  # URLs

    def add(self, fetched: Fetched) -> None:
        """A document that the crawl fetched."""
        self._fetched.append(fetched)

    async def run(
        self,
        frontier: Frontier,
        admits: Callable[[Link], bool],
        is_closing: Callable[[], bool],
        about: Callable[[], str],
    ) -> str:
        """Takes the links that the search finds into the frontier, until the search or the crawl is over.

        Args:
            frontier: for the thread of the search.
            admits: may this link be followed?
            about: what people should know of the crawl.
        Returns:
            Why the search is over; "" when it is the crawl that ends.
        """
        while not is_closing():
            reason = await self._in_thread(lambda: self._try_step(frontier, admits))
            self._search.note_crawl(self._waiting, about())
            if reason:
                return reason
            self._show(self._search.journal())
            await asyncio.sleep(POLL_SECONDS)
        return ""

    async def end(self, reason: str) -> None:
        """Shows the last list; `reason` is that of the crawl."""
        try:
            self._show(await self._in_thread(lambda: self._end(reason)))
        finally:
            self._thread.shutdown(wait=False)

    def _try_step(self, frontier: Frontier, admits: Callable[[Link], bool]) -> str:
        try:
            return self._step(frontier, admits)
        except self._passing as error:
            logger.warning("the search waits: %s", error)
            return ""
        except Exception:
            logger.critical("the search broke", exc_info=True)
            return "failed"

    def _step(self, frontier: Frontier, admits: Callable[[Link], bool]) -> str:
        """Returns why the search is over, "" while it goes on."""
        search = self._search
        if search.is_stopped():
            return "stopped"
        self._add_fetched()
        if search.is_enough():
            return "enough"
        if not self._has_joined:
            search.join(frontier, admits)
            self._has_joined = True
            return ""
        candidates = search.step()
        states = inspect.stats(frontier)
        self._waiting = states["queued"]
        is_at_rest = not (states["queued"] or states["leased"] or candidates or self._fetched)
        return "nothing_left" if search.has_seen_all(is_at_rest) else ""

    def _add_fetched(self) -> None:
        while self._fetched:
            self._search.add(self._fetched[0])
            self._fetched.popleft()  # only now: the step is repeated when it fails

    def _end(self, reason: str) -> Journal:
        with suppress(*self._passing):
            self._add_fetched()
        return self._search.end(reason)

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)
