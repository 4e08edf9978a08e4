"""How fresh does each policy keep a collection? Virtual time, in steps of half a day or a day."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from webcrawler.evaluation.freshness.policies import POLICIES, Policy, Scheduled
from webcrawler.evaluation.freshness.world import ALWAYS_NOW, HONEST, NO_SITEMAP, Bools, Floats, Ints, World


class Collection:
    """All pages, fetched at time 0.

    Attributes:
        fresh: by page, whether it is as it was fetched; stale_since: when it was not any more.
    """

    def __init__(self, world: World) -> None:
        self._world, self._at, self.now = world, 0, 0.0
        self.fresh = np.ones(len(world.servers), bool)
        self.stale_since = np.zeros(len(world.servers))
        self._changed = np.full(len(world.servers), -1.0)  # when each page changed last
        self._checked = np.zeros(len(world.servers))

    def advance(self, now: float) -> Floats:
        """Let pages change until then. Returns the share of that time for which each page was current."""
        end = int(np.searchsorted(self._world.times, now))
        times, pages = self._world.times[self._at : end], self._world.pages[self._at : end]
        current = self.fresh.astype(np.float64)
        changed, first = np.unique(pages, return_index=True)
        were_fresh = self.fresh[changed]
        changed, when = changed[were_fresh], times[first[were_fresh]]
        current[changed] = (when - self.now) / (now - self.now)
        self.fresh[changed] = False
        self.stale_since[changed] = when
        self._changed[pages] = times
        self._at, self.now = end, now
        return current

    def fetch(self, pages: Ints) -> Bools:
        """Fetch pages. Returns whether each seems to have changed."""
        servers = self._world.servers[pages]
        changed = ~self.fresh[pages]
        self.fresh[pages] = True
        self._checked[pages] = self.now
        return changed | self._world.noisy[servers]

    def sitemaps(self, servers: Ints) -> tuple[Ints, Bools]:
        """Fetch sitemaps. Returns the pages in them, and whether each is dated after its last check."""
        asked = np.zeros(len(self._world.noisy), bool)
        asked[servers] = True
        pages = np.flatnonzero(asked[self._world.servers])
        kinds = self._world.sitemaps[self._world.servers[pages]]
        newer = self._changed[pages] > self._checked[pages]
        return pages, np.where(kinds == HONEST, newer, kinds == ALWAYS_NOW)


SHORT = 400  # days: a longer world goes in steps of a day
MEASURED = 1 / 3  # of the time, at its end
ORACLE = "oracle"

Progress = Callable[[str, int, int | None], None]


class Run(NamedTuple):
    """What one policy made of one world: means over the last third of the time."""

    world: str
    seed: int
    policy: str
    budget: float  # fetches a page and day
    fresh: float  # share of the importance that is current
    plain: float  # share of the pages that is
    age: float  # days since a page changed, weighted by importance; 0 while it is current
    used: float  # share of the budget, over the whole time
    wasted: float  # share of the fetches that found nothing new
    never: float  # share of the pages that were never fetched again
    calibration: float | None  # mean distance of predicted and seen chances of a change
    reported: float | None  # mean distance of the freshness that the product would report and the true one
    held: float | None  # share of the time in which the interval of that report held the truth
    seconds: float


def runs(
    worlds: Sequence[World], policies: Sequence[str], budgets: Sequence[float], progress: Progress
) -> Iterator[Run]:
    """Each policy over each world with each budget; and the oracle, which all others are compared with."""
    names = list(dict.fromkeys([*policies, ORACLE]))
    tasks = [(world, budget, name) for budget in budgets for name in names for world in worlds]
    for done, (world, budget, name) in enumerate(tasks):
        progress(f"{name}, {budget:g} fetches a page and day", done, len(tasks))
        yield run(world, name, budget)


def run(world: World, name: str, budget: float) -> Run:
    """One policy, from a collection that was just fetched, and of which nothing else is known."""
    started = time.monotonic()
    policy, collection, measures = POLICIES[name](world), Collection(world), _Measures(world)
    step = _step(world)
    a_step = budget * len(world.servers) * step
    left, of_servers = 0.0, np.zeros(len(world.noisy))
    for now in np.arange(step, world.days, step).tolist():
        current = collection.advance(now)
        if now > world.days * (1 - MEASURED):
            measures.look(collection, current, policy)
        left = min(left, 1.0) + a_step  # what was not used is lost
        of_servers = np.minimum(of_servers, 1.0) + a_step * world.cap
        left -= _read_sitemaps(policy, world, collection)
        pages = policy.choose(now, max(0, int(left)), of_servers.astype(np.int64) if world.cap else None)
        left -= len(pages)
        of_servers -= np.bincount(world.servers[pages], minlength=len(of_servers))
        changed = collection.fetch(pages)
        policy.see(pages, now, changed)
        measures.fetched(pages, changed)
    return measures.run(name, budget, policy, time.monotonic() - started)


def _step(world: World) -> float:
    """Days between two choices."""
    return 0.5 if world.days <= SHORT else 1.0


def _read_sitemaps(policy: Policy, world: World, collection: Collection) -> int:
    """Have the schedule read what sitemaps are due. Returns how many: each is a fetch of the budget."""
    if not isinstance(policy, Scheduled) or not policy.heeds_signs:
        return 0
    signs = policy.schedule.signs
    due = np.flatnonzero(signs.due() & (world.sitemaps != NO_SITEMAP))
    if len(due):
        signs.fetched(due)
        signs.say(*collection.sitemaps(due), collection.now)
    return len(due)


class _Measures:
    def __init__(self, world: World) -> None:
        self._world, self._weights = world, world.weights / world.weights.sum()
        self._checks = np.zeros(len(world.servers), np.int64)
        self._wasted = 0
        self._looks: list[tuple[float, ...]] = []  # fresh, plain, age
        self._reports: list[tuple[float, bool]] = []  # reported - true, was the truth within the interval

    def look(self, collection: Collection, current: Floats, policy: Policy) -> None:
        age = np.where(collection.fresh, 0, collection.now - collection.stale_since)
        self._looks.append((self._weights @ current, current.mean(), self._weights @ age))
        if isinstance(policy, Scheduled):
            told, true = policy.schedule.current(collection.now), self._weights @ collection.fresh
            self._reports.append((abs(told.share - true), bool(told.low <= true <= told.high)))

    def fetched(self, pages: Ints, changed: Bools) -> None:
        self._checks[pages] += 1
        self._wasted += int(np.count_nonzero(~changed))

    def run(self, name: str, budget: float, policy: Policy, seconds: float) -> Run:
        world, checks = self._world, int(self._checks.sum())
        fresh, plain, age = np.mean(self._looks, axis=0).tolist()
        reports = np.mean(self._reports, axis=0).tolist() if self._reports else [None, None]
        scheduled = isinstance(policy, Scheduled)
        return Run(
            world=world.name,
            seed=world.seed,
            policy=name,
            budget=budget,
            fresh=fresh,
            plain=plain,
            age=age,
            used=checks / (budget * len(world.servers) * (world.days - _step(world))),
            wasted=self._wasted / max(checks, 1),
            never=float(np.mean(self._checks == 0)),
            calibration=policy.schedule.calibration.error() if isinstance(policy, Scheduled) else None,
            reported=reports[0] if scheduled else None,
            held=reports[1] if scheduled else None,
            seconds=seconds,
        )
