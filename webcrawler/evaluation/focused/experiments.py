"""Focused crawls with each strategy, over all topics of a recorded crawl."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.crawl import best, crawl, sample, strategy
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.focused.report import Run, pooled
from webcrawler.evaluation.focused.topics import RelevanceRules, Topic
from webcrawler.index import applied_seq
from webcrawler.orderings import Wanted, arguments_of, ordering_type
from webcrawler.records import Text
from webcrawler.search import Searcher

RANKING = "bm25f"

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


@dataclass(frozen=True)
class Experiments:
    """The crawls to make: one for each topic, strategy and seed."""

    topics: Sequence[Topic]
    strategies: Sequence[str]
    pages: int = 1000  # of each crawl
    starts: Sequence[str] = ()  # canonical URLs of documents; none: the one fetched first
    known: int = 0  # random documents that are known beforehand
    seeds: Sequence[int] = (1,)  # of the choice of those

    def check(self) -> None:
        """Raises BadInput: a query has no word, or there is no such strategy."""
        for topic in self.topics:
            Wanted.of(topic.query)
        for name in self.strategies:
            for topic in self.topics:
                strategy(mode_of(name, topic.query))


def runs(
    recording: Recording, experiments: Experiments, connection: Connection, progress: Progress
) -> Iterator[list[Run]]:
    """All crawls of a topic, as soon as they are over; topics without a relevant document are left out.

    Args:
        connection: to a Redis of our own; it is emptied.
    Raises:
        BadInput: there is no such start page; known documents need an index; or no document is relevant.
    """
    for url in experiments.starts:
        if recording.number_of(url) is None:
            raise BadInput(f"--start: the crawl has no document {url[:200]!r}")
    has_index = applied_seq(recording.crawl_dir / "index") > 0
    if experiments.known and not has_index:
        raise BadInput(
            f"{recording.crawl_dir} has no index, which ranks known documents: run `scrapy reindex`"
        )
    draws: dict[int | None, frozenset[int]] = {None: frozenset()}
    if experiments.known:
        draws = {seed: sample(recording, experiments.known, seed) for seed in experiments.seeds}
    relevant = RelevanceRules(experiments.topics).relevant(_texts(recording, progress))
    if not any(relevant.values()):
        raise BadInput(f"no document of {recording.crawl_dir} is relevant to a topic: crawl more of them")
    searcher = Searcher(recording.crawl_dir) if has_index else None
    for topic in experiments.topics:
        found: list[Run] = []
        for seed, known in draws.items():
            if wanted := relevant[topic.query] - known:
                ranked = searcher.rank(topic.query, RANKING, len(recording.documents)) if searcher else []
                crawls = _runs(
                    recording, experiments, connection, progress, topic.query, ranked, known, wanted
                )
                found += [run._replace(seed=seed) for run in crawls]
        if found:
            yield found


def _runs(
    recording: Recording,
    experiments: Experiments,
    connection: Connection,
    progress: Progress,
    query: str,
    ranked: Sequence[tuple[int, float]],
    known: frozenset[int],
    relevant: set[int],
) -> list[Run]:
    """A crawl with each strategy from the same start, compared with each other."""
    start_from = best(recording, ranked, known)
    explored = {recording.documents[number].id for number in known}
    seeds = () if explored else experiments.starts or [recording.first()]
    orders: dict[str, list[int]] = {}
    found = []
    for name in experiments.strategies:
        tell = partial(progress, f"{name}: {query}")
        mode, began = mode_of(name, query), time.perf_counter()
        order, tried = crawl(
            recording, mode, seeds, connection, experiments.pages, start_from, explored, tell
        )
        seconds = round(time.perf_counter() - began, 3)
        orders[name] = order
        places = tuple(place for place, number in enumerate(order, 1) if number in relevant)
        found.append(Run(name, query, len(relevant), len(order), places, tried, seconds))
    pool = pooled(orders, [number for number, _ in ranked]) if ranked else {}
    return [run._replace(pool=pool.get(run.strategy)) for run in found]


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
