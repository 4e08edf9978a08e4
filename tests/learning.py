"""Helpers of the tests on orderings that learn: pages, and a crawl that tells what it finds."""

from __future__ import annotations

import redis
from frontiers import links

from webcrawler.frontier import Done, Frontier, Ordering, Politeness, Seen, Source, ordering
from webcrawler.records import Lease, Link, Text
from webcrawler.urls import url_id

Web = dict[str, tuple[str, list[tuple[str, str]]]]  # URL -> its text, its links: URL and anchor


def text(body: str, title: str = "") -> Text:
    return Text(title, "", "", "", body)


def link(url: str, anchor: str = "", rel: str = "") -> Link:
    return links(url)[0]._replace(anchor=anchor, rel=rel)


def seen(url: str, body: str | None = None, *found: Link, relevance: float | None = None) -> Seen:
    return Seen(url_id(url), url, None if body is None else text(body), found, relevance)


def lease_of(url: str, priority: int = 0, note: int = 0) -> Lease:
    return Lease(url_id(url), url, url, "http://a.test", 1, priority=priority, note=note)


def told(by: Ordering, *pages: Seen) -> dict[str, int]:
    """The priorities that links have when these pages were found, one after the other, as in a crawl."""
    given: dict[str, int] = {}
    for page in pages:
        by.learn([page])
        note = by.page_note(page.text, lease_of(page.url))
        for one in page.links:
            priority = by.first_priority(one, Source(0, note, len(page.links), page.id))
            given[one.url] = max(given.get(one.url, priority), priority)
        given |= {one.url: priority for one, priority in zip(*by.plan(), strict=True)}
    return given


def crawl(client: redis.Redis, mode: str, web: Web, *seeds: str) -> list[str]:
    """One request at a time, to the end, as a batch of one page does it."""
    client.flushdb()
    frontier = Frontier(client, ordering(mode), politeness=Politeness(delay=0.0))
    frontier.open(mode)
    frontier.discover(links(*seeds))
    order = []
    while found := frontier.lease(1).leases:
        (lease,) = found
        order.append(lease.url)
        body, outlinks = web[lease.url]
        followed = [link(url, anchor) for url, anchor in outlinks if url != lease.url]
        frontier.ordering.learn([seen(lease.url, body, *followed)])
        note = frontier.ordering.page_note(text(body), lease)
        assert frontier.complete([Done(lease, "document", True, followed, note=note)]) != [-1]
        frontier.rescore(*frontier.ordering.plan())
    return order
