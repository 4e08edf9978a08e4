"""Strategies beside each other, over all topics of a recorded crawl."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.known import Ranked, best, has_index, sample
from webcrawler.evaluation.focused.measures import Run, pooled
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.focused.relevance import Judge, Topic
from webcrawler.evaluation.focused.virtual import Crawled, crawl, strategy
from webcrawler.frontier import Seen
from webcrawler.orderings import arguments_of, ordering_type
from webcrawler.orderings.topic import Wanted as Query

Progress = Callable[[str, int, int], None]  # what is done, how far, of how much


@dataclass(frozen=True)
class Asked:
    """What is to be compared."""

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
    recording: Recording, asked: Asked, connection: Connection, progress: Progress
) -> Iterator[list[Run]]:
    """All crawls of a topic, as soon as it is over; topics that no document is relevant to are left out.

    Args:
        connection: to a Redis of our own, that is emptied.
    Raises:
        BadInput: there is no such start page; or --known, and no index; or nothing is relevant at all.
    """
    starts = [_start(recording, url) for url in asked.starts] or [recording.first()]
    ranked = Ranked(recording) if asked.known or has_index(recording) else None
    draws: dict[int | None, frozenset[int]] = {None: frozenset()}
    if asked.known:
        draws = {seed: sample(recording, asked.known, seed) for seed in asked.seeds}
    relevant = _judged(recording, asked.topics, progress)
    if not any(relevant.values()):
        raise BadInput(f"no document of {recording.crawl_dir} is relevant to a topic: crawl more of them")
    lab = _Lab(recording, asked, connection, progress, starts, ranked, relevant)
    for topic in asked.topics:
        found = [run for seed, known in draws.items() for run in lab.runs(topic, seed, known)]
        if found:
            yield found


@dataclass(frozen=True)
class _Lab:
    """What all crawls have in common."""

    recording: Recording
    asked: Asked
    connection: Connection
    progress: Progress
    starts: Sequence[str]
    ranked: Ranked | None
    relevant: dict[str, set[int]]

    def runs(self, topic: Topic, seed: int | None, known: frozenset[int]) -> Iterator[Run]:
        """A crawl for each strategy; none where nothing new is relevant."""
        wanted = self.relevant[topic.query] - known
        if not wanted:
            return
        ranked = self.ranked.documents(topic.query) if self.ranked else []
        begun = best(self.recording, ranked, known)
        explored = {self.recording.documents[number].id for number in known}
        crawls, seconds = dict[str, Crawled](), dict[str, float]()
        for name in self.asked.strategies:
            began = time.perf_counter()
            crawls[name] = self._crawl(name, topic.query, begun, explored)
            seconds[name] = round(time.perf_counter() - began, 3)
        orders = {name: crawled.order for name, crawled in crawls.items()}
        pool = pooled(orders, [number for number, _ in ranked]) if ranked else {}
        for name, (order, tried) in crawls.items():
            yield Run(
                strategy=name,
                query=topic.query,
                relevant=len(wanted),
                fetched=len(order),
                found=tuple(place for place, number in enumerate(order, 1) if number in wanted),
                tried=tried,
                seconds=seconds[name],
                seed=seed,
                pool=pool.get(name),
            )

    def _crawl(self, name: str, query: str, known: Sequence[Seen], explored: set[int]) -> Crawled:
        pages, tell = self.asked.pages, self.progress
        return crawl(
            self.recording,
            mode_of(name, query),
            () if explored else self.starts,
            self.connection,
            pages,
            known,
            explored,
            lambda done: tell(f"{name}: {query}", done, pages),
        )


def _start(recording: Recording, url: str) -> str:
    if recording.number_of(url) is None:
        raise BadInput(f"--start: the crawl has no document {url[:200]!r}")
    return url


def _judged(recording: Recording, topics: Sequence[Topic], progress: Progress) -> dict[str, set[int]]:
    judge, found = Judge(topics), {topic.query: set[int]() for topic in topics}
    for done, (number, text) in enumerate(recording.texts(), 1):
        for query in judge.queries(text):
            found[query].add(number)
        if done % 100 == 0:
            progress("judging pages", done, len(recording.documents))
    return found


def mode_of(strategy: str, query: str) -> str:
    """The mode of a strategy, `name` or `name?word=value&…`, that looks for a query.

    Orderings that take none go without. Raises BadInput: there is no such ordering.
    """
    name, _, words = strategy.partition("?")
    if "query" not in arguments_of(ordering_type(name, by_path=True)):
        return strategy
    asked = urlencode({"query": query})
    return f"{name}?{words}&{asked}" if words else f"{name}?{asked}"
