"""Searches in a few threads, so that the event loop answers others meanwhile; remembers recent answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Lock, local
from typing import TypeVar

from webcrawler.errors import BadInput, Unavailable
from webcrawler.search import Results, Searcher
from webcrawler.text import load
from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow
from webcrawler.web.search_request import Asking
from webcrawler.web.status import Metrics
from webcrawler.web.turns import Turns

T = TypeVar("T")
REMEMBERED = 256  # answers
MAX_REMEMBERED_HITS = 20  # of one of them, without explanations: about 20 kB
MAX_WAITING = 200  # requests
LATE_SECONDS = 5.0  # that a request may wait for a thread
FIRST = "the first search opens index, vocabulary and tables"
NOTHING = "nothing was crawled here yet"
BUSY = "too many searches at once: try again in a moment"


class Answers:
    """Each thread has a searcher of its own. Raises BadInput: the reference is no file of frequencies."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        self._config, self._metrics = config, metrics
        self._reference = load(Path(config.reference)) if config.reference else None
        self._turns = Turns(config.threads)
        self._own = local()
        self._recent = Recent(REMEMBERED)
        self._waiting = 0
        self._is_closed = False

    async def ask(self, question: Callable[[Searcher], T], client: str = "") -> T:
        """What a searcher says, asked in a thread when it is this client's turn.

        Raises Unavailable; NotNow when too many wait, or no thread was free in time.
        """
        if self._waiting >= MAX_WAITING:
            raise NotNow(BUSY)
        self._waiting += 1
        asked = self._turns.submit(client, lambda: question(self._searcher()))
        try:
            return await self._answer(asked)
        except asyncio.CancelledError:
            if not self._is_closed:  # who asked does not wait any longer
                raise
            raise NotNow("this server is being stopped") from None
        finally:
            self._waiting -= 1

    async def search(self, asking: Asking, client: str = "") -> Results:
        return await self.ask(lambda searcher: self._search(searcher, asking), client)

    def warm(self) -> None:
        """Open what searches need before anybody waits for it."""
        for _ in range(self._config.threads):
            self._turns.submit("", lambda: self._searcher().search(FIRST))

    def close(self) -> None:
        """Those that are being answered are; those that wait are not."""
        self._is_closed = True
        self._turns.close()

    async def _answer(self, asked: Future[T]) -> T:
        answer = asyncio.wrap_future(asked)
        try:
            await asyncio.wait([answer], timeout=LATE_SECONDS)
            if not answer.done() and asked.cancel():  # it was not begun
                raise NotNow(BUSY)
            return await answer
        finally:
            asked.cancel()

    def _searcher(self) -> Searcher:
        if not hasattr(self._own, "searcher"):
            self._own.searcher = self._new_searcher()
        made: Searcher = self._own.searcher
        return made

    def _new_searcher(self) -> Searcher:
        config = self._config
        try:
            return Searcher(
                config.crawl_dir,
                self._reference,
                config.deadline_seconds,
                config.engine,
                config.fresh_seconds,
            )
        except BadInput as error:  # no visitor chose the engine
            raise Unavailable(str(error)) from error

    def _search(self, searcher: Searcher, asking: Asking) -> Results:
        key = (asking, searcher.generation)
        known = self._recent.get(key)
        if known is not None:
            self._metrics.answers_cached.inc()
            return known
        results = searcher.search(
            asking.q,
            limit=asking.limit,
            ranking=asking.ranking,
            start=asking.start,
            within=asking.within,
            add=asking.add,
            expand=asking.expand,
            explain=asking.explain,
        )
        if not results.indexed:  # its own note names the folder
            results = replace(results, note=NOTHING)
        if results.partial:  # the next try may give more
            self._metrics.searches_partial.inc()
        elif len(results.hits) <= MAX_REMEMBERED_HITS and not results.explanations:
            self._recent.put(key, results)
        return results


class Recent:
    """The answers that were last asked for, for all threads. A new generation forgets by not asking again."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._answers: OrderedDict[object, Results] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> Results | None:
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def put(self, key: object, results: Results) -> None:
        with self._lock:
            self._answers[key] = results
            if len(self._answers) > self._size:
                self._answers.popitem(last=False)
