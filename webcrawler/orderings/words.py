"""Orderings by the words of a URL, of its anchors, and of the pages that link to it.

Sources: Cho 1998, sections 2, 4 and 7; Mengozzi, "Naive Best-First crawler" and SharkSearch; for the
constants Hersovici 1998, "The Shark-Search Algorithm". Similarity is the cosine of term frequencies, as they
define it: no idf, no stemming, no stop list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

from webcrawler.errors import BadInput
from webcrawler.orderings.base import (
    BAND,
    PRIORITY_MAX,
    Fifo,
    Known,
    Ordering,
    Source,
    is_vote,
    number,
    whole_number,
)
from webcrawler.records import Lease, Link, Text
from webcrawler.urls import host_and_port, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLASHES = 2  # that a wanted word or ending outweighs
OFTEN = 10  # occurrences in its body that make a page hot
QUERY_WORDS = 32
# All pages have these, so a query needs others, too. The stop list of the index is longer.
COMMONEST = (
    "a an and are as at be but by can do for from have how i if in is it no not of on or so that the their "
    "they this to was we what when where which who will with you"
)
FULL = BAND - 1  # the priority of a score of 1
DEPTH_MAX = 1_000
STEPS = 2**20  # of an inherited score in a note
HEAT = 3  # of a hot page; one less with each link: its outlinks have 2, theirs 1


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def location(url: str, words: Sequence[str] = (), endings: Sequence[str] = ()) -> int:
    """IL: 2 for each wanted word in the URL, 2 for a wanted ending of its host, minus its slashes.

    Source: Cho 1998, 2(5): fewer slashes, ".com", "home".
    """
    server, path = split(url)
    host = host_and_port(server)[0]
    wanted = sum(word in url.lower() for word in words) + host.endswith(tuple(endings))
    return SLASHES * wanted - path.partition("?")[0].count("/")


def similarity(text: str, query: Counter[str]) -> float:
    """IS of a short text: the cosine of the term frequencies of both, without idf."""
    return cosine(query, Counter(words_of(text)))


def cosine(one: Counter[str], other: Counter[str]) -> float:
    """The cosine of two vectors of frequencies, 0 to 1; 0 if one is empty."""
    product = sum(n * other[word] for word, n in one.items())
    squares = (sum(n * n for n in vector.values()) for vector in (one, other))
    return product / sqrt(prod(squares)) if product else 0.0


def is_hot_page(text: Text, words: Sequence[str]) -> bool:
    """Cho 1998, section 7: a query word in the title, or ten or more in the body."""
    if not set(words).isdisjoint(words_of(text.title)):
        return True
    found = Counter(words_of(text.body))
    return any(found[word] >= OFTEN for word in words)


class Location(Ordering):
    """Fewest slashes first; wanted words and endings make up for some. Source: Cho 1998, 2(5)."""

    def __init__(self, words: str = "home", endings: str = ".com") -> None:
        self._words = [word for word in words.lower().split(",") if word]
        self._endings = [ending for ending in endings.lower().split(",") if ending]

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return max(0, BAND // 2 + location(link.url, self._words, self._endings))


class Anchor(Ordering):
    """Anchor text most like the query first, IS(A, Q); the best anchor seen counts.

    Source: Cho 1998, section 4.
    """

    on_repeat = "raise"

    def __init__(self, query: str = "") -> None:
        self._query = Counter(query_words(query))

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return round(similarity(link.anchor, self._query) * FULL)


class Combined(Ordering):
    """IC' = k1 · IS' + k2 · IB': query words in the anchors seen so far, and how many backlinks.

    Source: Cho 1998, section 2; IS as the inner product of term frequencies, which adds up over anchors.
    """

    on_repeat = "add"

    def __init__(self, query: str = "", k1: str = "10", k2: str = "1") -> None:
        self._query = Counter(query_words(query))
        self._k1, self._k2 = _factor("k1", k1), _factor("k2", k2)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        terms = Counter(words_of(link.anchor))
        product = sum(n * terms[word] for word, n in self._query.items())
        return min(PRIORITY_MAX, self._k1 * product + (self._k2 if is_vote(link, source) else 0))


class Hot(Ordering):
    """Two queues: first URLs with a query word in anchor or URL, or less than three links from a hot page.

    A URL's queue is decided when it is discovered. Source: Cho 1998, Figure 5.

    Args:
        then: the order within both queues, first found first by default; its priorities count from 0 to
            BAND - 1.
    Raises:
        BadInput: the query has no word to look for, or `then` has classes or turns of its own.
    """

    takes_notes = True
    band = BAND

    def __init__(self, query: str = "", then: Ordering | None = None) -> None:
        self._words = query_words(query)
        self._then = then or Fifo()
        if self._then.servers_take_turns or self._then.band:
            raise BadInput(
                f"then={type(self._then).__name__} cannot order the two queues: "
                "try fifo, backlink or pagerank"
            )
        self.on_repeat, self.follows_ranks = self._then.on_repeat, self._then.follows_ranks

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        named = f"{link.anchor}\n{link.url}".lower()
        is_hot = any(word in named for word in self._words) or (source and self.note(link, source) > 0)
        priority = self._then.first_priority(link, source and self._within(source))
        return (BAND if is_hot else 0) + min(BAND - 1, max(0, priority))

    def _within(self, source: Source) -> Source:
        """The page with the priority that `then` alone would have given it."""
        within = source._replace(priority=source.priority % BAND)
        return self._then.out_of_turn(within) if source.priority >= BAND else within

    def note(self, link: Link, source: Source) -> int:
        return max(0, source.note - 1)

    def page_note(self, text: Text | None, lease: Lease) -> int:
        return HEAT if text and is_hot_page(text, self._words) else lease.note

    def priorities(self, known: Known) -> NDArray[Any]:
        return self._then.priorities(known)


class HotAnchor(Hot):
    """As `Hot`, by anchor and URL alone. Source: Cho 1998, Figure 4."""

    takes_notes = False

    def note(self, link: Link, source: Source) -> int:
        return 0


def _factor(name: str, text: str) -> int:
    return whole_number(name, text, 0, PRIORITY_MAX, f"up to {PRIORITY_MAX}")


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


def query_words(query: str) -> list[str]:
    """The different words of a query, QUERY_WORDS at most.

    Raises:
        BadInput: there is none but the COMMONEST.
    """
    words = list(dict.fromkeys(words_of(query)))[:QUERY_WORDS]
    if set(words) <= set(words_of(COMMONEST)):
        raise BadInput("this mode needs a query: add -a query=WORDS, other ones than articles and the like")
    return words
