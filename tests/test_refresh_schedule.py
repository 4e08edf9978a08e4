"""What checks teach of pages and servers, and what follows for the next fetches."""

from __future__ import annotations

import io
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.refresh import POLICIES, Schedule, current
from webcrawler.refresh.belief import Gamma
from webcrawler.refresh.schedule import Calibration
from webcrawler.refresh.signs import NEWER, SAME, Signs

Check = tuple[int, float, int]  # page, at, changed


def schedule(pages: int, policy: str = "expected", servers: int = 1, **limits: float) -> Schedule:
    made = Schedule(policy, **limits)
    made.add(np.arange(pages) % servers, np.zeros(pages))
    return made


def believing(pages: int) -> Schedule:
    """A schedule that has learnt to believe the sitemap of its server."""
    made = schedule(pages)
    made.signs.counts[0, NEWER], made.signs.counts[0, SAME] = (100, 10, 95), (100, 10, 1)
    return made


def see(made: Schedule, *checks: Check) -> None:
    pages, at, changed = (np.array(column) for column in zip(*checks, strict=True))
    made.see(pages, at.astype(float), changed)


def belief(made: Schedule, page: int = 0) -> list[float]:
    assert isinstance(made.beliefs, Gamma)
    a, b = made.beliefs.of(np.array([page]))
    return [float(a[0]), float(b[0])]


# ---- One page


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([(0, 10.0, 0), (0, 25.0, 0)], [0.5, 55.0]),  # (0.5, 30) before
        ([(0, 10.0, -1)], [0.5, 30.0]),  # it cannot tell
    ],
)
def test_unchanged_check_adds_its_days_to_the_rate(checks: list[Check], expected: list[float]) -> None:
    made = schedule(1)

    see(made, *checks)

    assert belief(made) == expected
    assert made.checked.tolist() == [checks[-1][1]]


@pytest.mark.slow
@given(st.lists(st.floats(0.1, 50), min_size=2, max_size=4))
def test_order_of_unchanged_checks_does_not_matter(days: list[float]) -> None:
    found = []
    for order in permutations(days):
        made = schedule(1)
        see(made, *((0, at, 0) for at in np.cumsum(order).tolist()))
        found.append(belief(made))

    assert np.allclose(found, found[0], rtol=1e-5)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0.1, 20), st.integers(-1, 1)), min_size=1, max_size=12)
)
def test_checks_taken_in_together_are_as_one_after_the_other(steps: list[Check]) -> None:
    checks, at = [], 0.0
    for page, days, changed in steps:
        at += days
        checks.append((page, at, changed))
    together, apart = schedule(3), schedule(3)

    see(together, *checks)
    for check in checks:
        see(apart, check)

    assert [belief(together, page) for page in range(3)] == [belief(apart, page) for page in range(3)]
    assert together.checked.tolist() == apart.checked.tolist()


@pytest.mark.parametrize("policy", POLICIES)
def test_page_that_changes_is_worth_more_than_one_that_does_not(policy: str) -> None:
    made = schedule(2, policy)

    see(made, *((page, 10.0 * check, page) for check in range(1, 6) for page in (0, 1)))

    assert made.choose(60.0, 1).tolist() == [1]
    assert made.chances(60.0)[1] > 2 * made.chances(60.0)[0]


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_page_that_was_not_changed_at_its_first_checks_is_not_forgotten(policy: str) -> None:
    """λ = 0 from "never changed" would starve it for ever."""
    made = schedule(100, policy)
    see(made, *((page, 1.0, int(page > 0)) for page in range(100)))
    chosen = set()

    for day in range(2, 2000):
        pages = made.choose(day, 1)
        chosen |= set(pages.tolist())
        see(made, (int(pages[0]), day, int(pages[0] > 0)))

    assert 0 in chosen


def test_days_between_changes_of_a_page_are_told_with_their_doubt() -> None:
    made = schedule(1)
    see(made, *((0, 9.0 * check, 1) for check in range(1, 30)))
    assert isinstance(made.beliefs, Gamma)

    least, middle, most = made.beliefs.intervals(np.array([0]))[:, 0]

    assert least < middle < most
    assert middle < 9  # whether it changed once or twice in nine days, nobody saw


# ---- Servers


def test_page_that_was_never_checked_is_expected_to_be_like_its_server() -> None:
    made = schedule(400, servers=2)
    see(made, *((page, 10.0, page % 2) for page in range(200)))

    for _ in range(10):
        made.learn()

    calm, busy = made.beliefs.chance(np.array([300, 301]), np.full(2, 20.0), np.ones(2), np.zeros(2))
    assert calm < 0.25 < 0.7 < busy  # before: 0.37


def test_server_without_checked_pages_is_expected_to_be_like_the_whole() -> None:
    made = schedule(200)
    see(made, *((page, 10.0, 0) for page in range(200)))
    made.learn()

    made.add(np.array([1]), np.array([10.0]))

    assert belief(made, 200) == pytest.approx([made.beliefs.prior_a[0], made.beliefs.prior_b[0]])
    made.learn()
    assert made.chances(20.0)[200] < 0.1


def test_prior_recovers_the_distribution_of_rates() -> None:
    """Rates of a thousand pages drawn from Gamma(2, 20 days), each checked often."""
    random = np.random.default_rng(1)
    rates = random.gamma(2, 1 / 20, 1000)
    made = schedule(1000)
    for day in range(5, 400, 5):
        see(made, *zip(range(1000), [day] * 1000, random.random(1000) < -np.expm1(-rates * 5), strict=True))
        made.learn()

    assert made.beliefs.prior_a[0] == pytest.approx(2, rel=0.2)
    assert made.beliefs.prior_b[0] == pytest.approx(20, rel=0.2)


# ---- Signs


def test_sign_of_an_honest_sitemap_is_learnt_and_of_a_useless_one_is_not() -> None:
    signs = Signs()
    pages = np.arange(200)
    servers = pages % 2  # the sitemap of server 1 says "newer" of all
    signs.add(servers)
    changed = pages % 4 < 2

    signs.say(pages, changed | (servers == 1), 1.0)
    signs.see(pages, servers, np.full(200, 0.5), changed)

    ratios = signs.ratios()
    assert ratios[0, NEWER] > 10 and ratios[0, SAME] < 0.1
    assert ratios[1, NEWER] == pytest.approx(1)


def test_sitemap_is_fetched_after_twenty_checks_and_after_ten_times_as_many_if_it_tells_nothing() -> None:
    signs = Signs()
    servers = np.arange(40) % 2
    signs.add(servers)

    def check(times: int) -> list[bool]:
        for _ in range(times):
            signs.say(np.arange(40), (servers == 1) | (np.arange(40) < 20), 1.0)
            signs.see(np.arange(40), servers, np.full(40, 0.5), np.arange(40) < 20)
        return signs.due().tolist()

    assert signs.due().tolist() == [False, False]
    assert check(1) == [True, False]  # 20 of each were checked; server 1 calls all pages newer
    signs.fetched(np.array([0]))
    assert check(0) == [False, False]
    assert check(9) == [True, True]


def test_sign_that_time_alone_predicts_tells_nothing() -> None:
    """Pages with a sign are older; that 9 of 10 of them had changed is no merit of the sign."""
    signs = Signs()
    pages, servers = np.arange(1000), np.zeros(1000, int)
    signs.add(servers)

    signs.say(pages, np.ones(1000, bool), 1.0)
    signs.see(pages, servers, np.full(1000, 0.9), pages % 10 > 0)

    assert signs.ratios()[0, NEWER] == pytest.approx(1)


def test_sitemap_says_nothing_of_a_page_since_it_was_checked() -> None:
    made = schedule(2)
    made.signs.say(np.array([0, 1]), np.array([True, True]), 5.0)

    see(made, (0, 10.0, 1))

    assert made.signs.said.tolist() == [0, NEWER]


def test_page_that_a_believed_sitemap_calls_newer_goes_first() -> None:
    made = believing(101)
    before = made.chances(10.0)[7]

    made.signs.say(np.arange(100), np.arange(100) == 7, 9.0)

    assert made.choose(10.0, 2).tolist() == [7, 100]  # and the one of which nothing is said comes next
    assert made.chances(10.0)[7] > 0.9 > before


def test_believed_sitemap_that_calls_a_page_unchanged_is_as_good_as_a_check() -> None:
    made, checked, alone = believing(1), schedule(1), schedule(1)

    made.signs.say(np.array([0]), np.array([False]), 20.0)
    see(checked, (0, 20.0, 0))
    assert made.chances(25.0)[0] < alone.chances(6.0)[0]
    see(made, (0, 30.0, 1))
    see(checked, (0, 30.0, 1))

    assert belief(made) == pytest.approx(belief(checked))


def test_useless_sitemap_that_calls_a_page_unchanged_says_nothing() -> None:
    made, alone = schedule(1), schedule(1)

    made.signs.say(np.array([0]), np.array([False]), 20.0)

    assert made.chances(25.0).tolist() == alone.chances(25.0).tolist()
    see(made, (0, 30.0, 1))
    see(alone, (0, 30.0, 1))
    assert belief(made) == belief(alone)


# ---- What is chosen, and reported


def test_page_is_left_alone_for_the_shortest_time() -> None:
    made = schedule(3, at_most=5.0)
    see(made, (0, 26.0, 1), (1, 20.0, 1))
    made.weights[:2] = 100

    assert made.choose(29.0, 3).tolist() == [1, 2]


def test_page_that_waits_to_be_fetched_is_not_chosen_again() -> None:
    made = schedule(3)

    assert sorted(made.choose(10.0, 3, waiting=np.array([1])).tolist()) == [0, 2]


def test_share_that_is_current_is_weighted_and_has_an_interval() -> None:
    found = current(np.array([3.0, 1.0]), np.array([0.0, 1.0]))
    assert found == (0.75, 0.75, 0.75)  # nothing is in doubt

    share, low, high = current(np.ones(100), np.full(100, 0.5))
    assert share == 0.5
    assert (low, high) == pytest.approx((0.5 - 1.645 * 0.05, 0.5 + 1.645 * 0.05))  # of 100 tossed coins


def test_errors_that_all_bins_share_are_a_doubt_and_those_of_chance_even_out() -> None:
    one_way, both_ways = Calibration(), Calibration()
    for made, signs in ((one_way, np.ones(4)), (both_ways, np.array([1, -1, 1, -1]))):
        made.lately[:4] = np.stack((np.full(4, 100), np.full(4, 50), 50 - 3 * signs), axis=1)

    assert one_way.doubt() == pytest.approx(4 * 3 / 400)
    assert both_ways.doubt() == pytest.approx(2 * 3 / 400)  # √4 · 3
    assert Calibration().doubt() == 0


def test_number_is_told_only_where_it_is_expected_to_be_right_within_three_percent() -> None:
    assert current(np.ones(1000), np.full(1000, 0.1)).is_known
    assert not current(np.ones(1000), np.full(1000, 0.1), error=0.05).is_known


def test_calibration_compares_what_was_predicted_with_what_was_seen() -> None:
    made = schedule(10)
    predicted = float(made.chances(90.0)[0])  # 1/2: in the bin from 0.5 on

    see(made, *((page, 90.0, int(page < 3)) for page in range(10)))

    assert made.calibration.error() == pytest.approx(abs(predicted - 0.3))


def test_chances_are_reported_as_such_predictions_turned_out() -> None:
    calibration = Calibration()
    chances = np.array([0.0, 0.02, 0.45, 0.95, 1.0])
    assert calibration.corrected(chances) == pytest.approx(chances)  # nothing is known

    calibration.see(np.full(100, 0.45), np.arange(100) < 50, pages=2)  # long ago
    calibration.see(np.full(100, 0.45), np.arange(100) < 5, pages=2)

    # 5 of 100 had changed, beside as many of 100 as predicted; half-way to the next bin, half of that.
    assert calibration.corrected(np.array([0.45, 0.4, 0.35])) == pytest.approx([0.25, 0.3, 0.35])


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_known_survives_a_file(policy: str) -> None:
    made = schedule(50, policy, servers=3)
    see(made, *((page, 5.0 + page, page % 2) for page in range(20)))
    made.signs.say(np.arange(10), np.arange(10) > 5, 50.0)
    made.learn()
    file = io.BytesIO()
    np.savez(file, **made.arrays())
    file.seek(0)

    with np.load(file, allow_pickle=False) as arrays:
        restored = Schedule(policy)
        restored.restore(arrays)

    assert restored.choose(99.0, 20).tolist() == made.choose(99.0, 20).tolist()
    assert restored.current(99.0) == made.current(99.0)


def test_a_page_takes_no_more_than_forty_bytes() -> None:
    made = schedule(1000)

    assert sum(array.nbytes for name, array in made.arrays().items() if len(array) == 1000) <= 40 * 1000


def test_unknown_policy_is_refused_in_one_line() -> None:
    with pytest.raises(BadInput, match="REFRESH_POLICY=best: choose one of expected, ep, eb"):
        Schedule("best")
