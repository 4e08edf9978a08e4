"""What an ordering is, how the arguments of a mode are read, and the orderings that need nothing else.

Those give a URL its priority once: by discovery, by chance, by what a spider asks for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import log, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from webcrawler.errors import BadInput
from webcrawler.records import Lease, Link, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIORITY_MAX = 2**20 - 1  # URLs put behind all others rank below -PRIORITY_MAX
UNTOLD = -(2**40)  # below all priorities: none was told yet
BAND = 2**19  # most orderings give priorities from 0 to below it, so that two classes of them fit
DAMPING = 0.9  # Cho 1998, section 6
LEAST = 1 - DAMPING  # the rank IR' of a page that nobody links to
DIGITS_MAX = 19
MOST = 10**12
# Constants of splitmix64 (Steele 2014).
GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL = 2**64 - 1


class Source(NamedTuple):
    """The page that contains a link."""

    priority: int = 0  # that it was leased with
    note: int = 0  # what `Ordering.page_note` said of it
    links: int = 1  # different URLs that it links to
    id: int = 0  # its URL id
    repeats: bool = False  # another page, or nearly: what only such pages link to goes behind


# What names URLs of which no page is known that links to them: a sitemap. Of its rank they get nothing.
UNKNOWN = Source(links=2**30)


class Known(NamedTuple):
    """What the ranker knows of some URLs from the pages crawled so far; arrays of one shape."""

    ids: NDArray[Any]  # URL ids
    ranks: NDArray[Any]  # IR', as `linkgraph.Estimate` has it: at least LEAST
    backlinks: NDArray[Any]  # IB'
    yields: NDArray[Any]  # new URLs to expect in a page, as `linkgraph.Estimate` has them


class Seen(NamedTuple):
    """A URL that was decided, for an ordering that learns."""

    id: int  # URL id
    url: str  # canonical
    text: Text | None = None  # None: no document came of it
    links: Sequence[Link] = ()  # that are followed; without context if they come from the catalog
    relevance: float | None = None  # 0 to 1, as a search of the whole index ranked it; None: not searched
    linked: Sequence[int] = ()  # URL ids of its other links, to what was decided before; from the catalog


class Ordering:
    """An ordering: gives each URL a priority, higher first, ties to the oldest. Subclass it for your own.

    A mode's text `name?word=value&…` hands its arguments to `__init__`, as strings; `then`, which is a mode
    itself, as an ordering.

    Attributes:
        servers_take_turns: servers are chosen in turn, as in Pinkerton 1994, not by their best waiting URL.
        on_repeat: what happens to a waiting URL when another page links to it: "" nothing;
            "add": the priority rises by that of the new link; "raise": to that of the new link, if higher.
        follows_ranks: the ranker gives waiting URLs new priorities, by `priorities`, while the crawl goes on.
        takes_notes: `page_note` and `note` are used.
        learns: `learn` is told what was found, and `plan` gives waiting URLs other priorities. What it learns
            stays in this process; the next one is told documents of the catalog.
        seeds_first: a URL without a source is a seed, and comes before all others.
        band: the width of a class of priorities; 0: there is one class. The ranker's priorities and those
            that are added stay below it, and a URL stays in the class that it was discovered in.
    """

    servers_take_turns = False
    on_repeat = ""
    follows_ranks = False
    takes_notes = False
    learns = False
    seeds_first = False
    band = 0

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        """The priority that a link gives its URL.

        Args:
            source: the page that it stands on; None for a seed; UNKNOWN where a sitemap names it.
        Returns:
            Within ±PRIORITY_MAX; higher is visited earlier.
        """
        return 0

    def note(self, link: Link, source: Source) -> int:
        """A number to keep beside a URL while it waits, the highest of all links to it; 0: none."""
        return 0

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """A number to note of a page that was fetched; its links get it as `Source.note`."""
        return lease.note

    def priorities(self, known: Known) -> NDArray[Any]:
        """New priorities of waiting URLs, whole numbers within ±PRIORITY_MAX; if `follows_ranks`."""
        raise NotImplementedError(f"{type(self).__name__} follows ranks, but has no `priorities`")

    def learn(self, seen: Sequence[Seen]) -> None:
        """Learns from URLs that were just decided, before the links of their pages are added."""

    def plan(self) -> tuple[list[Link], list[int]]:
        """URLs that may wait, and the priorities that they should have from now on; each change once.

        Called after the links of the pages learnt from were added.
        """
        return [], []

    def out_of_turn(self, source: Source) -> Source:
        """A page that was fetched before its priority came up, as if it had been its turn."""
        return source


def is_vote(link: Link, source: Source | None) -> bool:
    """Does a page link to it? Seeds and sitemaps are not votes."""
    return source is not None and link.rel != "sitemap"


def whole_number(name: str, text: str, least: int = 0, most: int = MOST, bounds: str = "") -> int:
    """Reads a whole number.

    Args:
        least, most: from 0 to 19 digits.
        bounds: what the message says of them, if not "from … to …".
    Raises:
        BadInput: it is none, or out of bounds.
    """
    is_number = text.isascii() and text.isdecimal() and len(text) <= DIGITS_MAX
    if not (is_number and least <= int(text) <= most):
        bounds = bounds or f"from {least:,}" + (f" to {most:,}" if most < MOST else "")
        raise BadInput(f"{name}={text[:200]} is not a whole number {bounds}")
    return int(text)


def number(name: str, text: str, is_right: Callable[[float], bool], bounds: str) -> float:
    """Reads a number; raises BadInput if there is none, or it is not right, with `bounds` in the message."""
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not is_right(value):
        raise BadInput(f"{name}={text[:200]} is not a number {bounds}")
    return value


def seed_of(text: str) -> int:
    """Raises BadInput: the seed is not a whole number."""
    return whole_number("seed", text, 0, 10**DIGITS_MAX, "of a few digits")


class Breadth(Ordering):
    """Servers first, then documents.

    A server without a document comes before all others, first found first; when there is none, all
    servers take turns, least recently accessed first; within a server first found first.

    Source: Pinkerton 1994, "The Search Engine", indexing mode.
    """

    servers_take_turns = True


class Fifo(Ordering):
    """First found first, over all servers. Source: Cho 1998, Figure 2 without reordering."""


class Random(Ordering):
    """Any known URL, each with the same chance at every step.

    A URL's time is that of the page that named it plus a draw from an exponential distribution; the
    earliest time is next. Such clocks have no memory: of the URLs known, each is equally likely to ring
    first. The draw comes from the URL's id, so that a crawl can be repeated.

    Source: Cho 1998, section 4, the random crawler.
    """

    PER_UNIT = 2**13  # a crawl of 300,000 pages ends at about 38 units, and there are 64

    def __init__(self, seed: str = "0") -> None:
        self._seed = seed_of(seed)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return max(0, (source.priority if source else BAND - 1) - self._pause(link.id))

    def out_of_turn(self, source: Source) -> Source:
        """Its clock has not rung yet, so the time is about that at which it was named."""
        return source._replace(priority=source.priority + self._pause(source.id))

    def _pause(self, id: int) -> int:
        return round(-log(draw(id, self._seed)) * self.PER_UNIT)


class Priority(Ordering):
    """Highest Scrapy priority first: for spiders whose requests have one."""

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        if not link.request.startswith('{"priority":'):
            return 0
        wanted = int(json.loads(link.request)["priority"])
        return max(-PRIORITY_MAX, min(wanted, PRIORITY_MAX))


def draw(id: int, seed: int) -> float:
    """A number above 0 and below 1, always the same for one URL id and one seed."""
    z = (id + (seed + 1) * GOLDEN) & ALL
    z = ((z ^ z >> 30) * MIX_1) & ALL
    z = ((z ^ z >> 27) * MIX_2) & ALL
    return float((z ^ z >> 31) >> 12) * 2.0**-52 + 2.0**-53
