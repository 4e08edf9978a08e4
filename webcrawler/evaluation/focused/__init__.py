"""Which strategy finds the pages of a topic first? Focused crawls of a recorded crawl.

They are the real frontier and strategy, with the recording in place of HTTP. `read_topics` says what pages
are relevant, `Recording` is the crawl, `Run` holds what a strategy found, `tables` and `draw` show many.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.recorded_web import (
    Fetched,
    Recording,
    RelevanceRules,
    Topic,
    link,
    read_topics,
)
from webcrawler.evaluation.focused.report import Run, compared, draw, pooled, summary, tables
from webcrawler.evaluation.runner import Progress, each
from webcrawler.evaluation.virtual import NO_DELAY
from webcrawler.frontier import Budgets, Done, Failed, Frontier, Seen
from webcrawler.index import applied_seq
from webcrawler.orderings import Ordering, arguments_of, ordering, ordering_type
from webcrawler.orderings.topic import Wanted
from webcrawler.records import Lease, Text
from webcrawler.search import Searcher

RANKING = "bm25f"
REPEATS = 20  # BUDGET_REPEATS of a crawl: duplicates of a path prefix after which its URLs come last


def strategy(mode: str) -> Ordering:
    """The ordering of a mode. Raises BadInput: there is none, or it follows ranks."""
    found = ordering(mode)
    if found.follows_ranks:
        raise BadInput(f"{mode.partition('?')[0]} follows ranks: compare it by --orderings")
    return found


def crawl(
    recording: Recording,
    mode: str,
    seeds: Sequence[str],
    connection: Connection,
    pages_max: int,
    progress: Callable[[int, int], None] = lambda fetched, wanted: None,
) -> tuple[list[int], int]:
    """Crawl until so many documents are fetched, or nothing is left.

    One URL at a time and no politeness: the exact order of the strategy. The frontier is told of each URL as
    `webcrawler.archive.batch` does. Empties the Redis first.

    Args:
        seeds: canonical URLs to start from.
    Returns:
        Page numbers of the documents in their order; how many URLs were tried, also those that led to none.
    Raises:
        BadInput: there is no such mode.
    """
    connection.client.flushdb()
    by = strategy(mode)
    frontier = Frontier(connection.client, by, "virtual", NO_DELAY, budgets=Budgets(repeats=REPEATS))
    frontier.open(mode)
    frontier.discover([link(url) for url in seeds])
    digests, order, tried = set[bytes](), list[int](), 0
    while len(order) < pages_max and (leases := frontier.lease(1).leases):
        (lease,) = leases
        tried += 1
        fetched = recording.fetch(lease.url)
        _decide(frontier, lease, fetched, repeats=fetched.digest in digests)
        if fetched.number:
            order.append(fetched.number)
            digests.add(fetched.digest)
            progress(len(order), pages_max)
    return order, tried


def _decide(frontier: Frontier, lease: Lease, fetched: Fetched, repeats: bool) -> None:
    by, links = frontier.ordering, fetched.links
    if by.learns:
        by.learn([Seen(lease.id, lease.url, fetched.text, links)])
    if fetched.reason == "not-found":
        frontier.fail([Failed(lease, "failed/not-found", retry=False)])
    else:
        note = by.page_note(fetched.text, lease)
        reason = "duplicate" if repeats else fetched.reason
        frontier.complete([Done(lease, reason, bool(fetched.number), links, repeats=repeats, note=note)])
    if by.learns:
        frontier.rescore(*by.plan())


@dataclass(frozen=True)
class Experiments:
    """The crawls to make: one for each topic and strategy."""

    topics: Sequence[Topic]
    strategies: Sequence[str]
    pages: int = 1000  # of each crawl
    starts: Sequence[str] = ()  # canonical URLs of documents; none: the one fetched first

    def check(self) -> None:
        """Raises BadInput: a query has no word, or there is no such strategy."""
        for topic in self.topics:
            Wanted.of(topic.query)
        for name in self.strategies:
            for topic in self.topics:
                strategy(mode_of(name, topic.query))


def runs(
    recording: Recording,
    experiments: Experiments,
    progress: Progress = lambda step, done, all: None,
    jobs: int = 1,
) -> Iterator[tuple[int, list[Run]]]:
    """All crawls of a topic, as soon as they are over; topics without a relevant document are left out.

    All errors come before the first. The runs are the same for any number of jobs, but for their seconds.

    Args:
        jobs: topics at a time, in processes with a Redis of their own.
    Returns:
        The number of the topic, and its crawls.
    Raises:
        BadInput: there is no such start page, or no document is relevant.
    """
    for url in experiments.starts:
        if url not in recording.number_of:
            raise BadInput(f"--start: the crawl has no document {url[:200]!r}")
    has_index = applied_seq(recording.crawl_dir / "index") > 0
    relevant = RelevanceRules(experiments.topics).relevant(_texts(recording, progress))
    if not any(relevant.values()):
        raise BadInput(f"no document of {recording.crawl_dir} is relevant to a topic: crawl more of them")

    @cache
    def opened(process: int) -> tuple[Recording, Searcher | None]:
        """No file is used by two processes."""
        return Recording(recording.crawl_dir), Searcher(recording.crawl_dir) if has_index else None

    def work(query: str, connection: Connection, progress: Progress) -> list[Run]:
        """A crawl with each strategy from the same start, compared with each other."""
        own, searcher = opened(os.getpid())
        orders: dict[str, list[int]] = {}
        made = []
        for name in experiments.strategies if relevant[query] else ():
            tell = partial(progress, f"{name}: {query}")
            began = time.perf_counter()
            order, tried = crawl(own, mode_of(name, query), seeds, connection, experiments.pages, tell)
            seconds = round(time.perf_counter() - began, 3)
            orders[name] = order
            places = tuple(place for place, number in enumerate(order, 1) if number in relevant[query])
            made.append(Run(name, query, len(relevant[query]), len(order), places, tried, seconds))
        ranked = searcher.rank(query, RANKING, len(own.documents)) if searcher and made else []
        pool = pooled(orders, [number for number, _ in ranked]) if ranked else {}
        return [run._replace(pool=pool.get(run.strategy)) for run in made]

    first = min(recording.documents.values(), key=lambda document: document.fetched)
    seeds = experiments.starts or [first.url]
    queries = [topic.query for topic in experiments.topics]
    return ((number, crawls) for number, crawls in each(queries, work, jobs, progress) if crawls)


def _texts(recording: Recording, progress: Progress) -> Iterator[tuple[int, Text]]:
    for done, text in enumerate(recording.texts(), 1):
        if done % 100 == 0:
            progress("finding relevant pages", done, len(recording.documents))
        yield text


def mode_of(strategy: str, query: str) -> str:
    """The mode of a strategy, `name` or `name?word=value&…`, that looks for a query.

    Orderings that take no query are left as they are. Raises BadInput: there is no such ordering.
    """
    name, _, words = strategy.partition("?")
    if "query" not in arguments_of(ordering_type(name, by_path=True)):
        return strategy
    arguments = filter(None, (words, urlencode({"query": query})))
    return f"{name}?{'&'.join(arguments)}"


__all__ = [
    "Experiments",
    "Recording",
    "RelevanceRules",
    "Run",
    "Topic",
    "compared",
    "crawl",
    "draw",
    "mode_of",
    "read_topics",
    "runs",
    "summary",
    "tables",
]
