"""Pages of the past, handed to a frontier as if they had just been fetched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from webcrawler import urls
from webcrawler.archive.catalog import Catalog, Outlink
from webcrawler.frontier import Frontier, Seen, Source
from webcrawler.records import Lease, Link

SOME = 200  # pages in memory at a time
RECALLED = 5_000  # documents that an ordering learns from again; some seconds of processor time


def recall(
    catalog: Catalog, numbers: Sequence[int], relevance: Mapping[int, float] | None = None
) -> Iterator[list[Seen]]:
    """Documents in that order, some at a time, with links to what was not fetched, and ids of the others.

    Args:
        relevance: by page number, from 0 to 1.
    """
    known = relevance or {}
    for start in range(0, len(numbers), SOME):
        some = numbers[start : start + SOME]
        documents, texts = catalog.documents(some), catalog.texts(some)
        links, followed = defaultdict[int, list[Link]](list), catalog.links.followed(some)
        for link in catalog.links.open(some):
            target = urls.outlink(link.url, link.url)
            if not target.refused:
                links[link.source].append(Link(target.url, target.id, target.spelling, link.anchor))
        yield [
            Seen(
                id=documents[n].id,
                url=documents[n].url,
                text=texts.get(n),
                links=links[n],
                relevance=known.get(n),
                linked=_others(followed[n], links[n]),
            )
            for n in some
            if n in documents
        ]


def _others(followed: Sequence[Outlink], links: Sequence[Link]) -> list[int]:
    waiting = {link.id for link in links}
    return [link.id for link in followed if link.id not in waiting]


def take_in(frontier: Frontier, seen: Sequence[Seen]) -> None:
    """Put their links into the frontier, by its ordering. Doing so twice is harmless."""
    ordering = frontier.ordering
    ordering.learn(seen)
    for one in seen:
        lease = Lease(one.id, one.url, one.url, urls.server(one.url), token=0)
        source = Source(0, ordering.page_note(one.text, lease), max(1, len(one.links)), one.id)
        frontier.discover(one.links, source=source)
    frontier.replan()
