"""Which pages come next: the best by value, within the caps of their servers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.refresh import choose, importance

SERVERS = 4
pages = st.lists(st.tuples(st.integers(-1, 9), st.integers(0, SERVERS - 1)), max_size=40)  # score, server
caps = st.lists(st.integers(0, 5), min_size=SERVERS, max_size=SERVERS)


def scores(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_the_best_come_first_and_none_that_has_no_value() -> None:
    assert choose(scores(1, 4, 2, 0, 3, -1), 3).tolist() == [1, 4, 2]
    assert choose(scores(0, 1, -1), 3).tolist() == [1]


def test_a_server_gives_no_more_than_its_cap_and_others_take_its_place() -> None:
    found = choose(scores(9, 8, 7, 1, 2), 3, np.array([0, 0, 0, 1, 1]), np.array([1, 5]))

    assert found.tolist() == [0, 4, 3]


@pytest.mark.parametrize(
    ("ranks", "weights"),
    [
        ([1.0, 1.0], [1, 1]),
        ([0.0, 2.0], [0.1, 2]),
        ([0.0, 0.0], [0.1, 0.1]),
        ([1e6, *[1.0] * 999], [100, *[0.1] * 999]),
        ([], []),
    ],
)
def test_importance_is_a_tenth_to_a_hundred_times_the_mean(ranks: list[float], weights: list[float]) -> None:
    assert importance(np.array(ranks)).tolist() == pytest.approx(weights)


@given(pages, st.integers(0, 50), caps)
def test_choice_is_what_a_greedy_one_takes(
    pages: list[tuple[int, int]], number: int, caps: list[int]
) -> None:
    """Each next page is the best of those whose server has room."""
    room, expected = list(caps), []
    for score, server in sorted(((score, server) for score, server in pages), reverse=True):
        if score > 0 and room[server] and len(expected) < number:
            room[server] -= 1
            expected.append(score)

    servers = np.array([page[1] for page in pages], int)
    found = choose(scores(*(page[0] for page in pages)), number, servers, np.array(caps))

    assert sum(pages[page][0] for page in found) == sum(expected)
    assert len(found) == len(expected)


@given(pages, st.integers(0, 50), caps)
def test_no_number_and_no_cap_is_exceeded(pages: list[tuple[int, int]], number: int, caps: list[int]) -> None:
    servers = np.array([page[1] for page in pages], int)
    found = choose(scores(*(page[0] for page in pages)), number, servers, np.array(caps))

    assert len(set(found.tolist())) == len(found) <= number
    assert np.all(np.bincount(servers[found], minlength=SERVERS) <= caps)
