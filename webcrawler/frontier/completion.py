"""Deciding leases as done: exactly once, with the links of their pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from threading import Lock
from typing import Any

from webcrawler import urls
from webcrawler.frontier import wire
from webcrawler.frontier.discovery import LINKS_PER_CALL, Intake
from webcrawler.frontier.messages import Done
from webcrawler.frontier.scripts import Call, Partition
from webcrawler.orderings import Source
from webcrawler.records import Lease, Link

SWEPT = 10_000  # waiting URLs of a server that are looked at when a prefix goes behind
BEHIND = -(2**20)  # the priority of what goes behind all others

_REPLANNING = Lock()

_Numbered = tuple[int, Done, list[Link]]


class Deciding(Intake):
    def complete(self, done: Sequence[Done]) -> list[int]:
        """Decides leases as done and takes in their links; -1 for each that somebody else holds by now.

        Links of other partitions are taken in before: should this process die between, the fetch is
        repeated, and they are known then.
        """
        answers: list[int] = []
        for chunk in _chunks(done):
            before = self.connections
            answers += self._complete(chunk)
            if self.connections != before:  # what was left out may be unknown there
                taken = zip(chunk, answers[-len(chunk) :], strict=True)
                self.discover(link for one, new in taken if new >= 0 for link in one.links)
        return answers

    def _complete(self, chunk: Sequence[Done]) -> list[int]:
        prepared = self._prepared(chunk)
        return self._decided(prepared, self.run(self._complete_calls(prepared)))

    def _prepared(self, chunk: Sequence[Done]) -> dict[Partition, list[_Numbered]]:
        """Each with its place and those of its links that are to be sent with it; others are sent before."""
        numbered = [(n, one, self._last_of(one)) for n, one in enumerate(chunk)]
        if len(self.partitions) > 1:
            numbered = [(n, one, self._send_abroad(one, links)) for n, one, links in numbered]
        return self.partitions.split(numbered, lambda some: some[1].lease.server)

    def _complete_calls(self, prepared: dict[Partition, list[_Numbered]]) -> list[Call]:
        calls = []
        for partition, own in prepared.items():
            packed = [wire.done(one, self._columns(links, _source(one))) for _, one, links in own]
            calls.append(Call(partition, "complete", (self._limits, self.budgets.repeats, *packed)))
        return calls

    def _decided(self, prepared: dict[Partition, list[_Numbered]], found: Sequence[Any]) -> list[int]:
        """What was told of each, by its place."""
        answers = [-1] * sum(len(own) for own in prepared.values())
        for own, answer in zip(prepared.values(), found, strict=True):
            for (n, one, links), (new, refused, watched, behind) in zip(own, answer, strict=True):
                answers[n] = int(new)
                if new >= 0:
                    self._remember(links, refused, watched)
                if behind:
                    self._watched.add(one.lease.server)
                    self._send_behind(one.lease)
        return answers

    def _last_of(self, one: Done) -> list[Link]:
        """Takes in what is too much for one call, in order; after a crash it is known already."""
        links = self._unknown(one.links)
        for start in range(0, len(links) - LINKS_PER_CALL, LINKS_PER_CALL):
            part = links[start : min(start + LINKS_PER_CALL, len(links) - LINKS_PER_CALL)]
            self._discover(part, source=_source(one), part=f"{one.lease.id}:{start}")
        return links[-LINKS_PER_CALL:]

    def _send_abroad(self, one: Done, links: list[Link]) -> list[Link]:
        """Takes in what belongs to other partitions than the page's; returns the others."""
        split = self.partitions.split(links, lambda link: urls.server(link.url))
        own = split.pop(self.partitions.of_server(one.lease.server), [])
        abroad = list(chain.from_iterable(split.values()))
        self._discover(abroad, source=_source(one), part=str(one.lease.id))
        return own

    def _send_behind(self, lease: Lease) -> None:
        """Puts what waits under the prefix of a URL behind all others, as far as it stands in front."""
        partition = self.partitions.of_server(lease.server)
        prefix = urls.path_prefix(lease.url[len(lease.server) :])
        waiting = self.client.zrange(f"{partition.prefix}queue:{lease.server}", 0, SWEPT - 1)
        paths = [path.decode() for path in waiting]
        behind = [path for path in paths if urls.path_prefix(path) == prefix]
        for start in range(0, len(behind), LINKS_PER_CALL):
            part = behind[start : start + LINKS_PER_CALL]
            group = [[lease.server, part, [BEHIND] * len(part)]]
            self.run([Call(partition, "rescore", (wire.pack(group), 0))])

    def rescore(self, links: Sequence[Link], priorities: Sequence[int], keep_classes: bool = True) -> int:
        """Gives those that still wait another priority, within ±PRIORITY_MAX; returns how many did.

        Ties stay in order of discovery, and what the ordering's classes are (`Ordering.band`) unless told
        otherwise. A thousand URLs hold Redis for some milliseconds.
        """
        changed, band = 0, self.ordering.band if keep_classes else 0
        for start in range(0, len(links), LINKS_PER_CALL):
            part = zip(
                links[start : start + LINKS_PER_CALL],
                priorities[start : start + LINKS_PER_CALL],
                strict=True,
            )
            split = self.partitions.split(part, lambda some: urls.server(some[0].url))
            calls = [
                Call(partition, "rescore", (wire.pack(wire.priorities(own)), band))
                for partition, own in split.items()
            ]
            changed += sum(self.run(calls))
        return changed

    def replan(self) -> None:
        """Gives what waits the priorities that an ordering which learns wants by now.

        After an error of Redis the next call tells them. For any thread: the newest plan is told last.
        """
        ordering = self.ordering
        with _REPLANNING:
            links, priorities = ordering.plan()
            ordering.unsent = ordering.unsent[0] + links, ordering.unsent[1] + priorities
            self.rescore(*ordering.unsent)
            ordering.unsent = [], []


def _source(one: Done) -> Source:
    return Source(one.lease.priority, one.note, max(1, len(one.links)), one.lease.id)


def _chunks(done: Sequence[Done]) -> Iterable[list[Done]]:
    """Runs of leases with about LINKS_PER_CALL links in all; one page is never cut."""
    chunk: list[Done] = []
    links = 0
    for one in done:
        chunk.append(one)
        links += len(one.links)
        if links >= LINKS_PER_CALL or len(chunk) >= 100:
            yield chunk
            chunk, links = [], 0
    if chunk:
        yield chunk
