"""Means with intervals; a difference is called one only where chance is no explanation."""

from __future__ import annotations

import numpy as np
import pytest

from webcrawler.evaluation import Recorded, Results, Run
from webcrawler.evaluation.chance import Mean, difference
from webcrawler.evaluation.measures import Figures
from webcrawler.linkgraph import Graph


def test_one_trial_has_no_interval() -> None:
    assert Mean.of([7.0]) == Mean(7.0, None, None, 1)
    assert Mean.of([7.0]).shown() == "7.0"


def test_the_interval_of_a_mean_lies_within_its_trials() -> None:
    mean = Mean.of([1.0, 2.0, 3.0, 4.0])

    assert mean.value == 2.5
    assert 1 <= mean.low < 2.5 < mean.high <= 4
    assert mean.shown() == f"2.5 [{mean.low:.1f}, {mean.high:.1f}]"


def test_a_difference_in_every_one_of_ten_trials_is_called_one() -> None:
    found = difference({n: 5.0 + n for n in range(10)}, {n: 3.0 + n for n in range(10)})

    assert found.p == pytest.approx(2 / 2**10, abs=0.001)  # two of all signs are as large
    assert found.shown() == "+2.0 [+2.0, +2.0]"


def test_a_difference_that_changes_its_sign_is_none() -> None:
    found = difference({n: float(n % 2) for n in range(10)}, dict.fromkeys(range(10), 0.5))

    assert found.p == 1
    assert found.shown().startswith("none [-")


def test_a_difference_in_each_of_five_trials_asks_for_more_of_them() -> None:
    found = difference({n: 5.0 + n for n in range(5)}, dict.fromkeys(range(5), 3.0))

    assert found.p == pytest.approx(2 / 2**5, abs=0.01)  # however large they are
    assert found.shown().startswith("too few trials [+")


def test_trials_are_paired_and_others_left_out() -> None:
    found = difference({1: 10.0, 2: 20.0, 3: 99.0}, {1: 9.0, 2: 19.0, 4: 0.0})

    assert (found.mean.value, found.mean.trials) == (1.0, 2)
    assert difference({1: 10.0}, {2: 9.0}) is None


def test_what_took_no_chance_is_compared_with_each_trial() -> None:
    found = difference({1: 10.0, 2: 12.0}, {None: 9.0})

    assert (found.mean.value, found.mean.trials) == (2.0, 2)
    assert difference({None: 9.0}, {1: 10.0, 2: 12.0}).mean.value == -2.0


def test_two_orders_without_chance_differ_by_what_they_differ() -> None:
    found = difference({None: 9.0}, {None: 7.0})

    assert found.p is None
    assert found.shown() == "+2.0"


def results(runs: list[Run]) -> Results:
    return Results(Recorded(Graph.of([0], [1], 2), np.arange(2), ["http://a.test/", "http://b.test/"]), runs)


def run(ordering: str, start: int, seed: int | None, auc: float) -> Run:
    return Run(ordering, start, seed, 1.0, 10, 10, {"ib:2": 3}, Figures({"ib:2": auc}, {}, {}, {}))


def test_over_several_starts_a_trial_is_a_start() -> None:
    runs = [run("fifo", start, None, 50.0 + start) for start in range(8)]
    runs += [run("random", start, seed, 60.0 + start + seed) for start in range(8) for seed in (-1, 1)]

    (row,) = (row for row in results(runs).compared() if (row["ordering"], row["start"]) == ("random", None))

    assert row["mean"]["trials"] == row["difference"]["trials"] == 8
    assert row["difference"]["value"] == 10.0
    assert row["difference"]["p"] == pytest.approx(2 / 2**8, abs=0.004)


def test_the_table_says_none_where_chance_may_be_all() -> None:
    runs = [run("fifo", 0, None, 50.0)]
    runs += [run("random", 0, seed, 50.0 + (-1) ** seed * seed) for seed in range(1, 11)]
    runs += [run("blend", 0, seed, 60.0 + seed / 10) for seed in range(1, 11)]

    lines = {line.split("  ")[0]: line for line in str(results(runs)).split("compared with")[1].splitlines()}

    assert "none [" in lines["random"]
    assert "+10.6 [+" in lines["blend"]
