"""What the next fetch of a page is worth, and what a check says of how often the page changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma

from webcrawler.refresh import value

shapes = st.floats(0.05, 20)
rates = st.floats(0.1, 1000)  # days
times = st.floats(0.01, 1000)  # days


def one(number: float) -> np.ndarray:
    return np.array([number])


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
    assert value.chance_of_change(one(a), one(b), one(days))[0] == pytest.approx(changed, rel=1e-5)


@given(shapes, rates, times, times)
def test_value_grows_with_time_and_stays_below_its_bounds(
    a: float, b: float, days: float, more: float
) -> None:
    now, later = (value.expected_value(one(a), one(b), one(time))[0] for time in (days, days + more))

    assert 0 <= now <= later * (1 + 1e-6) + 1e-9
    assert later <= (days + more) * (1 + 1e-9)  # nothing is worth more than to be current all that time
    if a > 1.01:
        assert later <= b / (a - 1) * (1 + 1e-9)


@given(shapes, rates, times, st.floats(0.001, 1000))
def test_age_by_a_sign_is_that_of_the_chance_the_sign_gives(
    a: float, b: float, days: float, odds: float
) -> None:
    unchanged = 1 - value.chance_of_change(one(a), one(b), one(days))[0]
    by_sign = value.age(one(a), one(b), value.lasting(one(a), one(b), one(days), one(odds)))

    assert np.isfinite(by_sign[0])
    if unchanged > 0 and by_sign[0] < b * 1e6:
        expected = 1 / (1 + odds * (1 - unchanged) / unchanged)
        assert 1 - value.chance_of_change(one(a), one(b), by_sign)[0] == pytest.approx(expected, rel=1e-6)
    if odds == 1:
        assert by_sign[0] == pytest.approx(days)


@pytest.mark.parametrize(("a", "b", "days"), [(0.5, 30.0, 10.0), (3.0, 10.0, 100.0), (1.0, 5.0, 0.5)])
def test_belief_after_a_change_has_mean_and_variance_of_the_exact_one(
    a: float, b: float, days: float
) -> None:
    def moment(power: int) -> float:
        return mean(a, b, lambda rate: rate**power * -np.expm1(-rate * days))

    after_a, after_b = (found[0] for found in value.after_change(one(a), one(b), one(days)))

    exact = moment(1) / moment(0)
    assert after_a / after_b == pytest.approx(exact, rel=1e-3)
    assert after_a / after_b**2 == pytest.approx(moment(2) / moment(0) - exact**2, rel=1e-2)


@given(shapes, rates, times)
def test_a_change_never_makes_a_page_seem_slower(a: float, b: float, days: float) -> None:
    after_a, after_b = (found[0] for found in value.after_change(one(a), one(b), one(days)))

    assert after_a >= a * (1 - 1e-6)
    assert after_b >= b * (1 - 1e-6)
    assert after_a / after_b >= a / b * (1 - 1e-6)
