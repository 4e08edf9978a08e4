"""Credit for the steps that led to a wanted page: Rennie and McCallum 1999."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning import link, seen, told

from webcrawler.errors import BadInput
from webcrawler.orderings import ordering
from webcrawler.orderings.candidates import Candidates
from webcrawler.orderings.evidence import Returns

A, B = "http://a.test/", "http://b.test/"
GENES = "gene " * 20
OTHER = "links to laboratories and institutes"


def values(gamma: float, path: Sequence[tuple[int, float]]) -> list[float]:
    """The returns of pages 1, 2, … of which each is given as the page that it was found on, and its score."""
    returns, candidates = Returns(gamma), Candidates()
    found: list[float] = [0.0]
    for page, (found_on, score) in enumerate(path, 1):
        row = candidates.add(link(f"{A}{page}"))
        candidates.found_on.rows[row] = found_on
        found.append(score)
        for before, more in returns.add(page, score, candidates, row):
            found[before] += more
    return found[1:]


def test_a_wanted_page_credits_each_page_on_its_path_less_and_less() -> None:
    """1 → 2 → 3 → 4, and only the last is about the topic."""
    assert values(0.5, [(0, 0), (1, 0), (2, 0), (3, 0.8)]) == pytest.approx([0.1, 0.2, 0.4, 0.8])


paths = st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1, width=32)), max_size=30).map(
    lambda found: [(parent % page, score) for page, (parent, score) in enumerate(found, 1)]
)


@given(paths, st.sampled_from([0.0, 0.25, 0.5, 0.75]))
def test_returns_are_those_of_their_definition(path: list[tuple[int, float]], gamma: float) -> None:
    """Computed from the whole tree at once, from the leaves to the root."""

    def value(page: int) -> float:
        found_here = [child for child, (found_on, _) in enumerate(path, 1) if found_on == page]
        return max([path[page - 1][1], *(gamma * value(child) for child in found_here)])

    expected = [value(page) for page in range(1, len(path) + 1)]

    assert values(gamma, path) == pytest.approx(expected, abs=1e-5)


def test_a_link_like_one_that_led_to_the_topic_in_two_steps_comes_first() -> None:
    pages = [
        seen(A, OTHER, link(A + "x/people", "staff"), link(A + "y/weather", "forecast")),
        seen(A + "x/people", OTHER, link(A + "z/1", "her work")),
        seen(A + "y/weather", OTHER, link(A + "w/1", "tomorrow")),
        seen(A + "z/1", GENES),
        seen(A + "w/1", OTHER),
        seen(B, OTHER, link(B + "p/1", "forecast"), link(B + "q/1", "staff")),
    ]

    with_credit = told(ordering("credit?query=gene"), *pages)
    without = told(ordering("adaptive?query=gene"), *pages)

    assert with_credit[B + "q/1"] > with_credit[B + "p/1"]
    assert without[B + "q/1"] <= without[B + "p/1"]


def test_a_redirect_hands_its_place_on_the_path_to_its_target() -> None:
    pages = [
        seen(A, OTHER, link(A + "x/people", "staff"), link(A + "y/weather", "forecast")),
        seen(A + "x/people", OTHER, link(A + "old", "her work")),
        seen(A + "y/weather", OTHER),
        seen(A + "old", None, link(A + "new", rel="redirect")),
        seen(A + "new", GENES),
        seen(B, OTHER, link(B + "p/1", "forecast"), link(B + "q/1", "staff")),
    ]

    given = told(ordering("credit?query=gene"), *pages)

    assert given[B + "q/1"] > given[B + "p/1"]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.sampled_from([GENES, OTHER, None]), st.lists(st.integers(0, 9), max_size=4)
        ),
        max_size=12,
    )
)
def test_without_gamma_it_is_adaptive(found: list[tuple[int, str | None, list[int]]]) -> None:
    pages = [seen(f"{A}{n}", body, *(link(f"{A}{m}") for m in links)) for n, body, links in found]

    without, adaptive = (ordering(mode) for mode in ("credit?query=gene&gamma=0", "adaptive?query=gene"))
    assert told(without, *pages) == told(adaptive, *pages)


@pytest.mark.parametrize("mode", ["credit", "adaptive"])
@pytest.mark.parametrize("gamma", ["1", "-0.1", "nan", "much"])
def test_a_wrong_gamma_gets_one_clear_line(mode: str, gamma: str) -> None:
    with pytest.raises(BadInput, match=f"gamma={gamma} is not a number from 0 to below 1") as found:
        ordering(f"{mode}?query=gene&gamma={gamma}")

    assert "\n" not in str(found.value)
