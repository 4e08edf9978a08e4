"""What an ordering is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from webcrawler.records import Lease, Link, Text

PRIORITY_MAX = 2**20 - 1  # below it is what goes behind all others
BAND = 2**19  # the priorities of most orderings are below it and not below 0: two classes of them fit


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
    """

    servers_take_turns = False
    on_repeat = ""
    follows_ranks = False
    takes_notes = False
    learns = False
    seeds_first = False
    band = 0

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
