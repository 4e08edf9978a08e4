"""Orderings by the words of a page, and of the links on it.

Sources: Mengozzi, "Naive Best-First crawler" and SharkSearch; for the constants Hersovici 1998, "The
Shark-Search Algorithm". Similarity is the cosine of term frequencies, as they define it: no idf, no stemming,
no stop list.
"""

from __future__ import annotations

from collections import Counter

from webcrawler.orderings.base import BAND, PRIORITY_MAX, Ordering, Source, number, whole_number
from webcrawler.orderings.words import query_words, similarity
from webcrawler.records import Lease, Link, Text

FULL = BAND - 1  # the priority of a score of 1
DEPTH_MAX = 1_000
STEPS = 2**20  # of an inherited score in a note


def page_similarity(text: Text, query: Counter[str]) -> float:
    """sim(q, p): of title and body, which holds the headings."""
    return similarity(f"{text.title}\n{text.body}", query)


def redirected(source: Source) -> int:
    """The priority of a redirect's target: it takes the place of the redirect."""
    return max(-PRIORITY_MAX, source.priority)


class BestFirst(Ordering):
    """Links of the page most like the query first; a URL has the score of the best page that links to it.

    Weakness: only a page's own words count. Short pages with one word of the query score highest, and no
    path leads through pages that have none.

    Source: Mengozzi, "Naive Best-First crawler".
    """

    on_repeat = "raise"
    takes_notes = True
    seeds_first = True

    def __init__(self, query: str = "") -> None:
        self._query = Counter(query_words(query))

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            return FULL
        return redirected(source) if link.rel == "redirect" else source.note

    def page_note(self, text: Text | None, lease: Lease) -> int:
        return round(page_similarity(text, self._query) * FULL) if text else 0


class Shark(Ordering):
    """A link's score is what it inherits from the pages before it, and the words on it and around it.

    score = gamma · inherited + (1 - gamma) · neighborhood. Seeds come first. If d pages in a row have no
    word of the query, the links of the last one go behind all others, in the same order among themselves:
    they are fetched when nothing else is left, so that no URL is lost. If several pages link to a URL, the
    best score counts; its own links inherit from the page with the fewest such pages before it.

    Source: Mengozzi, SharkSearch(d, gamma, delta, beta).
    """

    on_repeat = "raise"
    takes_notes = True
    seeds_first = True

    def __init__(
        self, query: str = "", d: str = "3", gamma: str = "0.8", delta: str = "0.5", beta: str = "0.8"
    ) -> None:
        self._query = Counter(query_words(query))
        self._depth = whole_number("d", d, 1, DEPTH_MAX)
        self._gamma, self._delta = _share("gamma", gamma), _share("delta", delta)
        self._beta = _share("beta", beta)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if source is None:
            return FULL
        if link.rel == "redirect":
            return redirected(source)
        depth, inherited = self._unpacked(source.note)
        anchor = similarity(link.anchor, self._query)
        context = 1.0 if anchor else similarity(link.context, self._query)
        neighborhood = self._beta * anchor + (1 - self._beta) * context
        score = self._gamma * inherited + (1 - self._gamma) * neighborhood
        return round(score * FULL) - (0 if depth else BAND)

    def note(self, link: Link, source: Source) -> int:
        return source.note

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """What its links inherit, and after how many more irrelevant pages their path ends.

        A page without text is skipped: its links inherit what it did.
        """
        depth, inherited = self._unpacked(lease.note)
        if text is None:
            return lease.note
        if found := page_similarity(text, self._query):
            return self._packed(self._depth, self._delta * found)
        return self._packed(max(0, depth - 1), self._delta * inherited)

    def _packed(self, depth: int, inherited: float) -> int:
        return (depth + 1) * STEPS + round(inherited * (STEPS - 1))

    def _unpacked(self, note: int) -> tuple[int, float]:
        """Depth and inherited score; a seed has no note: full depth, and nothing inherited."""
        depth, inherited = divmod(note or self._packed(self._depth, 0.0), STEPS)
        return depth - 1, inherited / (STEPS - 1)


def _share(name: str, text: str) -> float:
    return number(name, text, lambda share: 0 <= share < 1, "from 0 to below 1")
