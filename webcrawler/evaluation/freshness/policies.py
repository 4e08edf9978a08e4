"""The policies that the laboratory compares: the real schedule, and those it has to beat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from webcrawler import refresh
from webcrawler.errors import BadInput
from webcrawler.evaluation.freshness.world import Bools, Floats, Ints, World

NOT_DUE = 0.0  # a page with this score is not fetched


class Scheduled:
    """The schedule of the refresher itself."""

    def __init__(self, world: World, policy: str) -> None:
        self.schedule = refresh.Schedule(policy)
        self.schedule.add(world.servers, np.zeros(len(world.servers)), world.weights)
        self._learnt = 0

    @property
    def heeds_signs(self) -> bool:
        return self.schedule.policy == "expected"

    def choose(self, now: float, number: int, caps: Ints | None) -> Ints:
        return self.schedule.choose(now, number, caps)

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        self.schedule.see(pages, np.full(len(pages), now), changed.astype(np.int8))
        self._learnt += len(pages)
        if self._learnt * 100 >= len(self.schedule):
            self._learnt = 0
            self.schedule.learn()


class Scored:
    """A policy that gives each page a score, and fetches the best."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.checked = np.zeros(len(world.servers))

    @abstractmethod
    def scores(self, now: float, days: Floats) -> Floats: ...

    def choose(self, now: float, number: int, caps: Ints | None) -> Ints:
        return refresh.choose(self.scores(now, now - self.checked), number, self.world.servers, caps)

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        self.checked[pages] = now


class Uniform(Scored):
    """Round robin: the page that was not checked for the longest time."""

    def scores(self, now: float, days: Floats) -> Floats:
        return days


class Importance(Scored):
    """As often as a page is important, however it changes."""

    def scores(self, now: float, days: Floats) -> Floats:
        return self.world.weights * days


class Proportional(Scored):
    """As often as a page changes, by its true rate."""

    def scores(self, now: float, days: Floats) -> Floats:
        return self.world.rates * days


class Oracle(Scored):
    """The value of each fetch by true rates: the best that can be done without knowing the changes."""

    def scores(self, now: float, days: Floats) -> Floats:
        return self.world.weights * refresh.value.value_at_rate(self.world.rates, days)


class Interval(Scored):
    """An interval for each page, shorter after a change, else longer; the longest overdue goes first."""

    shorter: ClassVar[float]
    longer: ClassVar[float]
    bounds: ClassVar[tuple[float, float, float]]  # days: least, first, most

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.least, first, self.most = self.bounds
        self.interval = np.full(len(world.servers), first)
        self.due = self.interval.copy()

    def scores(self, now: float, days: Floats) -> Floats:
        return np.maximum(now - self.due, NOT_DUE)

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        super().see(pages, now, changed)
        factor = np.where(changed, self.shorter, self.longer)
        self.interval[pages] = np.clip(self.interval[pages] * factor, self.least, self.most)
        self.due[pages] = now + self.interval[pages]


class StormCrawler(Interval):
    """AdaptiveScheduler: half or 1.5 times as long, from an hour to two weeks."""

    shorter, longer, bounds = 0.5, 1.5, (1 / 24, 1.0, 14.0)


class Nutch(Interval):
    """AdaptiveFetchSchedule: 0.8 or 1.2 times as long, a minute to a year, moved towards the last change."""

    shorter, longer, bounds = 0.8, 1.2, (1 / 1440, 30.0, 365.0)
    SYNC = 0.3  # db.fetch.schedule.adaptive.sync_delta_rate

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.modified = np.zeros(len(world.servers))

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        super().see(pages, now, changed)
        self.modified[pages[changed]] = now
        since = now - self.modified[pages]
        self.interval[pages] = np.clip(np.maximum(self.interval[pages], since), self.least, self.most)
        self.due[pages] = now - self.SYNC * since + self.interval[pages]


Policy = Scheduled | Scored  # chooses pages, and learns of their checks; all were fetched at time 0

POLICIES: dict[str, Callable[[World], Policy]] = {
    "uniform": Uniform,
    "importance": Importance,
    "proportional": Proportional,
    "nutch": Nutch,
    "stormcrawler": StormCrawler,
    "ep": lambda world: Scheduled(world, "ep"),
    "eb": lambda world: Scheduled(world, "eb"),
    "expected": lambda world: Scheduled(world, "expected"),
    "oracle": Oracle,
}


def check(names: list[str]) -> None:
    """Raises BadInput: no such policy."""
    for name in names:
        if name not in POLICIES:
            raise BadInput(f"--policies: no policy {name[:60]!r}; there are {', '.join(POLICIES)}")
