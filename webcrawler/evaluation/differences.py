"""How much of a figure, or of a difference, may be chance: other trials would have given other ones.

A trial is what was drawn at random from many: a query that people ask, the seed of an ordering, a start page,
a topic. Below some twenty trials intervals are too narrow, and below six no difference can be told from
chance. Seeded: the same figures give the same answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, permutation_test

ROUNDS = 10_000
AT_ONCE = 1_000  # rounds, which bounds memory
SEED = 1
SAME = 1e-9  # a smaller difference between two measures does not count
SURE = 0.05  # a difference with a lower p is called one

Table = NDArray[np.float64]  # a row for each trial, a column for each measure
Row = NDArray[np.float64]
Trials = Mapping[Hashable, float]  # one figure for each trial: a seed, a start page, a topic


def intervals(table: Table) -> tuple[Row, Row]:
    """Both ends of the 95 % interval of each column's mean; of one trial, the figure itself.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", 13.3 The percentile interval.
    """
    if len(table) < 2:
        return table[0], table[0]
    chance = np.random.default_rng(SEED)
    found = bootstrap(
        (table,), np.mean, n_resamples=ROUNDS, batch=AT_ONCE, method="percentile", random_state=chance
    )
    return np.asarray(found.confidence_interval.low), np.asarray(found.confidence_interval.high)


def p_values(differences: Table) -> Row:
    """How likely a mean difference as large, either way, is if both sides are equally good.

    Then a trial's two figures might as well be exchanged, which changes the sign of their difference.
    Source: Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation", 3.1 Randomization Test.
    """
    if len(differences) < 2:
        return np.ones(differences.shape[1])

    def mean(table: Table, axis: int) -> Row:
        return np.asarray(np.mean(table, axis=axis).round(9))

    chance = np.random.default_rng(SEED)
    found = permutation_test(
        (differences,),
        mean,
        permutation_type="samples",
        n_resamples=ROUNDS,
        batch=AT_ONCE,
        random_state=chance,
    )
    return np.asarray(found.pvalue)


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
