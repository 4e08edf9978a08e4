"""Orderings of a user's own, by class path: they go to the ends of what a frontier allows."""

from __future__ import annotations

from webcrawler.frontier import Ordering, Source
from webcrawler.records import Link

BAND = 2**19


class Far(Ordering):
    """Two links go past the highest priority, or below the lowest."""

    on_repeat = "add"

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return (link.id % 3 - 1) * 700_000


class FarInTurn(Far):
    servers_take_turns = True


class FarInClasses(Ordering):
    """Two links go past the end of a class."""

    on_repeat = "add"
    band = BAND

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return (link.id + len(link.anchor)) % 2 * BAND + 300_000


class BestInClasses(FarInClasses):
    on_repeat = "raise"

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return super().first_priority(link) + (source.priority + source.links) % 5 if source else 0


class Noted(Far):
    """Each link of a page has a note of its own."""

    takes_notes = True

    def note(self, link: Link, source: Source) -> int:
        return (link.id + source.id) % 4
