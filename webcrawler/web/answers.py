"""Runs searches in a few threads, so that the event loop stays free, and caches recent answers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock, local
from typing import NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from webcrawler.index import indexed_documents
from webcrawler.records import Hit
from webcrawler.search import Answering, Part, Results, Searcher
from webcrawler.web.config import Config
from webcrawler.web.metrics import Metrics
from webcrawler.web.parameters import SearchRequest
from webcrawler.web.render import NotNow

T = TypeVar("T")
MAX_LETTERS = 200  # of a query to complete
REMEMBERED = 256  # answers, at most
MAX_REMEMBERED_HITS = 20  # of a remembered answer, without explanations: about 20 kB
MAX_WAITING = 200  # requests
LATE_SECONDS = 5.0  # that a request may wait for a thread
FIRST = "the first search opens index, vocabulary and tables"
NOT_THERE = "that page is not on this page of the results: give page and limit as in the search"
NOTHING = "nothing was crawled here yet"
BUSY = "too many searches at once: try again in a moment"


class Explained(NamedTuple):
    hit: Hit
    parts: list[Part]

    @property
    def score(self) -> float:
        return sum(part.contribution for part in self.parts)


class Answers:
    """Each thread has a searcher of its own."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        self._config, self._metrics = config, metrics
        self._pool = ThreadPoolExecutor(config.threads, "search")
        self._own = local()
        self._recent: OrderedDict[object, Results] = OrderedDict()  # the most recently used at the end
        self._recent_lock = Lock()
        self._waiting = 0
        self._is_closed = False

    async def ask(self, question: Callable[[Answering], T]) -> T:
        """Ask a searcher, in a thread.

        Raises:
            NotNow: too many wait, or no thread was free in time.
            Unavailable: the index cannot be read.
        """
        if self._waiting >= MAX_WAITING:
            raise NotNow(BUSY)
        self._waiting += 1
        queued = self._pool.submit(lambda: question(self._searcher()))
        answer = asyncio.wrap_future(queued)
        try:
            await asyncio.wait([answer], timeout=LATE_SECONDS)
            if not answer.done() and queued.cancel():  # it has not begun
                raise NotNow(BUSY)
            return await answer
        except asyncio.CancelledError:
            if not self._is_closed:  # the client has left
                raise
            raise NotNow("this server is being stopped") from None
        finally:
            queued.cancel()
            self._waiting -= 1

    async def search(self, wanted: SearchRequest) -> Results:
        return await self.ask(lambda searcher: self._search(searcher, wanted))

    async def explain(self, wanted: SearchRequest, number: int) -> Explained:
        """The parts of one hit's score.

        Only this hit is explained; the search itself is mostly answered from the cache.

        Raises:
            HTTPException: 404, it is not on that page of the results.
        """
        results = await self.search(replace(wanted, explain=False))
        hit = next((hit for hit in results.hits if hit.number == number), None)
        if hit is None:
            raise HTTPException(404, NOT_THERE)
        words = (*wanted.add, *(word.spelled for word in results.added))
        text = results.corrected or wanted.q
        parts = await self.ask(
            lambda searcher: searcher.explain(
                text,
                number,
                ranking=wanted.ranking,
                within=wanted.within,
                add=words,
                language=wanted.language,
            ),
        )
        return Explained(hit, parts)

    async def suggest(self, query: str) -> list[str]:
        """Whole queries that begin like this one."""
        if not query.strip() or len(query) > MAX_LETTERS:
            return []
        return await self.ask(lambda searcher: searcher.suggest(query))

    async def documents(self) -> int:
        """How many pages can be searched."""
        if self._config.search_url:
            return await self.ask(lambda searcher: searcher.documents)
        # waits for no searches
        return await run_in_threadpool(indexed_documents, self._config.crawl_dir / "index")

    def warm(self) -> None:
        """Open what searches need, so that nobody waits for it."""
        for _ in range(self._config.threads):
            self._pool.submit(lambda: self._searcher().search(FIRST))

    def close(self) -> None:
        """Cancel searches that wait; those that run are finished."""
        self._is_closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _searcher(self) -> Answering:
        """The searcher of this thread."""
        if not hasattr(self._own, "searcher"):
            self._own.searcher = searcher_of(self._config)
        made: Answering = self._own.searcher
        return made

    def _search(self, searcher: Answering, wanted: SearchRequest) -> Results:
        # what is older is not asked for, and drops out
        key = (wanted, searcher.generation, searcher.last_fetch)
        with self._recent_lock:
            if known := self._recent.get(key):
                self._recent.move_to_end(key)
                self._metrics.answers_cached.inc()
                return known
        results = searcher.answer(wanted.question)
        if not results.indexed:  # the note of the searcher names the folder
            results = replace(results, note=NOTHING)
        if results.partial:  # the next try may give more
            self._metrics.searches_partial.inc()
        elif len(results.hits) <= MAX_REMEMBERED_HITS and not results.explanations:
            with self._recent_lock:
                self._recent[key] = results
                if len(self._recent) > REMEMBERED:
                    self._recent.popitem(last=False)
        return results


def searcher_of(config: Config) -> Answering:
    """Make a searcher of the folder, or of the cluster that is searched in its place."""
    if not config.search_url:
        return Searcher(
            config.crawl_dir, deadline_seconds=config.deadline_seconds, fresh_seconds=config.fresh_seconds
        )
    from webcrawler.opensearch import ClusterSearcher

    # twice as long: half of it may pass until another node is asked
    return ClusterSearcher(config.search_url, config.crawl_dir, deadline_seconds=2 * config.deadline_seconds)
