"""Virtual focused crawls: the real frontier and strategy, with a recorded crawl in place of HTTP.

They begin with seeds, or with what an index of some random documents knows (Pinkerton 1994, "Real-time search
mode": the initial list comes from the index).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from webcrawler.archive import take_in
from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.recorded_web import Fetched, Recording, link
from webcrawler.evaluation.virtual import NO_DELAY
from webcrawler.frontier import Budgets, Done, Failed, Frontier, Ordering, Seen, ordering
from webcrawler.records import Lease

REPEATS = 20  # BUDGET_REPEATS of a crawl: duplicates of a path prefix after which its URLs come last
BEST = 100  # documents that a strategy starts from

Progress = Callable[[int, int], None]  # pages fetched, pages wanted


class Crawled(NamedTuple):
    order: list[int]  # documents by page number
    tried: int  # URLs: these, and those that led to no document


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
    known: Sequence[Seen] = (),
    explored: Collection[int] = (),
    progress: Progress = lambda fetched, wanted: None,
) -> Crawled:
    """Crawl until so many documents are fetched, or nothing is left.

    One URL at a time and no politeness: the exact order of the strategy. The frontier is told of each URL as
    `webcrawler.archive.batch` does. Empties the Redis first.

    Args:
        seeds: canonical URLs to start from.
        known: pages to start from that were found beforehand; they are not fetched.
        explored: ids of URLs that are not to be fetched.
    Raises:
        BadInput: there is no such mode.
    """
    connection.client.flushdb()
    by = strategy(mode)
    frontier = Frontier(connection.client, by, "virtual", NO_DELAY, budgets=Budgets(repeats=REPEATS))
    frontier.open(mode)
    frontier.discover([link(url) for url in seeds])
    if known:
        take_in(frontier, known)
    digests, order, tried = set[bytes](), list[int](), 0
    while len(order) < pages_max and (leases := frontier.lease(1).leases):
        (lease,) = leases
        tried += 1
        fetched = recording.fetch(lease.url)
        if fetched.number:
            order.append(fetched.number)
            progress(len(order), pages_max)
        _decide(frontier, lease, fetched, explored, repeats=fetched.digest in digests)
        digests.add(fetched.digest)
    return Crawled(order, tried)


def _decide(
    frontier: Frontier, lease: Lease, fetched: Fetched, explored: Collection[int], repeats: bool
) -> None:
    by = frontier.ordering
    links = [link for link in fetched.links if link.id not in explored]
    if by.learns:
        by.learn([Seen(lease.id, lease.url, fetched.text, links)])
    if fetched.reason == "not-found":
        frontier.fail([Failed(lease, "failed/not-found", retry=False)])
    else:
        note = by.page_note(fetched.text, lease)
        is_document = bool(fetched.number)
        reason = "duplicate" if is_document and repeats else fetched.reason
        done = Done(lease, reason, is_document, links, repeats=is_document and repeats, note=note)
        frontier.complete([done])
    if by.learns:
        frontier.rescore(*by.plan())


def sample(recording: Recording, size: int, seed: int) -> frozenset[int]:
    """The page numbers of random documents.

    Raises:
        BadInput: there are not that many.
    """
    numbers = sorted(recording.documents)
    if not 0 < size < len(numbers):
        raise BadInput(f"--known must be 1 to {len(numbers) - 1:,} of the {len(numbers):,} documents")
    return frozenset(random.Random(seed).sample(numbers, size))


def best(
    recording: Recording, ranked: Sequence[tuple[int, float]], known: Collection[int], limit: int = BEST
) -> list[Seen]:
    """The best of the known documents, with relevance (score / best score) and their links to others.

    Words around links are left out: a live search has these links from the catalog, which lacks them.
    """
    chosen = [(number, score) for number, score in ranked if number in known][:limit]
    explored = {recording.documents[number].id for number in known}
    found = []
    for number, score in chosen:
        document = recording.documents[number]
        page = recording.fetch(document.url)
        links = [link._replace(context="") for link in page.links if link.id not in explored]
        relevance = max(0.0, score / chosen[0][1]) if chosen[0][1] > 0 else 0.0
        found.append(Seen(document.id, document.url, page.text, links, relevance))
    return found
