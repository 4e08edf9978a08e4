"""Takes links in, once each; and decides leases as done, exactly once, with the links of their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from threading import Lock
from typing import Any

from webcrawler import urls
from webcrawler.frontier import decisions, wire
from webcrawler.frontier.messages import Budgets, Done, Past
from webcrawler.frontier.slots import Call, Partition, Slots
from webcrawler.orderings import Ordering, Source
from webcrawler.records import Link

LINKS_PER_CALL = 1_000  # keeps one call within a few milliseconds of Redis' time
LEASES_PER_CALL = 100
KNOWN_MAX = 1_000_000  # ids remembered in this process, about 60 MB
WATCHED_MAX = 100_000  # servers
COUNTED_FROM = 1_000  # URLs of a server, as WATCHED in _4_intake.lua; smaller budgets are exact
NO_LIMITS = wire.limits(Budgets())

Numbered = tuple[int, Done, list[Link]]  # a decided lease, its place among all, and links to send with it
Prepared = dict[Partition, list[Numbered]]


class Intake:
    """Takes links into a frontier by its ordering and within its budgets: seeds, and the links of done pages.

    For one thread.

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
            # Redis may have lost links that we skipped as known: send them again
            if self._slots.connections != before:
                fresh += self.send(self.unknown(part), source, once, within_budgets)
        return fresh

    def send(
        self,
        links: Sequence[Link],
        source: Source | None,
        part: str,
        within_budgets: bool = True,
        page: str = "",
    ) -> int:
        """Takes in links, about LINKS_PER_CALL at most, in one round trip; returns how many were new.

        Args:
            source: the page that they stand on; then they may raise queued URLs' priorities (`on_repeat`).
            part: a name for these links of the page: the same part raises priorities only once.
            page: its URL, where it is known.
        """
        if not links:
            return 0
        limits = self.limits if within_budgets else NO_LIMITS
        answers = self._slots.run_split(
            "discover",
            links,
            lambda link: urls.server(link.url),
            lambda own: (limits, wire.pack(self.columns(own, source)), part),
        )
        return sum(self._take_in(own, source, answer, page) for own, answer in answers)

    def columns(self, links: Sequence[Link], source: Source | None) -> list[Any]:
        counts_all = 0 < self.budgets.prefix <= COUNTED_FROM
        is_watched = self.watched.__contains__
        found = wire.columns(links, self.ordering, lambda server: counts_all or is_watched(server), source)
        return [*found, 1] if decisions.are_logged() else found

    def _take_in(self, links: Sequence[Link], source: Source | None, answer: Sequence[Any], page: str) -> int:
        """Reads what _4_intake.lua says of links; returns how many were new."""
        new, refused, watched, *told = answer
        if told:
            added, kept_out = told[0]
            decisions.log_taken_in(added, kept_out, page)
        self.remember(links, refused or (source is not None and source.repeats), watched)
        return int(new)

    def complete(self, done: Sequence[Done]) -> list[int]:
        answers: list[int] = []
        for chunk in chunks(done):
            before, prepared = self._slots.connections, self.prepare(chunk)
            answers += self.decided(prepared, self._slots.run(self.calls(prepared)), before)
        return answers

    def prepare(self, done: Sequence[Done]) -> Prepared:
        """Sends what must be known before: links of other partitions, and links beyond one call.

        If this process dies then, the fetch is repeated, and they are known already.
        """
        numbered = [(n, one, self._last_of(one)) for n, one in enumerate(done)]
        if len(self._slots.partitions) > 1:
            numbered = self._send_abroad(numbered)
        return self._slots.partitions.split(numbered, lambda some: some[1].lease.server)

    def calls(self, prepared: Prepared) -> list[Call]:
        first = (self.limits, self.budgets.repeats)
        calls = []
        for partition, own in prepared.items():
            packed = [wire.done(one, self.columns(links, self._source(one))) for _, one, links in own]
            calls.append(Call(partition, "complete", (*first, *packed)))
        return calls

    def decided(self, prepared: Prepared, found: Sequence[Any], before: int) -> list[int]:
        """Reads the answers to `calls`.

        Args:
            before: connections there were before the leases were prepared.
        Returns:
            For each lease, by its place: new links; -1 where somebody else holds it by now.
        """
        answers = [-1] * sum(len(own) for own in prepared.values())
        taken: list[Done] = []
        for own, answer in zip(prepared.values(), found, strict=True):
            for (n, one, links), of_links in zip(own, answer, strict=True):
                if of_links[0] >= 0:
                    taken.append(one)
                    answers[n] = self._take_in(links, self._source(one), of_links, one.lease.url)
        # Redis may have lost links that we skipped as known: send them again
        if self._slots.connections != before:
            self.discover(link for one in taken for link in one.links)
        return answers

    def _last_of(self, one: Done) -> list[Link]:
        """Takes in what is too much for one call, in order; after a crash it is known already."""
        links = self.unknown(one.links)
        for start in range(0, len(links) - LINKS_PER_CALL, LINKS_PER_CALL):
            part = links[start : min(start + LINKS_PER_CALL, len(links) - LINKS_PER_CALL)]
            self.send(part, self._source(one), f"{one.lease.id}:{start}", page=one.lease.url)
        return links[-LINKS_PER_CALL:]

    def _send_abroad(self, numbered: list[Numbered]) -> list[Numbered]:
        """Takes in what belongs to other partitions than its page, in one round trip; returns the rest."""
        partitions, rest = self._slots.partitions, []
        calls: list[Call] = []
        sent: list[tuple[Done, list[Link]]] = []
        for n, one, links in numbered:
            split = partitions.split(links, lambda link: urls.server(link.url))
            rest.append((n, one, split.pop(partitions.of_server(one.lease.server), [])))
            source = self._source(one)
            for partition, abroad in split.items():
                packed = wire.pack(self.columns(abroad, source))
                calls.append(Call(partition, "discover", (self.limits, packed, str(one.lease.id))))
                sent.append((one, abroad))
        for (one, abroad), answer in zip(sent, self._slots.run(calls), strict=True):
            self._take_in(abroad, self._source(one), answer, one.lease.url)
        return rest

    def settle(self, past: Sequence[Past], retry_seconds: Callable[[int], float]) -> None:
        """As `Frontier.settle`.

        Args:
            retry_seconds: the back-off after so many failed tries.
        """
        self._slots.run_split(
            "settle",
            past,
            lambda one: urls.server(one.url),
            lambda own: (self.budgets.repeats, wire.pack([wire.past(one, retry_seconds) for one in own])),
        )

    def rescore(self, waiting: Sequence[str], priorities: Sequence[int], band: int) -> int:
        """Gives canonical URLs that still wait another priority, as `Frontier.rescore`."""
        changed = 0
        for start in range(0, len(waiting), LINKS_PER_CALL):
            end = start + LINKS_PER_CALL
            part = zip(waiting[start:end], priorities[start:end], strict=True)
            found = self._slots.run_split(
                "rescore",
                part,
                lambda one: urls.server(one[0]),
                lambda own: (wire.by_server(own), band),
            )
            changed += sum(number for _, number in found)
        return changed

    def unknown(self, links: Sequence[Link]) -> list[Link]:
        """Leaves out links that are known to be in the frontier already, as most links of a page are."""
        if self.ordering.on_repeat or self.ordering.takes_notes:
            return list(links)  # known links may still raise a queued URL's priority
        known = self._known_now()
        return [link for link in links if link.id not in known]

    def remember(self, links: Sequence[Link], unsure: int, watched: Sequence[bytes]) -> None:
        """Keeps what an answer said: links that are known now, and servers to watch.

        Args:
            unsure: not 0 if some were refused, or are to be sent again by other pages, as they wait behind.
        """
        known = self._known_now()
        if len(known) > KNOWN_MAX:
            known.clear()
        if not unsure:
            known.update([link.id for link in links])
        if len(self.watched) > WATCHED_MAX:
            self.watched.clear()
        self.watched.update(server.decode() for server in watched)

    def _source(self, one: Done) -> Source:
        repeats = one.repeats and self.budgets.repeats > 0
        return Source(one.lease.priority, one.note, max(1, len(one.links)), one.lease.id, repeats)

    def forget(self) -> None:
        """Clears the cache of sent ids."""
        self._known.clear()

    def _known_now(self) -> set[int]:
        if self._connections != self._slots.connections:  # Redis may have lost its last writes
            self._connections = self._slots.connections
            self.forget()
        return self._known


def chunks(done: Sequence[Done]) -> Iterable[list[Done]]:
    """Runs of leases with about LINKS_PER_CALL links in all; one page is never cut."""
    chunk: list[Done] = []
    links = 0
    for one in done:
        chunk.append(one)
        links += len(one.links)
        if links >= LINKS_PER_CALL or len(chunk) >= LEASES_PER_CALL:
            yield chunk
            chunk, links = [], 0
    if chunk:
        yield chunk


class Plans:
    """Sends an ordering's plans one at a time, so that the latest one wins; shared by threads."""

    def __init__(self, ordering: Ordering) -> None:
        self._ordering = ordering
        self._links: list[Link] = []
        self._priorities: list[int] = []
        self._lock = Lock()

    def tell(self, rescore: Callable[[list[Link], list[int]], object]) -> None:
        """Asks for a plan and sends it, after what could not be sent before."""
        with self._lock:
            links, priorities = self._ordering.plan()
            self._links += links
            self._priorities += priorities
            rescore(self._links, self._priorities)
            self._links, self._priorities = [], []
