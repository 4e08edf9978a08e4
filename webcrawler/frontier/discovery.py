"""Taking links in, and what this process knows to be taken in."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from typing import Any

from webcrawler import urls
from webcrawler.frontier import wire
from webcrawler.frontier.messages import Budgets
from webcrawler.frontier.scripts import Call
from webcrawler.frontier.slots import Slots
from webcrawler.orderings import Source
from webcrawler.records import Link

LINKS_PER_CALL = 1_000  # keeps one call within a few milliseconds of Redis' time
KNOWN_MAX = 1_000_000  # ids remembered in this process, about 60 MB
WATCHED_MAX = 100_000  # servers
COUNTED_FROM = 1_000  # URLs of a server, as WATCHED in _4_intake.lua; smaller budgets are exact


class _Everything:
    def __contains__(self, _: object) -> bool:
        return True


EVERYTHING: Container[str] = _Everything()


NO_LIMITS = wire.limits(Budgets())


class Intake(Slots):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._known: set[int] = set()
        self._watched: set[str] = set()  # servers with many URLs: their path prefixes are counted
        super().__init__(*arguments, **named)

    @cached_property
    def _limits(self) -> bytes:
        return wire.limits(self.budgets.of_partition(len(self.partitions)))

    def discover(
        self, links: Iterable[Link], within_budgets: bool = True, source: Source | None = None
    ) -> int:
        """Takes links in, once each; returns how many were new. Seeds need not be within the budgets.

        Args:
            source: the page that they stand on, where that is not one which is being completed.
        """
        fresh, links = 0, list(links)
        for start in range(0, len(links), LINKS_PER_CALL):
            part, before = links[start : start + LINKS_PER_CALL], self.connections
            once = f"{source.id}:found:{start}" if source else ""
            fresh += self._discover(self._unknown(part), within_budgets, source, once)
            if self.connections != before:  # what was left out may be unknown there
                fresh += self._discover(self._unknown(part), within_budgets, source, once)
        return fresh

    def _discover(
        self,
        links: Sequence[Link],
        within_budgets: bool = True,
        source: Source | None = None,
        part: str = "",
    ) -> int:
        """With the page that they stand on, and a name for this part of its links, they raise what waits."""
        split = self.partitions.split(links, lambda link: urls.server(link.url))
        if not split:
            return 0
        limits = self._limits if within_budgets else NO_LIMITS
        calls = [
            Call(partition, "discover", (limits, wire.pack(self._columns(own, source)), part))
            for partition, own in split.items()
        ]
        answers = self.run(calls)
        for own, (_, refused, watched) in zip(split.values(), answers, strict=True):
            self._remember(own, refused, watched)
        return sum(int(answer[0]) for answer in answers)

    def connected(self) -> None:
        """A server that died may come back without its last writes: what it knew is then not known."""
        super().connected()
        self._known.clear()

    def _unknown(self, links: Sequence[Link]) -> list[Link]:
        """Those that this process has not yet seen taken in: most links of a page are old ones."""
        if self.ordering.on_repeat or self.ordering.takes_notes:
            return list(links)  # old ones raise what waits
        known = self._known
        return [link for link in links if link.id not in known]

    def _remember(self, links: Sequence[Link], refused: int, watched: Sequence[bytes]) -> None:
        """What an answer told: links that are known now, but for those refused; servers to be watched."""
        if len(self._known) > KNOWN_MAX:
            self._known.clear()
        if not refused:
            self._known.update([link.id for link in links])
        if len(self._watched) > WATCHED_MAX:
            self._watched.clear()
        self._watched.update(server.decode() for server in watched)

    def _columns(self, links: Sequence[Link], source: Source | None) -> list[Any]:
        counts_all = 0 < self.budgets.prefix <= COUNTED_FROM
        return wire.columns(links, self.ordering, EVERYTHING if counts_all else self._watched, source)
