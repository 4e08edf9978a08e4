"""Adds links to the frontier, and remembers which this process has added already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from webcrawler import urls
from webcrawler.frontier import wire
from webcrawler.frontier.messages import Budgets
from webcrawler.frontier.slots import Slots
from webcrawler.orderings import Ordering, Source
from webcrawler.records import Link

LINKS_PER_CALL = 1_000  # keeps one call within a few milliseconds of Redis' time
KNOWN_MAX = 1_000_000  # ids remembered in this process, about 60 MB
WATCHED_MAX = 100_000  # servers
COUNTED_FROM = 1_000  # URLs of a server, as WATCHED in _4_intake.lua; smaller budgets are exact
NO_LIMITS = wire.limits(Budgets())


class Discovery:
    """Takes links into a frontier, by its ordering and within its budgets; for one thread.

    Attributes:
        watched: servers with many URLs; path prefixes of their links are sent and counted.
    """

    def __init__(self, slots: Slots, ordering: Ordering, budgets: Budgets) -> None:
        self.budgets, self.ordering = budgets, ordering
        self.watched: set[str] = set()
        self._slots = slots
        self._known: set[int] = set()
        self._connections = slots.connections  # that `_known` is from

    @cached_property
    def limits(self) -> bytes:
        return wire.limits(self.budgets.of_partition(len(self._slots.partitions)))

    def discover(
        self, links: Iterable[Link], within_budgets: bool = True, source: Source | None = None
    ) -> int:
        fresh, links = 0, list(links)
        for start in range(0, len(links), LINKS_PER_CALL):
            part, before = links[start : start + LINKS_PER_CALL], self._slots.connections
            once = f"{source.id}:found:{start}" if source else ""
            fresh += self.send(self.unknown(part), source, once, within_budgets)
            if self._slots.connections != before:  # what was left out may be unknown there
                fresh += self.send(self.unknown(part), source, once, within_budgets)
        return fresh

    def send(
        self, links: Sequence[Link], source: Source | None, part: str, within_budgets: bool = True
    ) -> int:
        """Takes in links, about LINKS_PER_CALL at most, in one round trip; returns how many were new.

        Args:
            source: the page that they stand on; then they raise what waits, where the ordering wants that.
            part: a name for these links of the page: the same part raises what waits only once.
        """
        if not links:
            return 0
        limits, fresh = self.limits if within_budgets else NO_LIMITS, 0
        answers = self._slots.run_split(
            "discover",
            links,
            lambda link: urls.server(link.url),
            lambda own: (limits, wire.pack(self.columns(own, source)), part),
        )
        for own, (new, refused, watched) in answers:
            self.remember(own, refused, watched)
            fresh += int(new)
        return fresh

    def columns(self, links: Sequence[Link], source: Source | None) -> list[Any]:
        counts_all = 0 < self.budgets.prefix <= COUNTED_FROM
        is_watched = self.watched.__contains__
        return wire.columns(links, self.ordering, lambda server: counts_all or is_watched(server), source)

    def unknown(self, links: Sequence[Link]) -> list[Link]:
        """Those that this process has not seen added yet: most links of a page are old ones."""
        if self.ordering.on_repeat or self.ordering.takes_notes:
            return list(links)  # old ones raise what waits
        known = self._known_now()
        return [link for link in links if link.id not in known]

    def remember(self, links: Sequence[Link], refused: int, watched: Sequence[bytes]) -> None:
        """Keeps what an answer said: links that are known now if none was refused, and servers to watch."""
        known = self._known_now()
        if len(known) > KNOWN_MAX:
            known.clear()
        if not refused:
            known.update([link.id for link in links])
        if len(self.watched) > WATCHED_MAX:
            self.watched.clear()
        self.watched.update(server.decode() for server in watched)

    def forget(self) -> None:
        """What this process knew may not be known to Redis any more."""
        self._known.clear()

    def _known_now(self) -> set[int]:
        if self._connections != self._slots.connections:  # Redis may have lost its last writes
            self._connections = self._slots.connections
            self.forget()
        return self._known
