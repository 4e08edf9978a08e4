"""Focused crawls with each strategy, over all topics of a recorded crawl."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.crawl import Crawled, best, crawl, sample, strategy
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.focused.report import Run, pooled
from webcrawler.evaluation.focused.topics import RelevanceRules, Topic
from webcrawler.index import applied_seq
from webcrawler.orderings import arguments_of, ordering_type
from webcrawler.orderings.topic import Wanted as Query
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
            Query.of(topic.query)
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
                rank = searcher.rank(topic.query, RANKING, len(recording.documents)) if searcher else []
                crawls = _crawls(recording, experiments, connection, progress, topic.query, rank, known)
                found += _runs(topic.query, wanted, seed, crawls, [number for number, _ in rank])
        if found:
            yield found


def _crawls(
    recording: Recording,
    experiments: Experiments,
    connection: Connection,
    progress: Progress,
    query: str,
    ranked: Sequence[tuple[int, float]],
    known: frozenset[int],
) -> dict[str, tuple[Crawled, float]]:
    """By strategy what was crawled, and the seconds it took."""
    start_from = best(recording, ranked, known)
    explored = {recording.documents[number].id for number in known}
    seeds = () if explored else experiments.starts or [recording.first()]
    crawls = {}
    for name in experiments.strategies:
        tell = partial(progress, f"{name}: {query}")
        mode, began = mode_of(name, query), time.perf_counter()
        crawled = crawl(recording, mode, seeds, connection, experiments.pages, start_from, explored, tell)
        crawls[name] = crawled, round(time.perf_counter() - began, 3)
    return crawls


def _runs(
    query: str,
    relevant: set[int],
    seed: int | None,
    crawls: Mapping[str, tuple[Crawled, float]],
    ranked: Sequence[int],
) -> Iterator[Run]:
    pool = pooled({name: crawled.order for name, (crawled, _) in crawls.items()}, ranked) if ranked else {}
    for name, ((order, tried), seconds) in crawls.items():
        yield Run(
            strategy=name,
            query=query,
            relevant=len(relevant),
            fetched=len(order),
            found=tuple(place for place, number in enumerate(order, 1) if number in relevant),
            tried=tried,
            seconds=seconds,
            seed=seed,
            pool=pool.get(name),
        )


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
    argument = urlencode({"query": query})
    return f"{name}?{words}&{argument}" if words else f"{name}?{argument}"
