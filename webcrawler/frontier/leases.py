"""Handing URLs out, taking them back, and the workers that hold them."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain
from typing import Any

import msgpack

from webcrawler import urls
from webcrawler.frontier import wire
from webcrawler.frontier.messages import Failed, Leased, Politeness, Report
from webcrawler.frontier.scripts import Argument, Call, Partition
from webcrawler.frontier.slots import Slots
from webcrawler.frontier.wire import milliseconds
from webcrawler.records import Lease

UNLIMITED = 2**31
HEADER = 4  # values of an answer of `lease` before those of leases


class Leases:
    """What one worker leases, and what becomes of the leases of others that died.

    Attributes:
        turn: the partition that is leased from next.
    """

    def __init__(self, slots: Slots, politeness: Politeness, worker: str) -> None:
        self.politeness, self.worker = politeness, worker
        self.turn = 0
        self._slots = slots
        self._alone: Partition | None = None  # where it holds a URL alone, or lets go of others for that

    def lease(self, limit: int, reports: Sequence[Report] = (), doubtful: int = UNLIMITED) -> Leased:
        asked, others = self._in_turn(limit)
        before = self._fetched(reports)
        answers = self._slots.run([*before, *self.calls(asked, limit, doubtful)])[len(before) :]
        for partition in others:
            if any(len(answer) > HEADER for answer in answers):
                break
            answers += self._slots.run(self.calls([partition], 0 if self._alone else limit, doubtful))
        alone = [one for one, answer in zip([*asked, *others], answers, strict=False) if answer[3]]
        self._alone = alone[0] if alone else None
        return self.leased(answers)

    def leased(self, answers: Sequence[Any]) -> Leased:
        """Reads the answers to `calls`."""
        waits = [answer[2] for answer in answers if answer[2] >= 0]
        return Leased(
            list(chain.from_iterable(wire.leases(answer[HEADER:]) for answer in answers)),
            sum(answer[0] for answer in answers),
            sum(answer[1] for answer in answers),
            min(waits) / 1000 if waits else None,
        )

    def _in_turn(self, limit: int) -> tuple[list[Partition], list[Partition]]:
        """The partitions whose turn it is, one for each URL, and the others.

        While a URL is held alone, or is going to be, it is the turn of its partition alone.
        """
        if self._alone:
            return [self._alone], [one for one in self._slots.partitions if one != self._alone]
        number = len(self._slots.partitions)
        asked = min(limit, number) or number
        order = [self._slots.partitions[(self.turn + n) % number] for n in range(number)]
        self.turn = (self.turn + asked) % number
        return order[:asked], order[asked:]

    def calls(self, asked: Sequence[Partition], limit: int, doubtful: int) -> list[Call]:
        polite = self.politeness
        calls = []
        for n, partition in enumerate(asked):
            share, doubtful_share = (
                (total + len(asked) - 1 - n) // len(asked) for total in (limit, doubtful)
            )
            arguments = (
                self.worker,
                share,
                milliseconds(polite.lease),
                polite.server_concurrency,
                milliseconds(polite.delay),
                doubtful_share,
                polite.deaths,
                int(self._holds_beside(partition)),
                milliseconds(polite.crawl_delay_max),
            )
            calls.append(Call(partition, "lease", arguments))
        return calls

    def _holds_beside(self, partition: Partition) -> bool:
        """May this worker hold anything in other partitions? Looked up only if a URL is to be held alone."""
        if self._alone is None:
            return len(self._slots.partitions) > 1  # then it is asked again, by the next call
        held = (f"{other.prefix}held:{self.worker}" for other in self._slots.partitions if other != partition)
        return any(self._slots.client.exists(key) for key in held)

    def fetched(self, reports: Sequence[Report]) -> None:
        self._slots.run(self._fetched(reports))

    def _fetched(self, reports: Sequence[Report]) -> list[Call]:
        polite = self.politeness
        first = [milliseconds(t) for t in (polite.delay, polite.backoff, polite.backoff_max)]
        split = self._slots.partitions.split(reports, lambda report: report.lease.server)
        calls = []
        for partition, own in split.items():
            arguments: list[Argument] = [*first, milliseconds(polite.crawl_delay_max)]
            for report in own:
                arguments += self._report(report)
            calls.append(Call(partition, "fetched", arguments))
        return calls

    def _report(self, report: Report) -> list[Argument]:
        polite = self.politeness
        pause = max(polite.pause(report.seconds), report.retry_after)
        in_time = report.seconds < polite.slow and not report.slow_down
        return [
            report.lease.url,
            report.lease.token,
            milliseconds(pause) if report.downloaded else -1,
            int(report.slow_down),
            round(random.uniform(0.5, 1.5), 3) if report.slow_down else 1,
            int(in_time),
        ]

    def fail(self, failed: Sequence[Failed]) -> list[int]:
        polite = self.politeness
        first = [polite.tries, milliseconds(polite.backoff), milliseconds(polite.backoff_max)]
        numbered = list(enumerate(failed))
        split = self._slots.partitions.split(numbered, lambda some: some[1].lease.server)
        calls = []
        for partition, own in split.items():
            arguments: list[Argument] = [*first]
            for _, one in own:
                arguments += [one.lease.url, one.lease.token, one.outcome, int(one.retry)]
            calls.append(Call(partition, "fail", arguments))
        answers = [-1] * len(failed)
        for own, answer in zip(split.values(), self._slots.run(calls), strict=True):
            for (n, _), value in zip(own, answer, strict=True):
                answers[n] = int(value)
        return answers

    def release(self, leases: Sequence[Lease]) -> int:
        return self._release([(lease.server, lease.url, lease.token) for lease in leases])

    def _release(self, held: Iterable[tuple[str, str, int]]) -> int:
        split = self._slots.partitions.split(held, lambda lease: lease[0])
        calls = [
            Call(partition, "release", list(chain.from_iterable(lease[1:] for lease in own)))
            for partition, own in split.items()
        ]
        return sum(self._slots.run(calls))

    def reclaim(self, known: Container[str]) -> int:
        lost = []
        for partition in self._slots.partitions:
            held = self._slots.client.smembers(f"{partition.prefix}held:{self.worker}")
            foreign = [url for url in (url.decode() for url in held) if url not in known]
            packed = self._slots.client.hmget(partition.prefix + "leases", foreign) if foreign else []
            for url, lease in zip(foreign, packed, strict=True):
                lost.append((urls.server(url), url, msgpack.unpackb(lease)[0] if lease else 0))
        return self._release(lost)

    def expire(self, alive_seconds: float) -> int:
        arguments = (self.worker if alive_seconds else "", milliseconds(alive_seconds))
        return sum(self._slots.run(Call(p, "expire", arguments) for p in self._slots.partitions))

    def expire_dead(self, is_dead: Callable[[str], bool]) -> int:
        dead = dict.fromkeys(filter(is_dead, self.workers()), 0)
        for partition in self._slots.partitions if dead else ():
            self._slots.client.zadd(partition.prefix + "workers", dead, xx=True)
        return self.expire(0.0)

    def leave(self) -> None:
        self.reclaim(())
        for partition in self._slots.partitions:
            self._slots.client.zrem(partition.prefix + "workers", self.worker)
            self._slots.client.hdel(partition.prefix + "alone", self.worker)

    def workers(self) -> list[str]:
        prefixes = [partition.prefix for partition in self._slots.partitions]
        found = (self._slots.client.zrange(prefix + "workers", 0, -1) for prefix in prefixes)
        return sorted({name.decode() for names in found for name in names})
