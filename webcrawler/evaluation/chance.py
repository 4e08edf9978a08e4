"""How much of a figure may be chance? Means with intervals, differences with paired tests, and their tables.

A trial is what was drawn at random from many: a query that people ask, the seed of an ordering, a start page,
a topic; other trials would have given other figures. Below some twenty trials intervals are too narrow, and
below six no difference can be told from chance. Seeded: the same figures give the same answer.
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
SURE = 0.05  # a difference with a lower p is called one
LEGEND = (
    "[ ]: 95 % interval over trials: seeds, starts (rows of all), topics or queries. Differences are of the "
    f'same trials; "none": a paired test cannot tell it from chance (p ≥ {SURE}), nor where it says "too few '
    'trials", but there the interval lies on one side of 0.'
)

Trials = Mapping[Hashable, float]  # one figure for each trial


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Both ends of the 95 % interval of the mean.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", 13.3 The percentile interval.
    """
    chance = np.random.default_rng(SEED)
    ends = bootstrap(
        (values,), np.mean, n_resamples=ROUNDS, batch=AT_ONCE, method="percentile", random_state=chance
    ).confidence_interval
    return float(ends.low), float(ends.high)


def p_value(differences: Sequence[float]) -> float:
    """How likely a mean difference as large, either way, is if both sides are equally good.

    Then a trial's two figures might as well be exchanged, which changes the sign of their difference.
    Source: Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation", 3.1 Randomization Test.
    """

    def mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray(np.mean(values, axis=axis).round(9))

    answer = permutation_test(
        (np.array(differences, float),),
        mean,
        permutation_type="samples",
        n_resamples=ROUNDS,
        batch=AT_ONCE,
        random_state=np.random.default_rng(SEED),
    )
    return float(answer.pvalue)


class Mean(NamedTuple):
    """Over trials, with both ends of the 95 % interval; these are None where there was one trial only."""

    value: float
    low: float | None
    high: float | None
    trials: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        low, high = interval(values) if len(values) > 1 else (None, None)
        return cls(fmean(values), low, high, len(values))

    def shown(self, digits: int = 1, sign: str = "") -> str:
        form = f"{sign}.{digits}f"
        ends = "" if self.low is None else f" [{self.low:{form}}, {self.high:{form}}]"
        return f"{self.value:{form}}{ends}"

    def as_json(self) -> dict[str, Any]:
        return {name: _rounded(value) for name, value in self._asdict().items()}


class Difference(NamedTuple):
    """Of the same trials."""

    mean: Mean
    p: float | None  # of a paired test; None where there was one trial only

    def shown(self, digits: int = 1) -> str:
        """Where it may be chance: the interval alone, in which the difference lies if there is one.

        An interval without 0 says that there is one: then more trials would show it.
        """
        shown, (_, low, high, _) = self.mean.shown(digits, "+"), self.mean
        if self.p is None or self.p < SURE or low is None or high is None:
            return shown
        word = "none" if low <= 0 <= high else "too few trials"
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
    return Difference(Mean.of(values), p_value(values) if len(values) > 1 else None)


class Compared(NamedTuple):
    mean: Mean
    difference: Difference | None  # from the first; None for that one

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean.as_json(), "difference": self.difference and self.difference.as_json()}


def compared(figures: Mapping[str, Trials]) -> dict[str, Compared]:
    """The mean of each over its trials, and its difference from the first."""
    first = next(iter(figures), "")
    return {
        name: Compared(Mean.of([*of.values()]), None if name == first else difference(of, figures[first]))
        for name, of in figures.items()
    }


def tables(
    head: tuple[str, str],
    columns: Sequence[str],
    rows: Mapping[tuple[str, str], Mapping[str, Compared]],
    digits: int = 1,
) -> str:
    """Two tables: means, and differences from the first row's name.

    Args:
        head: what the tables show, and what the second word of a row is.
        rows: by their first two words, the cells by column.
    """
    (first, _), *_ = rows
    means = [[*head, *columns]]
    others = [[f"… compared with {first}", head[1], *columns]]
    for words, cells in rows.items():
        means.append([*words, *(cells[c].mean.shown(digits) if c in cells else "–" for c in columns)])
        differences = [cells[c].difference if c in cells else None for c in columns]
        if words[0] != first:
            others.append([*words, *(it.shown(digits) if it else "–" for it in differences)])
    return "\n\n".join(map(aligned, (means, others) if len(others) > 1 else (means,)))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A table as text: the first two columns flush left, figures flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
