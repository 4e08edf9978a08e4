"""In what order are known URLs visited? Pure arithmetic over links; ties go to the oldest.

An ordering gives a waiting URL its priority, a whole number within ±2^20, higher first, and says how
servers are chosen: in turn (WC), or by the best URL that any of them has.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import entry_points
from typing import Protocol

from webcrawler.errors import BadInput
from webcrawler.records import Link

PRIORITY_MAX = 2**20 - 1  # below it is what goes behind all others


class Ordering(Protocol):
    """What a mode is; a class without arguments."""

    servers_take_turns: bool

    def first_priority(self, link: Link) -> int:
        """The priority of a URL at its discovery, within ±PRIORITY_MAX."""
        ...


class Breadth:
    """Servers first, then documents.

    A server without a document comes before all others, first found first; when there is none, all
    servers take turns, least recently accessed first; within a server first found first.

    Source: Pinkerton 1994, "The Search Engine", indexing mode.
    """

    servers_take_turns = True

    def first_priority(self, link: Link) -> int:
        return 0


class Fifo:
    """First found first, over all servers. Source: Cho 1998, Figure 2 without reordering."""

    servers_take_turns = False

    def first_priority(self, link: Link) -> int:
        return 0


class Random:
    """Any known URL: its priority is drawn once, from its id, so that a crawl can be repeated.

    Source: Cho 1998, section 4, the random crawler.
    """

    servers_take_turns = False

    def first_priority(self, link: Link) -> int:
        return (link.id * 0x9E3779B97F4A7C15 >> 40) % (PRIORITY_MAX + 1)


class Priority:
    """Highest Scrapy priority first: for spiders whose requests have one."""

    servers_take_turns = False

    def first_priority(self, link: Link) -> int:
        if not link.request.startswith('{"priority":'):
            return 0
        wanted = int(json.loads(link.request)["priority"])
        return max(-PRIORITY_MAX, min(wanted, PRIORITY_MAX))


BUILT_IN: dict[str, type[Ordering]] = {
    "breadth": Breadth,
    "fifo": Fifo,
    "random": Random,
    "priority": Priority,
}


def ordering(mode: str) -> Ordering:
    """The ordering of that name: built in, by entry point `webcrawler.orderings`, or by class path.

    Raises:
        BadInput: there is none; the message lists the names.
    """
    if mode in BUILT_IN:
        return BUILT_IN[mode]()
    plugins = {point.name: point for point in entry_points(group="webcrawler.orderings")}
    if mode in plugins:
        return plugins[mode].load()()  # type: ignore[no-any-return]
    module, _, name = mode.rpartition(".")
    try:
        found: Ordering = getattr(import_module(module), name)()
        _ = found.servers_take_turns, found.first_priority  # else it is no ordering
        return found
    except (ImportError, AttributeError, TypeError, ValueError):
        names = ", ".join(sorted([*BUILT_IN, *plugins]))
        raise BadInput(f"unknown mode {mode!r}: choose one of {names}, or a class path") from None
