"""Means with their intervals, and differences that are called so only where chance is no explanation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from webcrawler.evaluation.chance import intervals, p_values

SURE = 0.05  # a difference with a lower p is called one

Trials = Mapping[Hashable, float]  # one figure for each trial: a seed, a start page, a topic


class Mean(NamedTuple):
    """Over trials, with both ends of the 95 % interval; these are None where there was one trial only."""

    value: float
    low: float | None
    high: float | None
    trials: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        if len(values) < 2:
            return cls(fmean(values), None, None, len(values))
        low, high = intervals(np.array(values, float)[:, np.newaxis])
        return cls(fmean(values), float(low[0]), float(high[0]), len(values))

    def shown(self, sign: str = "") -> str:
        interval = "" if self.low is None else f" [{self.low:{sign}.1f}, {self.high:{sign}.1f}]"
        return f"{self.value:{sign}.1f}{interval}"

    def as_json(self) -> dict[str, Any]:
        return {name: _rounded(value) for name, value in self._asdict().items()}


class Difference(NamedTuple):
    """Of the same trials."""

    mean: Mean
    p: float | None  # of a paired test; None where there was one trial only

    @property
    def is_sure(self) -> bool:
        """It is no chance, or none was involved."""
        return self.p is None or self.p < SURE

    def shown(self) -> str:
        """Where it may be chance: the interval alone, in which the difference lies if there is one.

        An interval without 0 says that there is one: then more trials would show it.
        """
        shown, (_, low, high, _) = self.mean.shown("+"), self.mean
        if self.is_sure or low is None or high is None:
            return shown
        word = "none" if low <= 0 <= high else "too few crawls"
        return f"{word} {shown.partition(' ')[2]}"

    def as_json(self) -> dict[str, Any]:
        return {**self.mean.as_json(), "p": _rounded(self.p)}


def difference(mine: Trials, theirs: Trials) -> Difference | None:
    """By how much is one better than the other? None where they share no trial.

    What has a single trial called None took no chance: it is compared with each trial of the other.
    """
    shared = list(mine.keys() & theirs.keys())
    if not shared and set(mine) == {None}:
        return difference(dict.fromkeys(theirs, mine[None]), theirs)
    if not shared and set(theirs) == {None}:
        return difference(mine, dict.fromkeys(mine, theirs[None]))
    if not shared:
        return None
    values = [mine[trial] - theirs[trial] for trial in sorted(shared, key=str)]
    column = np.array(values, float)[:, np.newaxis]
    return Difference(Mean.of(values), float(p_values(column)[0]) if len(values) > 1 else None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
