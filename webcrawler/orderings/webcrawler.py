"""The WebCrawler's real-time search mode, as an ordering. Source: Pinkerton 1994, "Real-time search mode"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

from webcrawler.orderings.base import BAND, PRIORITY_MAX, UNTOLD, Ordering, Seen, Source
from webcrawler.orderings.topic import ALSO, Wanted, stems_of
from webcrawler.orderings.words import redirected
from webcrawler.records import Link, Text
from webcrawler.text import english, terms

KEPT = 150  # documents that may come near the top when the query is run again
LINKS = 1_000  # of a document, most relevant anchors first
LEVELS = BAND - 2  # of anchors; seeds stay above


@dataclass(slots=True)
class _Document:
    estimate: float = 0.0  # relevance by its own text
    relevance: float | None = None  # by the last search of the whole index
    links: dict[int, Link] = field(default_factory=dict)  # by URL id; not decided yet, as far as known
    levels: dict[int, int] = field(default_factory=dict)  # of links whose anchors match: 1 to LEVELS


class WebCrawler(Ordering):
    """Unexplored links of the documents near the top of the result list, most relevant anchors first.

    The result list is that of the last search of the index with the query. A document that is newer, and each
    one if there was no search, stands in it by WC's relevance as a share of the best so far. When a document
    falls out of the top, its links go behind those of all documents there, as do the links of documents that
    never were near the top. Seeds come first.

    Weakness: it follows whatever is near the top, and so stays on the servers that it began with. Each
    process has its own result list.

    Args:
        query: what is looked for.
        also: words of the thesaurus, separated by commas: they count less.
    Raises:
        BadInput: the query has no word to look for.
    """

    on_repeat = "raise"
    learns = True
    near_top = 15  # documents whose links are followed: as many as WC's result list shows (Figure 3)

    def __init__(self, query: str = "", also: str = "") -> None:
        self._query = Peculiar(query, [word for word in also.split(",") if word.strip()])
        self._documents: dict[int, _Document] = {}  # those near the top first, KEPT at most
        self._near_top: dict[int, _Document] = {}
        self._seeds: set[int] = set()
        self._best = 0.0  # estimate
        self._told: dict[int, tuple[Link, int]] = {}  # links of documents near the top, and their priority

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            self._seeds.add(link.id)
            return PRIORITY_MAX
        if link.rel == "redirect":
            return redirected(source)
        if link.id in self._seeds:
            return PRIORITY_MAX
        document = self._near_top.get(source.id)
        if document is None or link.id not in document.links:
            return self._levels([link]).get(link.id, 0)
        self._told.setdefault(link.id, (link, UNTOLD))  # this does not raise a URL that waits already
        return BAND + document.levels.get(link.id, 0)

    def learn(self, seen: Sequence[Seen]) -> None:
        for one in seen:
            self._told.pop(one.id, None)
            for document in self._documents.values():
                document.links.pop(one.id, None)
            self._note(one)
        ranked = sorted(self._documents.items(), key=lambda item: -self._standing(item[1]))
        self._documents = dict(ranked[:KEPT])
        self._near_top = dict(ranked[: self.near_top])

    def plan(self) -> tuple[list[Link], list[int]]:
        before, self._told = self._told, self._in_front()
        fallen = [link for id, (link, _) in before.items() if id not in self._told]
        levels = self._levels(fallen)
        risen = [told for id, told in self._told.items() if before.get(id) != told]
        changes = [(link, levels.get(link.id, 0)) for link in fallen] + risen
        return [link for link, _ in changes], [priority for _, priority in changes]

    def _in_front(self) -> dict[int, tuple[Link, int]]:
        """The links of all documents near the top, each with the priority of its best anchor."""
        front: dict[int, tuple[Link, int]] = {}
        for document in self._near_top.values():
            for id, link in document.links.items():
                priority = BAND + document.levels.get(id, 0)
                is_best = id not in front or priority > front[id][1]
                if is_best and id not in self._seeds:
                    front[id] = link, priority
        return front

    def _note(self, one: Seen) -> None:
        document = self._documents.get(one.id, _Document())
        if one.relevance is not None:
            document.relevance = one.relevance
        if one.text is not None and (one.relevance is None or not document.estimate):
            document.estimate = self._query.relevance(one.text)
            self._best = max(self._best, document.estimate)
        # None is taken away, as a page told again may come with some of its links only.
        new = [link for link in one.links if link.id not in document.links]
        document.levels |= self._levels(new)
        together = [*document.links.values(), *new]
        best = sorted(together, key=lambda link: -document.levels.get(link.id, 0))[:LINKS]
        document.links = {link.id: link for link in best}
        if self._standing(document) > 0:
            self._documents[one.id] = document
        else:
            self._documents.pop(one.id, None)

    def _standing(self, document: _Document) -> float:
        """0 to 1: documents with higher numbers come first in the result list; 0: it is not in the list."""
        estimate = document.estimate / self._best if self._best else 0.0
        return estimate if document.relevance is None else document.relevance

    def _levels(self, links: Sequence[Link]) -> dict[int, int]:
        found = search_anchors(links, self._query)
        return {id: ceil(relevance * LEVELS) for id, relevance in found.items()}


class Peculiar:
    """A query with WC's peculiarity weights, scaled so that a text of its most peculiar word alone has 1.

    Relevance is the sum over the words of the query of document weight times query weight, divided by the
    number of words; a weight is a frequency divided by that in general English. So an occurrence counts by
    query and word, and then by its share of the text. Words of the thesaurus count ALSO of that, and never
    more than ALSO of the best word of the query.
    Weakness: the reference frequency divides twice, so the rarest word outweighs all others.

    Raises:
        BadInput: there is no word in the query, or stop words only.
    """

    def __init__(self, query: str, also: Sequence[str] = ()) -> None:
        wanted = Wanted.of(query, also)
        rarity = {stem: english().frequency(stem) ** -2 for stem in (*wanted.shares, *wanted.also)}
        values = {stem: times * rarity[stem] for stem, times in Counter(filter(None, wanted.phrase)).items()}
        best = max(values.values())
        self.values = {stem: ALSO * min(1.0, rarity[stem] / best) for stem in wanted.also}
        self.values |= {stem: value / best for stem, value in values.items()}

    def relevance(self, text: Text) -> float:
        """The relevance of a page by the words of title and body: 0 to 1."""
        stems = stems_of(text)
        counts = Counter(stems)
        return sum(value * counts[stem] for stem, value in self.values.items()) / max(1, len(stems))


def search_anchors(links: Iterable[Link], query: Peculiar) -> dict[int, float]:
    """Runs a query on the anchors of some links.

    Returns:
        Relevance by URL id, above 0 and up to 1, for the links whose anchors have a word of the query.
    """
    found: defaultdict[int, float] = defaultdict(float)
    for link in links:
        stems = terms(link.anchor)
        counts = Counter(stems)
        for stem, value in query.values.items():
            if stem in counts:
                found[link.id] += value * (counts[stem] / len(stems))
    return dict(found)
