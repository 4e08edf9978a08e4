"""The figures of the laboratory of freshness, as tables and as curves by budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from webcrawler.evaluation.chance import aligned
from webcrawler.evaluation.freshness.laboratory import ORACLE, Run
from webcrawler.evaluation.freshness.world import World
from webcrawler.evaluation.plots import axes_of, plot_curves, save

COLUMNS: dict[str, tuple[Callable[[Run], float | None], str]] = {
    "plain": (lambda run: run.plain, ".3f"),
    "age, d": (lambda run: run.age, ".1f"),
    "used %": (lambda run: 100 * run.used, ".0f"),
    "wasted %": (lambda run: 100 * run.wasted, ".0f"),
    "never %": (lambda run: 100 * run.never, ".1f"),
    "calibration": (lambda run: run.calibration, ".3f"),
    "reported - true": (lambda run: run.reported, ".3f"),
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
