"""Hit lists (GO, Hit Lists, The Ranking Function): types, counts that taper, proximity, PageRank."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_reading import Fields, asked, matches, parts_of, scores_of

from webcrawler.search.rankings import hitlists
from webcrawler.search.rankings.hitlists import (
    BINS,
    IMPORTANCE,
    KINDS,
    NEARNESS,
    TAPER,
    Occurrences,
    by_hits,
    count_weight,
    nearest,
)

FILLER = {"body": "x"}
EDGES = (0, 1, 2, 3, 5, 8, 12, 20, 31)  # the last distance of each bin but the tenth
PLACES: list[tuple[str, str]] = [
    *(("cited", "wing"), ("title", "wing"), ("words", "wing"), ("body", "*wing*")),
    *(("meta", "wing"), ("body", "Wing"), ("body", "wing")),
]


def scores(query: str, *documents: Fields, ranks: dict[int, float] | None = None) -> list[float]:
    """Beside two documents without any of the words."""
    found = matches(dict(enumerate((*documents, FILLER, FILLER))), ranks)
    return scores_of(by_hits, asked(query), found).tolist()[: len(documents)]


def test_types_of_hits_weigh_by_where_they_stand() -> None:
    found = scores("wing", *({field: text} for field, text in PLACES))

    assert found == sorted(found, reverse=True)
    assert found[-1] < found[-3]
    assert found[1] > found[2]


def test_hits_of_one_word_by_hand() -> None:
    # Once in the title: 4 · (1 - e^(-1/4)) · 4 = 3.539; twice in the text: 4 · (1 - e^(-2/4)) · 1 = 1.574
    # PageRank 1: 12 · 1 / (1 + 3) = 3
    document = {"title": "wing theory", "body": "wing flow wing"}

    found = scores_of(by_hits, asked("wing"), matches({1: document}))

    assert found.tolist() == pytest.approx([3.539 + 1.574 + 3], abs=1e-3)


def test_count_weight_is_linear_at_first_and_then_tapers_off() -> None:
    once, twice, many, endless = count_weight(np.array([1.0, 2.0, 20.0, 1e9]))

    assert 0.8 < once < 1
    assert 1.7 < twice / once < 2
    assert endless - many < 0.1
    assert endless == TAPER


def test_there_are_ten_bins_from_phrase_match_to_not_even_close() -> None:
    """GO: "binned into 10 different values ranging from a phrase match to "not even close"."""
    assert BINS == len(NEARNESS) == 10
    assert list(NEARNESS) == sorted(set(NEARNESS), reverse=True)
    assert NEARNESS[-1] == 0


def occurrences(places: list[tuple[int, int]]) -> Occurrences:
    rows, positions = (np.array([place[i] for place in places], np.int64) for i in (0, 1))
    return Occurrences(rows, positions, np.zeros(len(places), np.int64))


def between(one: int, other: int) -> int:
    """How far the second is from where it would stand in a phrase."""
    return other - one - 1 if other > one else one - other


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([3], [4], [0]),  # a phrase
        ([4], [3], [1]),  # next to each other, the other way round
        ([3], [5], [1]),  # a word in between
        ([3], [6], [2]),
        ([3], [12], [5]),
        ([0], [32], [8]),
        ([0], [33], [9]),  # not even close
        ([31], [64], [9]),  # the last word of an anchor text and the first of the next
        ([3, 20], [4], [0]),  # a pair for each hit of the rarer word
        ([3], [1, 4, 9], [0]),  # with the nearest of the other
        ([], [4], []),
    ],
)
def test_pairs_of_hits_fall_into_bins(first: list[int], second: list[int], expected: list[int]) -> None:
    one, other = (occurrences([(0, position) for position in positions]) for positions in (first, second))

    assert nearest(one, other).bins.tolist() == expected


_places = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), unique=True, max_size=12).map(sorted)


@given(_places, _places)
def test_every_hit_of_the_rarer_word_meets_the_nearest_of_the_other_in_its_page(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    swapped = len(first) > len(second)
    rarer, other = (second, first) if swapped else (first, second)
    expected = [
        (row, int(np.searchsorted(EDGES, min(near))))
        for row, position in rarer
        if (near := [between(p, position) if swapped else between(position, p) for r, p in other if r == row])
    ]

    found = nearest(occurrences(first), occurrences(second))

    assert list(zip(found.rows.tolist(), found.bins.tolist(), strict=True)) == expected


def test_words_together_in_one_anchor_beat_words_in_two() -> None:
    gap = " ".join("_" * 62)
    one, two = {"cited": f"delta wing {gap} x"}, {"cited": f"delta x {gap} wing"}

    together, parted = scores("delta wing", one, two)

    assert together > parted


def test_pair_counts_as_the_lesser_of_its_two_types() -> None:
    documents: list[Fields] = [{"body": "*delta* *wing*"}, {"body": "*delta* wing"}]
    found = matches(dict(enumerate((*documents, FILLER))))

    rows = [parts_of(by_hits, asked("delta wing"), found, place) for place in (0, 1)]

    pairs = [[row.what for row in parts if "near" in row.what] for parts in rows]
    assert pairs == [["delta near wing in heading or emphasis"], ["delta near wing in text"]]


def test_pages_with_all_words_come_first() -> None:
    """GO looks for documents that match all the search terms; ours adds those that lack some."""
    best_of_one = {"title": "wing wing", "cited": "wing wing", "words": "wing", "body": "*wing* " * 50}

    both, one = scores("delta wing", {"body": f"delta {'x ' * 40} wing"}, best_of_one, ranks={1: 1e6})

    assert both > one


@pytest.mark.parametrize(("field", "text"), PLACES)
def test_no_type_of_hit_alone_beats_a_page_that_is_good_in_several_ways(field: str, text: str) -> None:
    """GO: "so that no particular factor can have too much influence"."""
    good = {"title": "wing theory", "cited": "wing", "words": "wing", "body": "*wing* wing wing"}

    one_sided, several = scores("wing", {field: f"{text} " * 100}, good, ranks={0: 1.0, 1: 5.0})

    assert several > one_sided


def test_no_page_is_first_for_its_links_alone() -> None:
    several = {"title": "wing", "cited": "wing", "words": "wing", "body": "wing"}

    famous, good = scores("wing", {"body": "wing"}, several, ranks={0: 1e9})

    assert good > famous


def test_a_factor_at_its_utmost_is_less_than_a_third_of_what_a_page_can_reach() -> None:
    reach = TAPER * sum(kind.weight for kind in KINDS) + IMPORTANCE

    assert max(TAPER * max(kind.weight for kind in KINDS), IMPORTANCE) < reach / 3


_pages = st.lists(
    st.fixed_dictionaries(
        {
            name: st.lists(st.sampled_from(["delta", "wing", "Wing", "x"]), max_size=6).map(" ".join)
            for name in ("title", "body")
        }
    ),
    min_size=2,
    max_size=5,
)


@given(_pages)
def test_pair_score_equals_counting_one_by_one(pages: list[dict[str, str]]) -> None:
    """The dot product of count-weights and type-prox-weights, written out."""
    found = matches(dict(enumerate(pages)))
    for place, page in enumerate(pages):
        rows = parts_of(by_hits, asked("delta wing"), found, place)
        pairs = sum(row.contribution for row in rows if "near" in row.what)

        counts: Counter[tuple[int, int]] = Counter()
        for field, text in page.items():
            words = text.split()
            delta = [i for i, word in enumerate(words) if word == "delta"]
            wing = [i for i, word in enumerate(words) if word.lower() == "wing"]
            is_in_order = _rarer_is_delta(pages, field)
            rarer, others = (delta, wing) if is_in_order else (wing, delta)
            for one in rarer if others else ():
                apart = [between(one, other) if is_in_order else between(other, one) for other in others]
                nearest_other = others[apart.index(min(apart))]
                kind = min(_kind(words[one]), _kind(words[nearest_other]))
                type_ = hitlists.TITLE if field == "title" else kind
                counts[type_, int(np.searchsorted(EDGES, min(apart)))] += 1
        expected = sum(
            float(count_weight(np.array(float(counts[kind, bin_])))) * KINDS[kind].weight * NEARNESS[bin_]
            for kind, bin_ in product(range(len(KINDS)), range(BINS))
        )
        assert pairs == pytest.approx(expected / 2)  # each word is half of the query, and so is their pair


def _kind(word: str) -> int:
    return hitlists.CAPITAL if word[0].isupper() else hitlists.PLAIN


def _rarer_is_delta(pages: list[dict[str, str]], field: str) -> bool:
    words = [word for page in pages for word in page[field].lower().split()]
    return words.count("delta") <= words.count("wing")
