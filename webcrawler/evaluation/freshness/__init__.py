"""Which policy keeps a collection freshest? Virtual crawlers over worlds whose pages change.

Time is virtual, in steps of half a day or a day. `worlds` makes or reads them, `runs` lets the real
`webcrawler.refresh` and its peers choose what to fetch, `tables` and `draw` show what came out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from webcrawler.evaluation.chance import aligned
from webcrawler.evaluation.freshness.policies import POLICIES, Policy, Scheduled, check
from webcrawler.evaluation.freshness.world import (
    ALWAYS_NOW,
    HONEST,
    NO_SITEMAP,
    Bools,
    Floats,
    Ints,
    World,
    worlds,
)
from webcrawler.evaluation.plots import axes_of, plot_curves, save


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
    told: float | None  # share of the time in which it would report a number, and not an interval alone
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
        self._reports: list[tuple[float, bool, bool]] = []  # distance to the truth, was it told, did it hold

    def look(self, collection: Collection, current: Floats, policy: Policy) -> None:
        age = np.where(collection.fresh, 0, collection.now - collection.stale_since)
        self._looks.append((self._weights @ current, current.mean(), self._weights @ age))
        if isinstance(policy, Scheduled):
            told, true = policy.schedule.current(collection.now), self._weights @ collection.fresh
            self._reports.append((abs(told.share - true), told.is_known, told.low <= true <= told.high))

    def fetched(self, pages: Ints, changed: Bools) -> None:
        self._checks[pages] += 1
        self._wasted += int(np.count_nonzero(~changed))

    def run(self, name: str, budget: float, policy: Policy, seconds: float) -> Run:
        world, checks = self._world, int(self._checks.sum())
        fresh, plain, age = np.mean(self._looks, axis=0).tolist()
        reports = self._reports if isinstance(policy, Scheduled) else []
        told = [distance for distance, is_known, _ in reports if is_known]
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
            reported=fmean(told) if told else None,
            told=len(told) / len(reports) if reports else None,
            held=fmean(held for *_, held in reports) if reports else None,
            seconds=seconds,
        )


COLUMNS: dict[str, tuple[Callable[[Run], float | None], str]] = {
    "plain": (lambda run: run.plain, ".3f"),
    "age, d": (lambda run: run.age, ".1f"),
    "used %": (lambda run: 100 * run.used, ".0f"),
    "wasted %": (lambda run: 100 * run.wasted, ".0f"),
    "never %": (lambda run: 100 * run.never, ".1f"),
    "calibration": (lambda run: run.calibration, ".3f"),
    "reported - true": (lambda run: run.reported, ".3f"),
    "told %": (lambda run: None if run.told is None else 100 * run.told, ".0f"),
    "in interval %": (lambda run: None if run.held is None else 100 * run.held, ".0f"),
    "seconds": (lambda run: run.seconds, ".1f"),
}


def summary(worlds: Sequence[World]) -> str:
    """What the worlds are, in a line."""
    world = worlds[0]
    pages, changes = len(world.servers), fmean(len(world.times) for world in worlds)
    seeds = ", ".join(str(world.seed) for world in worlds)
    return (
        f"{world.name}: {pages:,} pages of {len(world.noisy):,} servers, {changes:,.0f} changes in "
        f"{world.days:,.0f} days; seeds {seeds}. Measured: the last third of the time."
    )


def as_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The fields of each run, and `of_oracle`, its freshness over the oracle's; null if that was not run."""
    best = {(run.world, run.seed, run.budget): run.fresh for run in runs if run.policy == ORACLE}
    found = []
    for run in runs:
        oracle = best.get((run.world, run.seed, run.budget))
        fields = {**run._asdict(), "of_oracle": oracle and run.fresh / oracle}
        found.append({name: round(it, 5) if isinstance(it, float) else it for name, it in fields.items()})
    return found


def tables(runs: Sequence[Run]) -> str:
    """A table for each budget: a row for each policy, the mean over its worlds."""
    return "\n\n".join(_table(runs, budget) for budget in dict.fromkeys(run.budget for run in runs))


def _table(runs: Sequence[Run], budget: float) -> str:
    some = [run for run in runs if run.budget == budget]
    rows = [[f"{budget:g} fetches a page and day", "worlds", "of the oracle", "fresh", *COLUMNS]]
    for policy in dict.fromkeys(run.policy for run in some):
        of = [run for run in some if run.policy == policy]
        share = fraction(runs, policy, budget)
        shares = ["–" if share is None else f"{share:.3f}", f"{fmean(run.fresh for run in of):.3f}"]
        cells = [_cell([value(run) for run in of], digits) for value, digits in COLUMNS.values()]
        rows.append([policy, str(len(of)), *shares, *cells])
    return aligned(rows)


def fraction(runs: Sequence[Run], policy: str, budget: float) -> float | None:
    """Weighted freshness over that of the oracle in the same world, mean of all worlds; None without it."""
    of = {(run.policy, (run.world, run.seed)): run.fresh for run in runs if run.budget == budget}
    worlds = [world for name, world in of if name == policy and (ORACLE, world) in of]
    return fmean(of[policy, world] / of[ORACLE, world] for world in worlds) if worlds else None


def _cell(values: Sequence[float | None], digits: str) -> str:
    known = [value for value in values if value is not None]
    return format(fmean(known), digits) if known else "–"


def draw(runs: Sequence[Run], folder: Path) -> list[Path]:
    """`freshness.svg`: the weighted freshness of each policy by budget, the mean over worlds."""
    figure, axes = axes_of("fetches a page and day", "% of the importance that is current")
    budgets = sorted({run.budget for run in runs})
    fresh: dict[str, dict[float, list[float]]] = {}
    for run in runs:
        fresh.setdefault(run.policy, {}).setdefault(run.budget, []).append(100 * run.fresh)
    curves = {policy: np.array([fmean(of[budget]) for budget in budgets]) for policy, of in fresh.items()}
    plot_curves(axes, np.array(budgets), curves)
    axes.set_xscale("log")
    axes.set_xlim(budgets[0] / 1.2, budgets[-1] * 1.2)
    axes.set_title(runs[0].world, fontsize=10, parse_math=False)
    return [save(figure, axes, folder / "freshness.svg")]


__all__ = [
    "POLICIES",
    "Collection",
    "Run",
    "as_json",
    "check",
    "draw",
    "run",
    "runs",
    "summary",
    "tables",
    "worlds",
]
