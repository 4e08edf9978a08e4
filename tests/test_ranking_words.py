"""Importance by words: IS and IC of Cho 1998, 2."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.evaluation.hotness import TITLE_WEIGHT, combined, cosine, idf, inner_product, vector

texts = st.lists(st.sampled_from("abcd"), max_size=8)


def test_similarity_by_hand() -> None:
    """The collection has "the" 8 times, "queue" twice; the page 4 and 1 of them, the query 1 and 1."""
    weight = partial(idf, Counter((["the"] * 4 + ["queue"]) * 2))
    page = vector(["the"] * 4 + ["queue"], [], weight)
    query = vector(["the", "queue"], [], weight)

    assert page == {"the": 4 / 8, "queue": 1 / 2}
    assert inner_product(page, query) == 4 / 8 * 1 / 8 + 1 / 2 * 1 / 2
    assert cosine(page, query) == pytest.approx((1 / 16 + 1 / 4) / (0.5**0.5 * (1 / 64 + 1 / 4) ** 0.5))


def test_words_of_the_title_weigh_more() -> None:
    assert vector(["a", "b"], ["a"]) == {"a": 1 + TITLE_WEIGHT, "b": 1}


def test_idf_counts_on_from_a_reference_and_a_word_never_seen_as_seen_once() -> None:
    """IS' before anything is crawled."""
    occurrences = Counter({"the": 999})
    occurrences.update(["the", "queue"])

    assert [idf(occurrences, word) for word in ("the", "queue", "new")] == [1 / 1000, 1, 1]


def test_without_idf_only_page_and_query_are_needed() -> None:
    assert inner_product(vector(["a", "a", "b"], []), vector(["a"], [])) == 2


@given(texts, texts)
def test_cosine_is_a_share_and_the_same_both_ways(page: list[str], query: list[str]) -> None:
    p, q = vector(page, []), vector(query, [])

    assert 0 <= cosine(p, q) <= 1 + 1e-9
    assert cosine(p, q) == pytest.approx(cosine(q, p))
    assert cosine(p, p) == pytest.approx(1 if page else 0)


def test_combined_importance() -> None:
    assert combined([0.5, 0], [10, 3], k1=100, k2=2).tolist() == [70, 6]
