"""Virtual focused crawls: the real frontier and strategy, with a recorded crawl in place of HTTP."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from webcrawler import urls
from webcrawler.archive import take_in
from webcrawler.connection import Connection
from webcrawler.errors import BadInput
from webcrawler.evaluation.focused.recorded_web import Fetched, Recording
from webcrawler.evaluation.virtual import UNHURRIED
from webcrawler.frontier import Budgets, Done, Failed, Frontier, Ordering, Seen, ordering
from webcrawler.records import Lease, Link

REPEATS = 20  # BUDGET_REPEATS of a crawl: what a prefix repeats goes behind all others

Progress = Callable[[int], None]  # pages fetched


class Crawled(NamedTuple):
    order: list[int]  # documents by page number
    tried: int  # URLs: these, and what came to no document


def strategy(mode: str) -> Ordering:
    """Raises BadInput: there is none, or it cannot be followed here."""
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
    progress: Progress = lambda pages: None,
) -> Crawled:
    """The documents in the order of fetching.

    One URL at a time, no politeness, and what is found is told at once: the exact order of the strategy. Each
    URL is told of as `webcrawler.archive.batch` does it. Empties the Redis before.

    Args:
        seeds: canonical URLs to start from.
        known: pages to start from, that were found beforehand and are not fetched.
        explored: ids of URLs that are not fetched any more.
    Raises:
        BadInput: there is no such mode.
    """
    connection.client.flushdb()
    by = strategy(mode)
    frontier = Frontier(connection.client, by, "virtual", UNHURRIED, budgets=Budgets(repeats=REPEATS))
    frontier.open(mode)
    frontier.discover([_seed(url) for url in seeds])
    if known:
        take_in(frontier, known)
    digests, order, tried = set[bytes](), list[int](), 0
    while len(order) < pages_max and (leases := frontier.lease(1).leases):
        (lease,) = leases
        tried += 1
        fetched = recording.fetch(lease.url)
        if fetched.number:
            order.append(fetched.number)
            progress(len(order))
        _decide(frontier, lease, fetched, explored, repeats=fetched.digest in digests)
        digests.add(fetched.digest)
    return Crawled(order, tried)


def _seed(url: str) -> Link:
    target = urls.outlink(url, url)
    return Link(target.url, target.id, target.spelling)


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
