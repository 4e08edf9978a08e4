"""A user's ordering that fails in the middle of a crawl costs no page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from webcrawler.orderings.base import PRIORITY_MAX, Ordering, Source
from webcrawler.records import Link

NOTE_MAX = 2**53 - 1  # a number of Lua's
_log = logging.getLogger(__name__)


def guard(own: Ordering, mode: str) -> Ordering:
    """Has an ordering log what its methods raise, or say wrongly, once for each, and answer otherwise.

    A link then has the priority of its page (a seed has 0) and no note, a page the note that it was leased
    with, and nothing is learnt or planned. `priorities` is the ranker's to ask, which reports errors itself.
    """
    for method, (check, instead) in METHODS.items():
        setattr(own, method, _guarded(getattr(own, method), check, instead, f"mode={mode}: {method}"))
    return own


def _guarded(
    ask: Callable[..., Any], check: Callable[[Any], Any], instead: Callable[..., Any], what: str
) -> Callable[..., Any]:
    has_failed = False

    def asked(*arguments: Any, **named: Any) -> Any:
        nonlocal has_failed
        try:
            return check(ask(*arguments, **named))
        except Exception as error:
            if not has_failed:
                has_failed = True
                _log.error(
                    "%s failed: %s; the crawl goes on without it, and no page is lost; "
                    "correct it, and start again with --rescore",
                    what,
                    ascii(f"{type(error).__name__}: {error}"[:500])[1:-1],
                )
            return instead(*arguments, **named)

    return asked


def _whole(value: object, most: int) -> int:
    number = index(value)  # type: ignore[arg-type]
    if abs(number) > most:
        raise ValueError(f"{number} is not within ±{most:,}")
    return number


def _note(value: object) -> int:
    return _whole(value, NOTE_MAX)


def _priority(value: object) -> int:
    return _whole(value, PRIORITY_MAX)


def _plan(plan: tuple[Sequence[Link], Sequence[int]]) -> tuple[list[Link], list[int]]:
    links, priorities = plan
    if len(links) != len(priorities) or not all(isinstance(link, Link) for link in links):
        raise ValueError(f"{len(links)} links and {len(priorities)} priorities")
    return list(links), [_priority(value) for value in priorities]


def _of_page(link: Link, source: Source | None = None) -> int:
    return max(-PRIORITY_MAX, min(source.priority, PRIORITY_MAX)) if source else 0


METHODS: dict[str, tuple[Callable[[Any], Any], Callable[..., Any]]] = {  # how each answer is checked; else
    "first_priority": (_priority, _of_page),
    "note": (_note, lambda link, source: 0),
    "page_note": (_note, lambda text, lease: lease.note),
    "learn": (lambda nothing: nothing, lambda seen: None),
    "plan": (_plan, lambda: ([], [])),
    "out_of_turn": (lambda source: source, lambda source: source),
}
