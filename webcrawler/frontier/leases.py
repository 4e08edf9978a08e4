"""Handing URLs out, taking them back, and the workers that hold them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Container, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import msgpack

from webcrawler import clock, urls
from webcrawler.frontier import slots, wire
from webcrawler.frontier.homes import Homes
from webcrawler.frontier.messages import Budgets, Failed, Leased, Politeness, Report
from webcrawler.frontier.slots import Argument, Call, Partition, Slots
from webcrawler.frontier.wire import milliseconds
from webcrawler.records import Lease

UNLIMITED = 2**31
IDLE_SECONDS = 1.0  # for which a worker has room and nothing due at home, until it leases from others
PATIENCE_SECONDS = 3.0  # for which a partition has more due than its owner takes, until others take it


class Answer(NamedTuple):
    """What lease-2.lua says of a partition."""

    queued: int
    leased: int
    wait_ms: int = -1  # until something may be due; -1: nothing waits
    is_alone: bool = False  # does the worker hold a URL alone, or let go of others for that?
    leases: Sequence[Lease] = ()

    @classmethod
    def read(cls, values: Sequence[Any]) -> Answer:
        queued, leased, wait_ms, is_alone, *rest = values
        return cls(queued, leased, wait_ms, bool(is_alone), wire.leases(rest))


Answers = dict[Partition, Answer]


class Leases:
    """What one worker leases, and what becomes of the leases of others that died.

    Attributes:
        turn: the partition that is leased from next.
        homes: which partitions belong to this worker; others are leased from where their owner falls behind.
        checks_only: are only checks leased, of what was decided before?
    """

    def __init__(self, slots: Slots, politeness: Politeness, worker: str, budgets: Budgets) -> None:
        self.politeness, self.worker = politeness, worker
        self.turn = 0
        self.checks_only = False
        self._slots, self._budgets = slots, budgets
        self._busy_at = time.monotonic()  # when it last had no room, or something due at home
        self._alone: Partition | None = None  # where it holds a URL alone, or lets go of others for that

    def lease(self, limit: int, reports: Sequence[Report] = (), doubtful: int = UNLIMITED) -> Leased:
        before = self._fetched(reports)
        if not limit:
            self._busy_at = time.monotonic()
        asked, others = self._in_turn(limit, doubtful)
        answers = self._ask(asked, limit, doubtful, before)
        left = 0 if self._alone else limit
        if self.homes.are_known:
            if not self._suffices(answers, limit):
                answers |= self._ask_where_due(self._busy([*asked, *others], doubtful), left, doubtful)
            answers = self._with_quiet(answers, doubtful)
        else:
            for one in others:
                if not self._suffices(answers, limit):
                    answers |= self._ask([one], left, doubtful)
        self._alone = next((one for one, answer in answers.items() if answer.is_alone), None)
        return _together(answers.values())

    def _ask_where_due(self, asked: list[Partition], limit: int, doubtful: int) -> Answers:
        """Leases from those of these partitions where anything is due, others' only if none is of its own.

        Without a place for doubtful servers, nobody can tell whether its own have any: then from those only.
        """
        answers = self._ask(asked, 0, doubtful)
        due = [one for one in asked if answers[one].wait_ms == 0]
        own = [one for one in due if not self.homes.is_foreign(one.prefix)]
        if own or not doubtful or not self._is_idle:
            wait_ms = -1 if own else milliseconds(IDLE_SECONDS)
            answers |= {one: answers[one]._replace(wait_ms=wait_ms) for one in due if one not in own}
            due = own
        return answers | self._ask(due[:limit], limit, doubtful) if limit and due else answers

    def _with_quiet(self, answers: Answers, doubtful: int) -> Answers:
        """With what others answered last; they are asked again before anybody believes that all is done."""
        quiet = [one for one in self._slots.partitions if one not in answers]
        answers |= {one: Answer(*self._slots.outlook.last(one)) for one in quiet}
        is_over = not any(answer.queued or answer.leased for answer in answers.values())
        return answers | self._ask(quiet, 0, doubtful) if is_over else answers

    def _ask(
        self, asked: Sequence[Partition], limit: int, doubtful: int, before: Sequence[Call] = ()
    ) -> Answers:
        """Leases from these partitions in one round trip, with what is to be said before."""
        found = self._slots.run([*before, *self.calls(asked, limit, doubtful)])[len(before) :]
        answers = dict(zip(asked, map(Answer.read, found), strict=True))
        for one, answer in answers.items():
            is_foreign = self.homes.is_foreign(one.prefix)
            if not is_foreign and answer.leases:
                self._busy_at = time.monotonic()
            self._slots.outlook.note(one, answer[:3], doubtful > 0, is_foreign)
        return answers

    def _suffices(self, answers: Answers, limit: int) -> bool:
        """Was anything leased? Or is something queued, where nothing was to be leased?"""
        return any(answer.leases or (answer.queued and not limit) for answer in answers.values())

    def leased(self, values: Sequence[Any]) -> Leased:
        """Reads the answer to one of `calls`."""
        return _together([Answer.read(values)])

    def _in_turn(self, limit: int, doubtful: int) -> tuple[list[Partition], list[Partition]]:
        """The partitions whose turn it is, one for each URL, and the others, this worker's own first.

        While a URL is held alone, or is going to be, it is the turn of its partition alone.
        """
        number = len(self._slots.partitions)
        order = [self._slots.partitions[(self.turn + n) % number] for n in range(number)]
        order.sort(key=lambda one: self.homes.is_foreign(one.prefix))
        if self._alone:
            asked = [self._alone]
        else:
            asked = self._first_asked(order, limit, doubtful)
            if asked:
                self.turn = (self._slots.partitions.index(asked[-1]) + 1) % number
        return asked, [one for one in order if one not in asked]

    def _first_asked(self, order: list[Partition], limit: int, doubtful: int) -> list[Partition]:
        """Those of this worker where something may be due, else those of others."""
        if not self.homes.are_known:
            return order[: limit or len(order)]
        busy = self._busy(order, doubtful)
        own = [one for one in busy if not self.homes.is_foreign(one.prefix)]
        return (own or (busy if doubtful and self._is_idle else []))[: limit or 1]

    @property
    def _is_idle(self) -> bool:
        return time.monotonic() - self._busy_at >= IDLE_SECONDS

    def _busy(self, order: list[Partition], doubtful: int) -> list[Partition]:
        return [one for one in order if not self._slots.outlook.is_quiet(one, doubtful > 0)]

    def calls(self, asked: Sequence[Partition], limit: int, doubtful: int) -> list[Call]:
        polite, calls = self.politeness, []
        for n, partition in enumerate(asked):
            share, doubtful_share = (
                (total + len(asked) - 1 - n) // len(asked) for total in (limit, doubtful)
            )
            if not limit:  # it is asked what is due
                doubtful_share = doubtful
            arguments = (  # in the order of lease-2.lua
                self.worker,
                share,
                milliseconds(polite.lease),
                polite.server_concurrency,
                milliseconds(polite.delay),
                doubtful_share,
                polite.deaths,
                int(self._holds_beside(partition)),
                milliseconds(polite.crawl_delay_max),
                int(self.checks_only),
                self._budgets.repeats,
                self._budgets.behind,
                *self._home(partition),
            )
            calls.append(Call(partition, "lease", arguments))
        return calls

    def _home(self, partition: Partition) -> tuple[Argument, ...]:
        if not self.homes.are_known:
            return ()
        return ("other" if self.homes.is_foreign(partition.prefix) else "own", milliseconds(PATIENCE_SECONDS))

    def _holds_beside(self, partition: Partition) -> bool:
        """May this worker hold anything in other partitions? Looked up only if a URL is to be held alone."""
        if self._alone is None:
            return len(self._slots.partitions) > 1  # then it is asked again, by the next call
        held = (f"{other.prefix}held:{self.worker}" for other in self._slots.partitions if other != partition)
        return any(self._slots.client.exists(key) for key in held)

    @cached_property
    def homes(self) -> Homes:
        return Homes((one.prefix for one in self._slots.partitions), self.worker)

    def fetched(self, reports: Sequence[Report]) -> None:
        self._slots.run(self._fetched(reports))

    def _fetched(self, reports: Sequence[Report]) -> list[Call]:
        polite, calls = self.politeness, []
        times = (polite.delay, polite.backoff, polite.backoff_max, polite.crawl_delay_max)
        split = self._slots.partitions.split(reports, lambda report: report.lease.server)
        if self.politeness.delay < slots.QUIET_SECONDS or not all(report.downloaded for report in reports):
            self._slots.outlook.stir(split)
        for partition, own in split.items():
            arguments: list[Argument] = [milliseconds(seconds) for seconds in times]
            for lease, seconds, slow_down, retry_after, downloaded in own:
                pause = milliseconds(max(polite.pause(seconds), retry_after)) if downloaded else -1
                jitter = round(clock.draws.uniform(0.5, 1.5), 3) if slow_down else 1
                in_time = seconds < polite.slow and not slow_down
                arguments += [lease.url, lease.token, pause, int(slow_down), jitter, int(in_time)]
            calls.append(Call(partition, "fetched", arguments))
        return calls

    def fail(self, failed: Sequence[Failed]) -> list[int]:
        polite = self.politeness
        first = (polite.tries, milliseconds(polite.backoff), milliseconds(polite.backoff_max))

        def arguments(own: list[tuple[int, Failed]]) -> list[Argument]:
            found: list[Argument] = [*first]
            for _, (lease, outcome, retry, excused) in own:
                found += [lease.url, lease.token, outcome, 2 if excused else int(retry)]
            return found

        numbered = list(enumerate(failed))
        answers = [-1] * len(failed)
        for own, found in self._slots.run_split("fail", numbered, lambda one: one[1].lease.server, arguments):
            for (n, _), answer in zip(own, found, strict=True):
                answers[n] = int(answer)
        return answers

    def release(self, leases: Sequence[Lease]) -> int:
        def arguments(own: list[Lease]) -> list[Argument]:
            return list(chain.from_iterable((lease.url, lease.token) for lease in own))

        released = self._slots.run_split("release", leases, lambda lease: lease.server, arguments)
        return sum(number for _, number in released)

    def reclaim(self, known: Container[str]) -> int:
        lost, pipe = [], self._slots.client.pipeline(transaction=False)
        for partition in self._slots.partitions:
            pipe.smembers(f"{partition.prefix}held:{self.worker}")
        for partition, held in zip(self._slots.partitions, pipe.execute(), strict=True):
            foreign = [url for url in (url.decode() for url in held) if url not in known]
            packed = self._slots.client.hmget(partition.prefix + "leases", foreign) if foreign else []
            for url, lease in zip(foreign, packed, strict=True):
                token = msgpack.unpackb(lease)[0] if lease else 0
                lost.append(Lease(urls.url_id(url), url, url, urls.server(url), token))
        return self.release(lost)

    def expire(self, alive_seconds: float) -> int:
        arguments = (self.worker if alive_seconds else "", milliseconds(alive_seconds))
        expired: int = sum(self._slots.run(Call(p, "expire", arguments) for p in self._slots.partitions))
        return expired

    def meet(self) -> int:
        """Learn who is alive, and so which partitions are its own; returns how many are."""
        found: list[bytes] = self._slots.client.zrange(self._slots.partitions[0].prefix + "workers", 0, -1)
        if self.homes.learn(name.decode() for name in found):
            self._slots.outlook.forget()
        return len(found)

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


def _together(answers: Collection[Answer]) -> Leased:
    waits = [answer.wait_ms for answer in answers if answer.wait_ms >= 0]
    return Leased(
        list(chain.from_iterable(answer.leases for answer in answers)),
        sum(answer.queued for answer in answers),
        sum(answer.leased for answer in answers),
        min(waits) / 1000 if waits else None,
    )
