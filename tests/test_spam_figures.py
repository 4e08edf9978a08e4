"""bench/spam.py and bench/madespam.py: which pages are marked or near it, and how spam is made."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searched import entry, publish
from test_spam import HONEST, PROSE, TARGET

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))

import madespam
import spam


def test_marked_pages_are_named_and_the_others_are_in_the_order_of_their_shares(tmp_path: Path) -> None:
    quarter = "http://quarter.example/"
    rows = [
        (HONEST, "Village", f"{PROSE} {PROSE}"),
        (quarter, "Flights", PROSE + " cheap flights" * 15),
        (TARGET, "Flights", PROSE + " cheap flights" * 160),
    ]
    publish(tmp_path, map(entry, rows))

    found = spam.looked_at(tmp_path)

    assert found.marked == [f"stuffed {TARGET}"]
    assert [page.url for page in found.pages] == [TARGET, quarter, HONEST]
    words = len(PROSE.split()) + 320
    assert found.pages[0].share == pytest.approx(320 / words, abs=0.03)  # and a third word
    assert set(found.pages[0].words.split()) >= {"cheap", "flight"}
    assert (found.documents, found.groups, found.hiding) == (3, [], 0)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(50, 400), st.sampled_from(madespam.STUFFING), st.integers(1, 6))
def test_words_that_are_put_in_are_the_share_that_was_asked_for(own: int, share: float, number: int) -> None:
    query = madespam.QUERY.split()[:number]

    words = madespam.with_words(" ".join(["own"] * own), query, share).split()

    assert words.count("own") == own
    assert (len(words) - own) / len(words) == pytest.approx(share, abs=0.01)
    counts = [words.count(word) for word in query]
    assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(
    ("size", "density", "outside", "is_found"),
    [(4, 1.0, 0.0, True), (3, 1.0, 0.0, False), (101, 1.0, 0.0, False), (10, 0.4, 0.0, False),
     (10, 1.0, 0.05, True), (10, 1.0, 0.2, False)],
)  # fmt: skip
def test_farms_of_each_size_and_density_are_found_as_the_rule_says(
    size: int, density: float, outside: float, is_found: bool
) -> None:
    assert madespam._farm_found(size, density, outside, np.random.default_rng(1)) == is_found


def test_a_page_is_told_to_hide_words_by_what_the_rule_reads_and_not_by_what_it_does_not() -> None:
    page = f"<body><p>{PROSE * 2}</p></body>"

    ways = madespam.HIDING.items()
    missed = {how for how, hiding in ways if not madespam._is_hidden(page, hiding, 0.5, 4)}

    assert missed == {
        "nearly white on white",
        "font-size:1px",
        "a rule for what is inside of another",
        "an external style sheet",
        "in nav",
    }
