"""What checks say of days on which many pages changed at once, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from webcrawler.refresh import Gamma, Schedule
from webcrawler.refresh.bursts import EXPECTED, Bursts

Check = tuple[int, int, float, bool]  # since, until, predicted chance, changed

checks = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 30), st.floats(0.01, 1), st.booleans()), max_size=20
)


def see(bursts: Bursts, *checks: Check) -> None:
    since, until, chance, changed = (np.array(column) for column in zip(*checks, strict=True))
    bursts.see(since.astype(float), until.astype(float), chance.astype(float), changed.astype(bool))


def learnt(*checks: Check) -> Bursts:
    made = Bursts()
    see(made, *checks)
    made.learn()
    return made


def passed(bursts: Bursts, since: float, until: float) -> float:
    return float(bursts.passed(np.array([since]), np.array([until]))[0])


def by_day(bursts: Bursts) -> list[tuple[float, float]]:
    """Shape and rate of what each day adds to G."""
    return [(bursts.often() + changes, 1 + waited) for changes, waited in bursts.counts.T.tolist()]


def test_before_any_check_is_learnt_no_burst_is_believed() -> None:
    made = Bursts()
    see(made, (0, 3, 0.5, True))

    assert passed(made, 0, 3) == 0
    assert made.error(np.ones(2), np.zeros(2), 3.0) == 0
    assert made.often() == EXPECTED[0]


def test_what_a_burst_explains_of_a_change_by_hand() -> None:
    """Two pages waited on day 0, one of them also on day 1; it had changed, with a chance of 1/2 before.

    Of that change a day explains the share log(2) / 3650 / (1/2), as what it adds to G has shape 1/3650 and
    rate 1. Then often is (365/3650 + share/3 + share/2) / (365 + 2).
    """
    share = np.log(2) / 3650 / 0.5

    made = learnt((0, 2, 0.5, True), (0, 1, 0.5, False))

    assert made.counts[:, :2].T.tolist() == [pytest.approx([share, 2]), pytest.approx([share, 1])]
    often = (0.1 + share / 3 + share / 2) / 367
    assert made.often() == pytest.approx(often)
    assert passed(made, 0, 1) == pytest.approx((often + share) * np.log(4 / 3))
    assert passed(made, 0, 1.5) == pytest.approx((often + share) * (np.log(4 / 3) + np.log(3 / 2) / 2))


@pytest.mark.parametrize("unchanged", [0, 1, 7, 300])
def test_chance_that_no_burst_was_is_the_integral_over_what_is_believed_of_each_day(unchanged: int) -> None:
    made = learnt((0, 2, 0.2, True), *[(0, 2, 0.2, False)] * unchanged, (1, 3, 0.01, True))

    exact = 1.0
    for shape, rate in by_day(made)[:3]:
        # With x = g^shape the density of a gamma distribution has no pole at 0.
        weight, stays = (
            quad(lambda x, r=r, s=shape: np.exp(-r * x ** (1 / s)), 0, 40**shape, limit=500)[0]
            for r in (rate, rate + 1)
        )
        exact *= stays / weight

    assert np.exp(-passed(made, 0, 3)) == pytest.approx(exact, rel=1e-6)


def test_error_by_hand() -> None:
    """Of an unseen day u = e^-g has E u = 2^-k and E u² = 3^-k; two pages waited on it, one of them before.

    Its variance over its squared mean: (4/3)^k - 1; the shares are 0.3 on the first day, 0.5 on the other.
    """
    made = learnt((5, 6, 0.5, False))
    factor = (4 / 3) ** made.often() - 1

    found = made.error(np.array([0.3, 0.2, 0.4]), np.array([0.0, 1.0, 2.0]), 2.0)

    assert found == pytest.approx(np.sqrt((0.3**2 + 0.5**2) * factor))


def test_error_is_that_of_bursts_drawn_at_random() -> None:
    made = learnt(*[(0, 2, 0.02, True)] * 4, *[(0, 4, 0.5, False)] * 40, *[(1, 4, 0.02, True)] * 4)
    shares, since = np.array([0.5, 0.3, 0.2]), np.array([0, 1, 3])
    random = np.random.default_rng(1)
    days = np.array([random.gamma(shape, 1 / rate, 200_000) for shape, rate in by_day(made)[:4]])
    stays = np.array([np.exp(-days[first:].sum(axis=0)) for first in since])

    drawn = (shares / stays.mean(axis=1)) @ stays

    assert made.error(shares, since.astype(float), 4.0) == pytest.approx(drawn.std(), rel=0.05)


def test_days_after_the_last_check_are_as_any_day() -> None:
    made = learnt((0, 5, 0.5, False))

    assert passed(made, 20, 21) == pytest.approx(made.often() * np.log(2))
    assert passed(made, 10, 110) == pytest.approx(100 * passed(made, 20, 21))


@pytest.mark.parametrize(("since", "until"), [(3.0, 3.0), (4.0, 3.0)])
def test_nothing_passes_in_no_time(since: float, until: float) -> None:
    assert passed(learnt((0, 5, 0.5, True)), since, until) == 0


@given(checks)
def test_what_is_believed_of_each_day_is_a_distribution(some: list[Check]) -> None:
    made = Bursts()
    for since, days, chance, changed in some:
        see(made, (since, since + days, chance, changed))
        made.learn()

    assert made.often() > 0
    assert all(shape > 0 and rate >= 1 for shape, rate in by_day(made))
    whole, parts = passed(made, 0, 70), [passed(made, day, day + 1) for day in range(70)]
    assert whole == pytest.approx(sum(parts))
    assert min(parts) >= 0


@given(checks)
def test_checks_taken_in_together_are_as_one_after_the_other(some: list[Check]) -> None:
    steps = [(since, since + days, chance, changed) for since, days, chance, changed in some]
    together, apart = Bursts(), Bursts()
    if steps:
        see(together, *steps)
    for step in steps:
        see(apart, step)
    together.learn()
    apart.learn()

    assert together.counts == pytest.approx(apart.counts)
    assert passed(together, 3, 50) == pytest.approx(passed(apart, 3, 50))


@given(st.lists(st.tuples(st.integers(1, 100), st.booleans()), min_size=1, max_size=8))
def test_without_bursts_the_belief_of_a_page_is_that_of_its_checks_alone(
    steps: list[tuple[int, bool]],
) -> None:
    made, alone = Schedule(), Gamma()
    made.add(np.array([0]), np.zeros(1))
    alone.add(np.array([0]))
    page, nothing, at = np.array([0]), np.zeros(1), 0
    for days, changed in steps:
        at += days
        made.see(page, np.array([float(at)]), np.array([int(changed)]))
        alone.see(page, np.array([float(days)]), np.array([changed]), nothing)

    assert isinstance(made.beliefs, Gamma)
    assert np.array(made.beliefs.of(page)) == pytest.approx(np.array(alone.of(page)))


def schedule(pages: int, *checks: tuple[int, float, int]) -> Schedule:
    """A schedule that has learnt from checks: page, at, changed."""
    made = Schedule()
    made.add(np.zeros(pages, int), np.zeros(pages))
    seen, at, changed = (np.array(column) for column in zip(*checks, strict=True))
    made.see(seen, at.astype(float), changed)
    made.learn()
    return made


def test_release_makes_pages_that_were_not_checked_since_look_changed_again() -> None:
    watched = [(page, 1.0 + page / 10, 0) for page in range(300)]
    made, calm = schedule(400, *watched), schedule(400, *watched)

    for page in range(60):
        made.see(np.array([page]), np.array([31.5]), np.array([1]))
        made.learn()

    assert passed(made.bursts, 29, 33) > 100 * passed(made.bursts, 32, 33)
    assert made.chances(33.0)[299] > calm.chances(33.0)[299]


def test_check_by_a_clock_that_was_set_back_tells_nothing_of_bursts() -> None:
    made, alone = schedule(1, (0, 30.0, 0), (0, 20.0, 0)), schedule(1, (0, 30.0, 0))

    assert made.bursts.counts.tolist() == alone.bursts.counts.tolist()
