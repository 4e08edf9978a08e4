"""What the next fetch of a page is worth, and what a check says of how often the page changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma

from webcrawler.refresh import value
from webcrawler.refresh.belief import Gamma

shapes = st.floats(0.05, 20)
rates = st.floats(0.1, 1000)  # days
times = st.floats(0.01, 1000)  # days


def one(number: float) -> np.ndarray:
    return np.array([number])


def chance(a: float, b: float, days: float, odds: float = 1.0, bursts: float = 0.0) -> float:
    """What is expected of the only page of a server, of which nothing else is known."""
    return float(believing(a, b).chance(slice(None), one(days), one(odds), one(bursts))[0])


def worth(a: float, b: float, days: float, odds: float, bursts: float, often: float) -> float:
    return float(believing(a, b).value(slice(None), one(days), one(odds), one(bursts), often)[0])


def believing(a: float, b: float) -> Gamma:
    made = Gamma()
    made.add(np.array([0]))
    made.prior_a, made.prior_b = one(a), one(b)
    return made


def after_change(a: float, b: float, days: float, bursts: float = 0.0) -> tuple[float, float]:
    after_a, after_b = value.after_change(one(a), one(b), one(days), one(bursts))
    return float(after_a[0]), float(after_b[0])


def mean(a: float, b: float, of: object) -> float:
    """The expectation over a gamma distribution, by integration over its quantiles."""
    return quad(lambda q: of(gamma.ppf(q, a, scale=1 / b)), 0, 1, limit=500)[0]  # type: ignore[operator]


def test_value_of_a_known_rate_by_hand() -> None:
    """Once a day, a day ago: 1 - 2/e. Twice a day, a day ago: (1 - 3/e²) / 2. Never: nothing."""
    found = value.value_at_rate(np.array([1.0, 2.0, 0.0]), np.array([1.0, 1.0, 1.0]))

    assert found.tolist() == pytest.approx([1 - 2 / np.e, (1 - 3 / np.e**2) / 2, 0])


@pytest.mark.parametrize(
    ("a", "b", "days", "expected"),
    [
        (1, 1, 1, np.log(2) - 1 / 2),  # b ln((b+τ)/b) - τ b/(b+τ)
        (2, 1, 1, 1 / 2 - 1 / 4),  # (1 - 1/2) - 1 · 1/4
        (2, 10, 10, 10 / 2 - 10 / 4),
        (1, 1, 0, 0),
    ],
)
def test_expected_value_by_hand(a: float, b: float, days: float, expected: float) -> None:
    assert value.expected_value(one(a), one(b), one(days))[0] == pytest.approx(expected)


@pytest.mark.parametrize("a", [0.3, 0.999999, 1.0, 1.5, 8.0])
@pytest.mark.parametrize(("b", "days"), [(30.0, 5.0), (2.0, 40.0)])
def test_closed_forms_equal_integrals_over_the_belief(a: float, b: float, days: float) -> None:
    def at_rate(rate: float) -> float:
        return float(value.value_at_rate(one(rate), one(days))[0])

    assert value.expected_value(one(a), one(b), one(days))[0] == pytest.approx(mean(a, b, at_rate), rel=1e-4)
    changed = mean(a, b, lambda rate: 1 - np.exp(-rate * days))
    assert chance(a, b, days) == pytest.approx(changed, rel=1e-5)


@given(shapes, rates, times, times)
def test_value_grows_with_time_and_stays_below_its_bounds(
    a: float, b: float, days: float, more: float
) -> None:
    now, later = (value.expected_value(one(a), one(b), one(time))[0] for time in (days, days + more))

    assert 0 <= now <= later * (1 + 1e-6) + 1e-9
    assert later <= (days + more) * (1 + 1e-9)  # nothing is worth more than to be current all that time
    if a > 1.01:
        assert later <= b / (a - 1) * (1 + 1e-9)


@given(shapes, rates, times, st.floats(0.001, 1000), st.floats(0, 5))
def test_sign_multiplies_the_odds_of_a_change_and_a_burst_the_chance_that_there_was_none(
    a: float, b: float, days: float, odds: float, bursts: float
) -> None:
    changed = chance(a, b, days)
    unchanged = (b / (b + days)) ** a
    expected = unchanged / (unchanged + odds * changed) * np.exp(-bursts)

    assert 1 - chance(a, b, days, odds, bursts) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(shapes, rates, times, st.floats(0.001, 1000), st.floats(0, 5), st.floats(0, 0.1))
def test_page_is_worth_what_it_is_at_the_age_that_makes_it_as_likely_to_have_changed(
    a: float, b: float, days: float, odds: float, bursts: float, often: float
) -> None:
    found = worth(a, b, days, odds, bursts, often)

    assert 0 <= found < np.inf
    assert worth(a, b, days, 1.0, 0.0, 0.0) == pytest.approx(
        value.expected_value(one(a), one(b), one(days))[0], rel=1e-6, abs=1e-9
    )
    assert worth(a, b, days, odds, bursts + 1, often) >= found * (1 - 1e-6) - 1e-9


def test_value_with_bursts_by_hand() -> None:
    """Rate 1/10 ± 1/10 a day and bursts of 1/10 a day: both together 2/10 ± 1/10, as of shape 4 and 20 days.

    Unchanged for 10 days, 10/20, and through bursts, 1/8: 1/16 together, as (20/(20 + τ))^4 is at τ = 20. The
    value is 20/3 (1 - 1/8) - 20/16.
    """
    assert worth(1.0, 10.0, 10.0, 1.0, np.log(8), 0.1) == pytest.approx(20 / 3 * 7 / 8 - 20 / 16)


def test_belief_after_a_change_that_a_burst_may_explain_by_hand() -> None:
    """Shape and rate 1, after a day, e^-G 1/2: z = 1 - 1/4, 1 - 1/8, 1 - 1/16; E λ = 7/6, E λ² = 2 · 5/4."""
    after_a, after_b = after_change(1.0, 1.0, 1.0, np.log(2))

    assert after_a / after_b == pytest.approx(7 / 6)
    assert after_a / after_b**2 == pytest.approx(5 / 2 - 49 / 36)


@pytest.mark.parametrize("bursts", [0.0, 0.1, 3.0])
@pytest.mark.parametrize(("a", "b", "days"), [(0.5, 30.0, 10.0), (3.0, 10.0, 100.0), (1.0, 5.0, 0.5)])
def test_belief_after_a_change_has_mean_and_variance_of_the_exact_one(
    a: float, b: float, days: float, bursts: float
) -> None:
    def moment(power: int) -> float:
        return mean(a, b, lambda rate: rate**power * -np.expm1(-rate * days - bursts))

    after_a, after_b = after_change(a, b, days, bursts)

    exact = moment(1) / moment(0)
    assert after_a / after_b == pytest.approx(exact, rel=1e-3)
    assert after_a / after_b**2 == pytest.approx(moment(2) / moment(0) - exact**2, rel=1e-2)


@given(shapes, rates, times)
def test_a_change_never_makes_a_page_seem_slower(a: float, b: float, days: float) -> None:
    after_a, after_b = after_change(a, b, days)

    assert after_a >= a * (1 - 1e-6)
    assert after_b >= b * (1 - 1e-6)
    assert after_a / after_b >= a / b * (1 - 1e-6)


@given(shapes, rates, times, st.floats(0, 50))
def test_a_change_that_a_burst_may_explain_makes_a_page_seem_less_fast(
    a: float, b: float, days: float, bursts: float
) -> None:
    after_a, after_b = after_change(a, b, days, bursts)
    alone_a, alone_b = after_change(a, b, days)

    assert after_a > 0 and after_b > 0
    assert a / b * (1 - 1e-6) <= after_a / after_b <= alone_a / alone_b * (1 + 1e-6)


def test_a_change_that_a_burst_explains_says_nothing_of_the_page() -> None:
    assert after_change(2.0, 30.0, 10.0, 60.0) == pytest.approx((2.0, 30.0))
