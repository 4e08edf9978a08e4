"""How much of a figure, or of a difference, may be chance: other trials would have given other ones.

A trial is what was drawn at random from many: a query that people ask, the seed of an ordering, a start page,
a topic. Below some twenty trials intervals are too narrow, and below six no difference can be told from
chance. Seeded: the same figures give the same answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDS = 10_000
AT_ONCE = 1_000  # rounds, which bounds memory
LEVEL = 95  # percent of an interval
SEED = 1
SAME = 1e-9  # a smaller difference between two measures does not count

Table = NDArray[np.float64]  # a row for each trial, a column for each measure
Row = NDArray[np.float64]


def intervals(table: Table) -> tuple[Row, Row]:
    """Both ends of the 95 % interval of each column's mean.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", 13.3 The percentile interval.
    """
    chance, (n, _) = np.random.default_rng(SEED), table.shape
    drawn = (chance.multinomial(n, [1 / n] * n, size=AT_ONCE) for _ in range(ROUNDS // AT_ONCE))
    means = np.concatenate([counts @ table / n for counts in drawn])
    low, high = np.percentile(means, [(100 - LEVEL) / 2, (100 + LEVEL) / 2], axis=0)
    return low, high


def p_values(differences: Table) -> Row:
    """How likely a mean difference as large, either way, is if both sides are equally good.

    Then a trial's two figures might as well be exchanged, which changes the sign of their difference.
    Source: Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation", 3.1 Randomization Test.
    """
    chance, (n, _) = np.random.default_rng(SEED), differences.shape
    observed = np.abs(differences.mean(axis=0))
    signs = (chance.choice((-1.0, 1.0), size=(AT_ONCE, n)) for _ in range(ROUNDS // AT_ONCE))
    as_large = sum((np.abs(one @ differences / n) >= observed - SAME).sum(axis=0) for one in signs)
    return np.asarray((1 + as_large) / (1 + ROUNDS))
