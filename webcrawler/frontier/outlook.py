"""What the partitions of a frontier answered last: one that had nothing due is not asked again at once."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from webcrawler.frontier.slots import Partition

QUIET_SECONDS = 0.25  # for which it is not asked again, as other workers may send it something
FOREIGN_SECONDS = 1.0  # the same, where another worker is at home, which hears of it first


class Answer(NamedTuple):
    """What a partition has, and when something may be due there, by the clock of this process."""

    queued: int
    leased: int
    due: float | None  # None: nothing waits
    quiet_until: float
    of_doubtful: bool  # was it asked what is due of doubtful servers, too?
    is_foreign: bool


class Outlook:
    """The last answers of all partitions to one worker; its threads share it."""

    def __init__(self) -> None:
        self._answers: dict[Partition, Answer] = {}

    def note(self, partition: Partition, answer: list[int], of_doubtful: bool, is_foreign: bool) -> None:
        """A partition has answered {queued, leased, ms until something may be due or -1, …}."""
        now, (queued, leased, wait_ms) = time.monotonic(), answer[:3]
        due = now + wait_ms / 1000 if wait_ms >= 0 else None
        latest = now + (FOREIGN_SECONDS if is_foreign else QUIET_SECONDS)
        quiet_until = latest if due is None else min(due, latest)
        self._answers[partition] = Answer(queued, leased, due, quiet_until, of_doubtful, is_foreign)

    def stir(self, partitions: Iterable[Partition]) -> None:
        """This worker has changed something there: some of it may be due."""
        for partition in partitions:
            answer = self._answers.get(partition)
            if answer and not answer.is_foreign:
                self._answers[partition] = answer._replace(quiet_until=0.0)

    def is_quiet(self, partition: Partition, of_doubtful: bool) -> bool:
        """Is it too early to ask again?"""
        answer = self._answers.get(partition)
        return bool(answer and answer.of_doubtful >= of_doubtful and time.monotonic() < answer.quiet_until)

    def last(self, partition: Partition) -> list[int]:
        """What it answered, as of now; nothing, if it was not asked yet."""
        answer = self._answers.get(partition)
        if not answer:
            return [0, 0, -1, 0]
        wait_ms = -1 if answer.due is None else max(0, round(1000 * (answer.due - time.monotonic())))
        return [answer.queued, answer.leased, wait_ms, 0]

    def forget(self) -> None:
        self._answers.clear()
