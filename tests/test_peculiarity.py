"""Peculiarity weighting (Pinkerton 1994, The Database, The Query Server) and its reference domain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_reading import asked, matches, parts_of, scores_of

from webcrawler.search.rankings import Peculiarity, weight
from webcrawler.text.reference import Reference, english

REFERENCE = {"molecular": 0.001, "biology": 0.002}
RANKING = Peculiarity(REFERENCE.__getitem__)
DOCUMENTS = {
    1: {"title": "molecular biology", "body": "gene protein"},
    2: {"title": "", "body": "biology biology garden"},
    3: {"title": "cook molecular", "body": "cook steam"},
}


def test_three_documents_by_hand() -> None:
    # Query "molecular biology": each word is half of it: weights 0.5 / 0.001 = 500 and 0.5 / 0.002 = 250
    # 1: molecular 0.25 / 0.001 = 250, biology 0.25 / 0.002 = 125: (250 · 500 + 125 · 250) / 2 = 78,125
    # 2: biology (2/3) / 0.002 = 333.3: (333.3 · 250) / 2 = 41,666.7
    # 3: molecular 0.25 / 0.001 = 250: (250 · 500) / 2 = 62,500
    scores = scores_of(RANKING, asked("molecular biology"), matches(DOCUMENTS))

    assert scores.tolist() == pytest.approx([78_125, 41_666.6667, 62_500])


def test_word_typed_twice_has_twice_the_share_of_the_query() -> None:
    # "biology biology molecular": biology (2/3) / 0.002 = 333.3, molecular (1/3) / 0.001 = 333.3
    # 1: (125 · 333.3 + 250 · 333.3) / 3 = 41,666.7
    scores = scores_of(RANKING, asked("biology biology molecular"), matches(DOCUMENTS))

    assert scores[0] == pytest.approx(41_666.6667)


def test_explanation_names_the_weights_of_each_word() -> None:
    parts = parts_of(RANKING, asked("molecular biology"), matches(DOCUMENTS), 0)

    assert [part.what for part in parts] == ["molecular", "biology"]
    assert parts[0].detail == "weight 250 in the document × 500 in the query / 2"
    assert parts[1].detail == "weight 125 in the document × 250 in the query / 2"
    assert [part.contribution for part in parts] == pytest.approx([62_500, 15_625])


def test_page_of_one_word_wins_over_any_article() -> None:
    """The known weakness of weights that are shares."""
    documents = {1: {"body": "biology " * 50 + "gene " * 50}, 2: {"body": "biology"}}

    article, word = scores_of(RANKING, asked("biology"), matches(documents))

    assert word > article


def test_only_title_and_body_are_the_text_of_a_document() -> None:
    documents = {1: {"anchor": "biology", "words": "biology", "meta": "biology"}, 2: {"body": "biology"}}

    linked, written = scores_of(RANKING, asked("biology"), matches(documents))

    assert linked == 0 < written


def test_query_without_words_weighs_nothing() -> None:
    assert scores_of(RANKING, (), matches(DOCUMENTS)).tolist() == [0, 0, 0]


_terms = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)


@given(st.lists(_terms, min_size=1, max_size=5), _terms)
def test_scores_equal_the_formula_in_exact_fractions(texts: list[list[str]], query: list[str]) -> None:
    reference = {"a": Fraction(1, 10), "b": Fraction(1, 100), "c": Fraction(1, 7), "d": Fraction(3, 1000)}

    def vector(text: list[str]) -> dict[str, Fraction]:
        return {word: Fraction(text.count(word), len(text)) / reference[word] for word in reference}

    expected = [
        float(sum(vector(text)[word] * vector(query)[word] for word in reference) / len(query))
        for text in texts
    ]
    documents = {n: {"title": " ".join(text[:2]), "body": " ".join(text[2:])} for n, text in enumerate(texts)}

    scores = scores_of(
        Peculiarity(lambda word: float(reference[word])), asked(" ".join(query)), matches(documents)
    )

    assert scores.tolist() == pytest.approx(expected)


def test_rare_word_of_the_reference_weighs_more() -> None:
    once, four = np.ones(1), np.full(1, 4.0)

    assert weight(once, four, 0.001) == [250]
    assert weight(once, four, 0.002) == [125]


def test_unseen_word_counts_as_often_as_the_rarest_listed() -> None:
    assert Reference([("cat", 0.002), ("dog", 0.001)]).frequency("genom") == 0.001


def test_english_knows_common_from_rare_and_reckons_numbers() -> None:
    frequency = english().frequency

    assert frequency("year") > frequency("molecular") > frequency("qwxz") > 0
    assert frequency("1994") > frequency("qwxz")


def test_words_of_one_stem_are_summed_in_a_reference() -> None:
    assert Reference([("biology", 0.002), ("biologies", 0.001)]).frequency("biolog") == pytest.approx(0.003)
