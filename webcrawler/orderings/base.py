"""What an ordering is, and how the arguments of a mode are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
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

    A mode's text `name?word=value&…` hands its arguments to `__init__`, as strings.

    Attributes:
        servers_take_turns: servers are chosen in turn, as in Pinkerton 1994, not by their best waiting URL.
        on_repeat: what happens to a waiting URL when another page links to it: "" nothing;
            "add": the priority rises by that of the new link; "raise": to that of the new link, if higher.
        follows_ranks: the ranker gives waiting URLs new priorities, by `priorities`, while the crawl goes on.
        takes_notes: `page_note` and `note` are used.
        learns: `learn` is told what was found, and `plan` gives waiting URLs other priorities. What it learns
            stays in this process; the next one is told documents of the catalog. Several threads call it, so
            it needs its own lock.
        seeds_first: a URL without a source is a seed, and comes before all others.
        band: the width of a class of priorities; 0: there is one class. The ranker's priorities and those
            that are added stay below it, and a URL stays in the class that it was discovered in.
        within: the argument that is a mode itself; `__init__` is given it as an ordering.
    """

    servers_take_turns = False
    on_repeat = ""
    follows_ranks = False
    takes_notes = False
    learns = False
    seeds_first = False
    band = 0
    within = ""

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


def whole_number(name: str, text: str, least: int, most: int, bounds: str = "") -> int:
    """Reads a whole number.

    Args:
        least, most: from 0 to 19 digits.
        bounds: what the message says of them, if not "from … to …".
    Raises:
        BadInput: it is none, or out of bounds.
    """
    if not (text.isdecimal() and len(text) <= DIGITS_MAX and least <= int(text) <= most):
        raise BadInput(f"{name}={text[:200]} is not a whole number {bounds or f'from {least:,} to {most:,}'}")
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
