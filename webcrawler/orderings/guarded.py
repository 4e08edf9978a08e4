"""A user's ordering that fails in the middle of a crawl costs no page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar

from webcrawler.orderings.base import PRIORITY_MAX, Known, Ordering, Seen, Source
from webcrawler.records import Lease, Link, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTE_MAX = 2**53 - 1  # a number of Lua's
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Guarded(Ordering):
    """Asks an ordering; what it raises, or says wrongly, is logged once for each method and replaced.

    A link then has the priority of its page (a seed has 0) and no note, a page the note that it was leased
    with, and nothing is learnt or planned. `priorities` is the ranker's to ask, which reports errors itself.
    """

    def __init__(self, own: Ordering, mode: str) -> None:
        self._own, self._mode = own, mode
        self._failed: set[str] = set()  # methods
        self.servers_take_turns, self.on_repeat = own.servers_take_turns, own.on_repeat
        self.follows_ranks, self.takes_notes = own.follows_ranks, own.takes_notes
        self.learns, self.seeds_first, self.band = own.learns, own.seeds_first, own.band

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        instead = max(-PRIORITY_MAX, min(source.priority, PRIORITY_MAX)) if source else 0
        return self._ask(
            "first_priority", lambda: _whole(self._own.first_priority(link, source), PRIORITY_MAX), instead
        )

    def note(self, link: Link, source: Source) -> int:
        return self._ask("note", lambda: _whole(self._own.note(link, source), NOTE_MAX), 0)

    def page_note(self, text: Text | None, lease: Lease) -> int:
        return self._ask("page_note", lambda: _whole(self._own.page_note(text, lease), NOTE_MAX), lease.note)

    def priorities(self, known: Known) -> NDArray[Any]:
        return self._own.priorities(known)

    def learn(self, seen: Sequence[Seen]) -> None:
        self._ask("learn", lambda: self._own.learn(seen), None)

    def plan(self) -> tuple[list[Link], list[int]]:
        nothing: tuple[list[Link], list[int]] = ([], [])
        return self._ask("plan", lambda: _plan(*self._own.plan()), nothing)

    def out_of_turn(self, source: Source) -> Source:
        return self._ask("out_of_turn", lambda: self._own.out_of_turn(source), source)

    def _ask(self, method: str, answer: Callable[[], T], instead: T) -> T:
        try:
            return answer()
        except Exception as error:
            if method not in self._failed:
                self._failed.add(method)
                _log.error(
                    "mode=%s: %s failed: %s; the crawl goes on without it, and no page is lost; "
                    "correct it, and start again with --rescore",
                    self._mode,
                    method,
                    ascii(f"{type(error).__name__}: {error}"[:500])[1:-1],
                )
            return instead


def _whole(value: object, most: int) -> int:
    number = index(value)  # type: ignore[arg-type]
    if abs(number) > most:
        raise ValueError(f"{number} is not within ±{most:,}")
    return number


def _plan(links: Sequence[Link], priorities: Sequence[int]) -> tuple[list[Link], list[int]]:
    if len(links) != len(priorities) or not all(isinstance(link, Link) for link in links):
        raise ValueError(f"{len(links)} links and {len(priorities)} priorities")
    return list(links), [_whole(one, PRIORITY_MAX) for one in priorities]
