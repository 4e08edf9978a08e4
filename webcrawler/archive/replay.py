"""Pages of the past, told to an ordering or a frontier as if they had just been fetched."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from webcrawler import urls
from webcrawler.archive.catalog import Catalog, Outcome, Outlink
from webcrawler.frontier import Frontier, Ordering, Seen, Source
from webcrawler.orderings import PRIORITY_MAX, UNKNOWN
from webcrawler.records import FORM, Lease, Link, Text

SOME = 200  # pages in memory at a time
RECALLED = 5_000  # documents that an ordering learns from again; some seconds of processor time
UNTOLD = -(2**31)  # below all priorities: no link that is followed leads there
LATE = -(2**20) - 1  # of what only repeats have linked to so far, level 1 in the frontier
UNTRIED, FOLLOWED, REFUSED = range(3)


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


class Replay:
    """What the frontier counted when these pages were fetched. Holds about 22 bytes for each URL.

    Attributes:
        found: the page numbers of all URLs that were or will be fetched, in the order of their discovery.
        priorities, notes: of each URL by page number, from all links told so far.
        decided: 1 for each page that was, by page number.

    Args:
        count: the highest page number.
        admits: would a crawl follow this link?
    """

    def __init__(self, ordering: Ordering, count: int, admits: Callable[[Link], bool]) -> None:
        self.found = array("q")
        self.priorities = array("i", [UNTOLD]) * (count + 1)
        self.notes = array("q", [0]) * (count + 1)
        self.ordering, self._admits = ordering, admits
        self._verdicts = bytearray(count + 1)
        self.decided = bytearray(count + 1)

    def tell(
        self, page: Outcome, outlinks: Sequence[Outlink], text: Text | None, is_decided: bool = True
    ) -> None:
        """The next page that was fetched, with its links; False: it waits to be tried again."""
        ordering, number = self.ordering, page.number
        if self.priorities[number] == UNTOLD:  # a seed
            self._find(number, ordering.first_priority(Link(page.url, page.id, page.url)))
        priority, note = self.priorities[number], self.notes[number]
        self.decided[number] = is_decided
        others = (link for link in outlinks if link.target != number and link.rel != FORM)
        followed = [link for link in others if self._is_followed(link)]
        if not followed:
            return
        lease = Lease(page.id, page.url, page.url, urls.server(page.url), 0, priority=priority, note=note)
        source = Source(priority, ordering.page_note(text, lease), len(followed), page.id, page.repeats)
        for link in followed:
            if not self.decided[link.target]:
                self._add(link.target, Link(link.url, link.id, link.url, link.anchor, rel=link.rel), source)

    def name(self, number: int, link: Link) -> None:
        """A URL that a sitemap names; it waits unless it is known already."""
        if self.priorities[number] == UNTOLD:
            self._find(number, self.ordering.first_priority(link, UNKNOWN))

    def _find(self, number: int, priority: int) -> None:
        self.found.append(number)
        self.priorities[number] = priority

    def _add(self, target: int, link: Link, source: Source) -> None:
        ordering, known = self.ordering, self.priorities[target]
        if known == UNTOLD:
            self._find(target, LATE if source.repeats else ordering.first_priority(link, source))
        elif known == LATE:
            self.priorities[target] = known if source.repeats else ordering.first_priority(link, source)
        elif ordering.on_repeat:
            new = ordering.first_priority(link, source)
            self.priorities[target] = raised(known, new, ordering.on_repeat, ordering.band)
        if ordering.takes_notes:
            self.notes[target] = max(self.notes[target], ordering.note(link, source))

    def _is_followed(self, link: Outlink) -> bool:
        """Would a crawl follow links to this URL? Asked once for each, and for each redirect to it."""
        verdict = self._verdicts[link.target]
        if verdict == UNTRIED or (verdict == REFUSED and link.rel in urls.NAMED):
            is_admitted = self._admits(as_link(link.url, link.id, link.rel))
            self._verdicts[link.target] = FOLLOWED if is_admitted else REFUSED
        return self._verdicts[link.target] == FOLLOWED


def as_link(url: str, id: int, rel: str = "") -> Link:
    """A canonical URL as a link to it, which may be refused."""
    return Link(url, id, url, rel=rel, refused=urls.outlink(url, url, rel=rel).refused)


def raised(old: int, new: int, how: str, band: int) -> int:
    """The new priority of a waiting URL that one more page links to, as _3_waiting.lua computes it."""
    if not band:
        return max(-PRIORITY_MAX, min(max(old, new) if how == "raise" else old + new, PRIORITY_MAX))
    level = old // band * band
    return level + min(raised(old - level, new % band, how, 0), band - 1)
