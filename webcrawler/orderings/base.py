"""What an ordering is, and how the arguments of a mode are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

from webcrawler.errors import BadInput
from webcrawler.records import Lease, Link, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

PRIORITY_MAX = 2**20 - 1  # below it is what goes behind all others
BAND = 2**19  # the priorities of most orderings are below it and not below 0: two classes of them fit
DAMPING = 0.9  # Cho 1998, section 6
LEAST = 1 - DAMPING  # the rank IR' of a page that nobody links to
DIGITS = 20  # of a seed, fewer


class Source(NamedTuple):
    """The page that a link stands on."""

    priority: int = 0  # that it was leased with
    note: int = 0  # what the ordering notes of it, as `Ordering.page_note` said
    links: int = 1  # different URLs that it links to
    id: int = 0  # its URL id


class Known(NamedTuple):
    """What the ranker knows of URLs side by side, from the pages crawled so far; arrays of one shape."""

    ids: NDArray[Any]  # URL ids
    ranks: NDArray[Any]  # IR', as `ranking.Estimate` has it: at least 0.1
    backlinks: NDArray[Any]  # IB'
    yields: NDArray[Any]  # new URLs in a page that the same page named first: (1 + new URLs) / (1 + pages)


class Seen(NamedTuple):
    """A URL that was decided, for an ordering that learns from what is found."""

    id: int  # URL id
    url: str  # canonical
    text: Text | None = None  # None: no document came of it
    links: Sequence[Link] = ()  # that are followed; without context where the catalog tells of them
    relevance: float | None = None  # 0 to 1, as a search of the whole index just ranked it; None: not asked


class Ordering:
    """A mode: gives each waiting URL a priority, higher first, ties to the oldest. Subclass it for your own.

    A mode's text `name?word=value&…` hands its arguments to `__init__`, as strings.

    Attributes:
        servers_take_turns: servers are chosen in turn (WC), not by the best URL that any of them has.
        on_repeat: what a further page does to a URL that waits already by linking to it: "" nothing;
            "add": the priority rises by that of the new link; "raise": to that of the new link.
        follows_ranks: the ranker gives what waits new priorities, by `priorities`, while the crawl goes on.
        takes_notes: `page_note` and `note` say something.
        learns: `learn` is told what is found, and `plan` gives what waits other priorities for it. What was
            learnt is this process's alone. Several threads call: such an ordering holds a lock of its own.
        seeds_first: what no page links to is a seed, and comes before all else.
        band: priorities are classes of this width, 0: one class. The ranker's priorities, and what
            is added, stay below it, and the class that a URL was discovered in is kept.
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
        """The priority that a link gives its URL, within ±PRIORITY_MAX; seeds have no source."""
        return 0

    def note(self, link: Link, source: Source) -> int:
        """A number that is kept beside a URL while it waits, the highest of all its links; 0: none."""
        return 0

    def page_note(self, text: Text | None, lease: Lease) -> int:
        """What is noted of a page that was fetched, for its links."""
        return lease.note

    def priorities(self, known: Known) -> NDArray[Any]:
        """Whole numbers within ±PRIORITY_MAX for URLs that wait, where the ordering follows ranks."""
        raise NotImplementedError(f"{type(self).__name__} says that it follows ranks, and not how")

    def learn(self, seen: Sequence[Seen]) -> None:
        """What was just found, before the links of these pages are taken in."""

    def plan(self) -> tuple[list[Link], list[int]]:
        """URLs that may wait, and the priorities that they are to have from now on, each told once.

        Called when the links of what was learnt are taken in.
        """
        return [], []

    def out_of_turn(self, source: Source) -> Source:
        """A page that something else than its priority brought to the front, as if it had been its turn."""
        return source


def whole_number(name: str, text: str, least: int, most: int, bounds: str = "") -> int:
    """At least 0, at most what has a dozen digits. `bounds` says which are right, and what it is for."""
    if not (text.isdecimal() and len(text) <= 12 and least <= int(text) <= most):
        raise BadInput(f"{name}={text[:200]} is no whole number {bounds or f'from {least:,} to {most:,}'}")
    return int(text)


def number(name: str, text: str, is_right: Callable[[float], bool], bounds: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not is_right(value):
        raise BadInput(f"{name}={text[:200]} is no number {bounds}")
    return value


def seed_of(text: str) -> int:
    """Raises BadInput: the seed is no whole number."""
    if not (text.isdecimal() and len(text) < DIGITS):
        raise BadInput(f"seed={text[:200]} is no whole number of a few digits")
    return int(text)
