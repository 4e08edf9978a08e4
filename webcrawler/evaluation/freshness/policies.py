"""The policies that the laboratory compares: the real schedule, and those it has to beat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from webcrawler import refresh
from webcrawler.errors import BadInput
from webcrawler.evaluation.freshness.world import Bools, Floats, Ints, World

NOT_DUE = 0.0  # a page with this score is not fetched


class Policy(Protocol):
    """Chooses pages, and is told what their checks have found. All pages were fetched at time 0."""

    def choose(self, now: float, number: int, caps: Ints | None) -> Ints: ...

    def see(self, pages: Ints, now: float, changed: Bools) -> None: ...


class Scheduled:
    """The schedule of the refresher itself."""

    def __init__(self, world: World, budget: float, policy: str, forgetting: float = 1.0) -> None:
        self.schedule = refresh.Schedule(policy, forgetting=forgetting)
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

    def __init__(self, world: World, budget: float) -> None:
        self.world, self.budget = world, budget
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
    """An interval for each page, shorter after a change and longer without; the longest overdue goes first.

    If `tuned`, it starts where the budget would have it, within a twentieth and ten times of that.
    """

    shorter: ClassVar[float]
    longer: ClassVar[float]
    bounds: ClassVar[tuple[float, float, float]]  # days: least, first, most

    def __init__(self, world: World, budget: float, tuned: bool = False) -> None:
        super().__init__(world, budget)
        fair = 1 / budget
        self.least, first, self.most = (fair / 20, fair, fair * 10) if tuned else self.bounds
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

    def __init__(self, world: World, budget: float, tuned: bool = False) -> None:
        super().__init__(world, budget, tuned)
        self.modified = np.zeros(len(world.servers))

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        super().see(pages, now, changed)
        self.modified[pages[changed]] = now
        since = now - self.modified[pages]
        self.interval[pages] = np.clip(np.maximum(self.interval[pages], since), self.least, self.most)
        self.due[pages] = now - self.SYNC * since + self.interval[pages]


class Harmonic(Scored):
    """Rates of LambdaCrawl's harmonic penalty (Kolobov et al. 2019), from what the schedule believes.

    A page is fetched (√(Δ² + 4wΔ/λ) - Δ) / 2 times a day; Δ is the rate of its changes, λ such that all rates
    together are the budget.
    """

    def __init__(self, world: World, budget: float) -> None:
        super().__init__(world, budget)
        self._scheduled = Scheduled(world, budget, "expected")
        self._rates = np.ones(len(world.servers))
        self._until = 0.0

    def scores(self, now: float, days: Floats) -> Floats:
        if now >= self._until:
            self._until = now + 1
            self._rates = self._solved()
        return self._rates * days

    def see(self, pages: Ints, now: float, changed: Bools) -> None:
        super().see(pages, now, changed)
        self._scheduled.see(pages, now, changed)

    def _solved(self) -> Floats:
        beliefs = self._scheduled.schedule.beliefs
        assert isinstance(beliefs, refresh.Gamma)
        a, b = beliefs.of(slice(None))
        change: Floats = a / b
        rates, low, high = change, -30.0, 30.0  # of log λ
        for _ in range(50):
            middle = (low + high) / 2
            rates = (np.sqrt(change**2 + 4 * self.world.weights * change / np.exp(middle)) - change) / 2
            low, high = (middle, high) if rates.mean() > self.budget else (low, middle)
        return rates


POLICIES: dict[str, Callable[[World, float], Policy]] = {
    "uniform": Uniform,
    "importance": Importance,
    "proportional": Proportional,
    "nutch": Nutch,
    "nutch-tuned": lambda world, budget: Nutch(world, budget, tuned=True),
    "stormcrawler": StormCrawler,
    "stormcrawler-tuned": lambda world, budget: StormCrawler(world, budget, tuned=True),
    "ep": lambda world, budget: Scheduled(world, budget, "ep"),
    "eb": lambda world, budget: Scheduled(world, budget, "eb"),
    "harmonic": Harmonic,
    "expected": lambda world, budget: Scheduled(world, budget, "expected"),
    "oracle": Oracle,
}


def check(names: list[str]) -> None:
    """Raises BadInput: no such policy."""
    for name in names:
        if name not in POLICIES:
            raise BadInput(f"--policies: no policy {name[:60]!r}; there are {', '.join(POLICIES)}")
