"""Handing URLs out, and taking them back."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from webcrawler.frontier import wire
from webcrawler.frontier.messages import Failed, Leased, Report
from webcrawler.frontier.scripts import Argument, Call, Partition
from webcrawler.frontier.slots import Slots
from webcrawler.frontier.wire import milliseconds
from webcrawler.records import Lease

UNLIMITED = 2**31
HEADER = 4  # values of an answer of `lease` before those of leases


class Leasing(Slots):
    _turn = 0  # the partition that is leased from next
    _alone: Partition | None = None  # where this worker holds a URL alone, or lets go of others for it

    def lease(self, limit: int, reports: Sequence[Report] = (), doubtful: int = UNLIMITED) -> Leased:
        """Up to `limit` URLs, best first, from servers that are due and have a place free.

        At most `doubtful` of them from servers that did not answer in time, or have not been asked yet.
        Downloads that are over are reported in the same round trip, before. Partitions are leased from in
        turn; when none of those asked has anything, the others are, one after the other.
        """
        asked, others = self._in_turn(limit)
        before = self._fetched(reports)
        answers = self.run([*before, *self._lease_calls(asked, limit, doubtful)])[len(before) :]
        for partition in others:
            if any(len(answer) > HEADER for answer in answers):
                break
            answers += self.run(self._lease_calls([partition], 0 if self._alone else limit, doubtful))
        alone = [one for one, answer in zip([*asked, *others], answers, strict=False) if answer[3]]
        self._alone = alone[0] if alone else None
        return self._leased(answers)

    def _leased(self, answers: Sequence[Any]) -> Leased:
        waits = [answer[2] for answer in answers if answer[2] >= 0]
        return Leased(
            list(chain.from_iterable(wire.leases(answer[HEADER:]) for answer in answers)),
            sum(answer[0] for answer in answers),
            sum(answer[1] for answer in answers),
            min(waits) / 1000 if waits else None,
        )

    def _in_turn(self, limit: int) -> tuple[list[Partition], list[Partition]]:
        """The partitions whose turn it is, one for each URL, and the others.

        While a URL is held alone, or is to be, only its partition, and the others say what they hold.
        """
        if self._alone:
            return [self._alone], [one for one in self.partitions if one != self._alone]
        number = len(self.partitions)
        asked = min(limit, number) or number
        order = [self.partitions[(self._turn + n) % number] for n in range(number)]
        self._turn = (self._turn + asked) % number
        return order[:asked], order[asked:]

    def _lease_calls(self, asked: Sequence[Partition], limit: int, doubtful: int) -> list[Call]:
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
        """Does this worker hold anything in other partitions? Asked only when a URL is to be held alone."""
        if self._alone is None:
            return len(self.partitions) > 1  # then it is asked again, by the next call
        held = (f"{other.prefix}held:{self.worker}" for other in self.partitions if other != partition)
        return any(self.client.exists(key) for key in held)

    def fetched(self, reports: Sequence[Report]) -> None:
        """Downloads are over: their servers have a place again, and are due after a pause."""
        self.run(self._fetched(reports))

    def _fetched(self, reports: Sequence[Report]) -> list[Call]:
        polite = self.politeness
        first = [milliseconds(t) for t in (polite.delay, polite.backoff, polite.backoff_max)]
        calls = []
        for partition, own in self.partitions.split(reports, lambda report: report.lease.server).items():
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
        """1 for each that is queued again, 0 for each that is decided, -1 as in `complete`."""
        polite = self.politeness
        first = [polite.tries, milliseconds(polite.backoff), milliseconds(polite.backoff_max)]
        numbered = list(enumerate(failed))
        split = self.partitions.split(numbered, lambda some: some[1].lease.server)
        calls = []
        for partition, own in split.items():
            arguments: list[Argument] = [*first]
            for _, one in own:
                arguments += [one.lease.url, one.lease.token, one.outcome, int(one.retry)]
            calls.append(Call(partition, "fail", arguments))
        answers = [-1] * len(failed)
        for own, answer in zip(split.values(), self.run(calls), strict=True):
            for (n, _), value in zip(own, answer, strict=True):
                answers[n] = int(value)
        return answers

    def release(self, leases: Sequence[Lease]) -> int:
        """Gives leases back unused."""
        return self._release([(lease.server, lease.url, lease.token) for lease in leases])

    def _release(self, held: Iterable[tuple[str, str, int]]) -> int:
        split = self.partitions.split(held, lambda lease: lease[0])
        calls = [
            Call(partition, "release", list(chain.from_iterable(lease[1:] for lease in own)))
            for partition, own in split.items()
        ]
        return sum(self.run(calls))
