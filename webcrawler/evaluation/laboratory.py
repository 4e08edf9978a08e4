"""Virtual crawls in many orders over one recorded graph, measured.

Virtual crawlers are the real frontier and ranker, with links from a recorded graph in place of HTTP.

Source: Cho 1998, sections 5 and 6.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from webcrawler import urls
from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.figures import Evaluator, Metrics, Run
from webcrawler.evaluation.recorded import Recorded, as_number
from webcrawler.evaluation.side_by_side import Progress, each
from webcrawler.frontier import Done, Frontier, Politeness
from webcrawler.linkgraph import Estimate, Rescorer
from webcrawler.orderings import Ordering, arguments_of, ordering, ordering_type
from webcrawler.records import Lease, Link

NO_DELAY = Politeness(delay=0.0, server_concurrency=10**6, lease=10.0**6)
STEPS = 200  # of a progress bar
GROWTH, GROWTH_LEAST = 0.1, 100  # share and number of pages: so many new ones are a reason to reorder early


class Web:
    """A recorded graph as a web; what crawlers ask of it is computed once."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.graph = recorded.graph
        self.links = [Link(url, urls.url_id(url), url) for url in recorded.urls]
        self.ids = np.array([link.id for link in self.links], np.int64)
        self.page_of = {url: page for page, url in enumerate(recorded.urls)}

    def outlinks(self, page: int) -> list[Link]:
        links, anchors = self.links, self.recorded.anchors
        start, end = self.graph.starts[page : page + 2].tolist()
        targets = self.graph.targets[start:end].tolist()
        if not anchors:
            return [links[target] for target in targets]
        return [links[target]._replace(anchor=anchors[at]) for at, target in enumerate(targets, start)]

    def note(self, page: int, lease: Lease, by: Ordering) -> int:
        """What an ordering notes about a page that it has read."""
        if not by.takes_notes:
            return 0
        label, texts = int(self.recorded.labels[page]), self.recorded.texts
        return by.page_note(texts([label]).get(label) if texts else None, lease)


class Reordering:
    """Does what the ranker does beside a crawl: at intervals, new ranks and new priorities for waiting URLs.

    Args:
        interval: visits between two updates; fewer at the beginning, when every page changes much.
    """

    def __init__(self, web: Web, frontier: Frontier, interval: int) -> None:
        self._web, self._frontier = web, frontier
        self._interval, self._visits, self._next = interval, 0, min(interval, GROWTH_LEAST)
        self._estimate = Estimate()
        self._estimate.know(web.graph.pages)
        self._rescorer = Rescorer(frontier.ordering, self._estimate)

    def visited(self, page: int) -> bool:
        """Take a visit into account. Returns True when it is time to reorder."""
        self._estimate.add(page, self._web.graph.outlinks(page))
        self._visits += 1
        return self._visits >= self._next

    def reorder(self) -> None:
        growth = max(GROWTH_LEAST, round(GROWTH * self._visits))
        self._next = self._visits + min(self._interval, growth)
        self._estimate.update()
        waiting = (self._estimate.backlinks > 0) & ~self._estimate.crawled
        pages, priorities = self._rescorer.changed(self._web.ids, waiting)
        links = [self._web.links[page] for page in pages.tolist()]
        self._frontier.rescore(links, priorities.tolist())


def crawl(
    web: Web,
    mode: str,
    start: int,
    connection: Connection,
    interval: int,
    pages_max: int = 0,
    progress: Callable[[int, int], None] = lambda visits, pages: None,
) -> NDArray[np.int32]:
    """Visit all pages that a start page leads to; returns them in the order of visits.

    One server, one URL at a time, no politeness, no leasing ahead: the exact order. Empties the Redis first.

    Args:
        interval: visits between two updates of ranks, for orderings that follow them; fewer at the beginning.
        pages_max: visits after which to stop; 0: all pages.
    Raises:
        BadInput: there is no such mode.
    """
    connection.client.flushdb()
    frontier = Frontier(connection.client, ordering(mode), "virtual", NO_DELAY)
    frontier.open(mode)
    frontier.discover([web.links[start]])
    reordering = Reordering(web, frontier, interval) if frontier.ordering.follows_ranks else None
    step = max(1, web.graph.pages // STEPS)
    order: list[int] = []
    leases = frontier.lease(1).leases
    while leases:
        (lease,) = leases
        page = web.page_of[lease.url]
        order.append(page)
        if len(order) % step == 0:
            progress(len(order), web.graph.pages)
        if len(order) == pages_max:
            break
        note = web.note(page, lease, frontier.ordering)
        done = Done(lease, "document", True, web.outlinks(page), note=note)
        if reordering and reordering.visited(page):
            frontier.complete([done])
            reordering.reorder()
            leases = frontier.lease(1).leases
        else:
            leases = frontier.complete_and_lease([done], 1)[1].leases
    return np.array(order, np.int32)


class Experiment(NamedTuple):
    """A crawl to make."""

    ordering: str  # as the user wrote it: "blend", "hot:backlink"
    mode: str  # as the frontier takes it: "blend?seed=1"
    seed: int | None


def experiments(orderings: Sequence[str], seeds: Sequence[int], query: str = "") -> list[Experiment]:
    """An experiment for each ordering, or for each seed if the ordering takes one.

    `hot:MODE` is the ordering `hot` with both queues in the order of MODE. The query goes to orderings that
    take one. `name?word=value` stays as it is.

    Raises:
        BadInput: there is no such ordering.
    """
    found = []
    for name in orderings:
        takes_seed = _mode(name, 0, query) != _mode(name, None, query)
        for seed in seeds if takes_seed else (None,):
            mode = _mode(name, seed, query)
            ordering(mode)
            found.append(Experiment(name, mode, seed))
    return found


def _mode(name: str, seed: int | None, query: str) -> str:
    first, _, then = name.partition(":")
    # What is written out after a question mark stays as it is.
    takes = () if "?" in first else arguments_of(ordering_type(first, by_path=True))
    given = {}
    if "query" in takes:
        if not query:
            raise BadInput(f"--orderings: {name} needs a query: add --query WORDS")
        given["query"] = query
    if "seed" in takes and seed is not None:
        given["seed"] = str(seed)
    if then and "then" not in takes:
        raise BadInput(f"--orderings: {first} takes no other ordering after a colon, as hot:backlink does")
    if then:
        given["then"] = _mode(then, seed, query)
    return f"{first}?{urlencode(given)}" if given else first


def runs(
    recorded: Recorded,
    starts: Sequence[str],
    experiments: Sequence[Experiment],
    metrics: Metrics,
    progress: Progress = lambda step, done, all: None,
    pages_max: int = 0,
    jobs: int = 1,
) -> Iterator[tuple[int, Run]]:
    """Each experiment from each start page, as soon as it is over; its number says where it belongs.

    All errors come before the first. The runs are the same for any number of jobs, but for their seconds.

    Args:
        pages_max: visits after which a crawl stops; 0: all pages.
        jobs: crawls at a time, in processes with a Redis of their own.
    Raises:
        BadInput: there is no such start page, --hot is wrong, or an ordering by words needs anchors.
    """
    by_words = [one.ordering for one in experiments if "query=" in one.mode]
    if by_words and not recorded.anchors:  # they would order as fifo does
        raise BadInput(
            f"{by_words[0]} needs anchors, which this graph lacks: name the data folder of a crawl"
        )
    reachable = {start: recorded.reachable(recorded.page(start)) for start in starts}
    evaluators = {start: Evaluator(reached, metrics) for start, reached in reachable.items()}

    @lru_cache(1)
    def web_of(start: str) -> Web:
        return Web(reachable[start])

    def work(task: tuple[str, Experiment], connection: Connection, progress: Progress) -> Run:
        start, one = task
        web, evaluator, page = web_of(start), evaluators[start], recorded.page(start)
        first, label = web.page_of[recorded.urls[page]], as_number(start)
        tell = partial(progress, f"{one.mode} {start}".rstrip())
        began = time.perf_counter()
        order = crawl(web, one.mode, first, connection, evaluator.interval, pages_max, tell)
        return Run(
            ordering=one.ordering,
            start=(start or str(recorded.labels[page])) if label is None else label,
            seed=one.seed,
            seconds=round(time.perf_counter() - began, 3),
            pages=evaluator.pages,
            visits=len(order),
            hot={name: int(are_hot.sum()) for name, are_hot in evaluator.hot.items()},
            figures=evaluator.figures(order),
        )

    tasks = [(start, one) for start in reachable for one in experiments]
    return each(tasks, work, jobs, progress)
