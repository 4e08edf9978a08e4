"""What holds for every ranking."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_reading import asked, matches, parts_of, scores_of

from webcrawler.errors import BadInput
from webcrawler.search.rankings import DEFAULT, RANKINGS, make_ranking
from webcrawler.text.query import QueryTerm
from webcrawler.text.reference import Reference

REFERENCE = Reference([("wing", 0.001), ("flow", 0.002)])
VOCABULARY = ["wing", "flow", "heat", "shear", "plate", "layer", "shock"]

_spelled = st.sampled_from([*VOCABULARY, "Wing", "*flow*", "*Heat*", "other"])
_text = st.lists(_spelled, max_size=12).map(" ".join)
_fields = st.fixed_dictionaries(dict.fromkeys(("title", "body", "words", "meta", "anchor", "cited"), _text))
_documents = st.dictionaries(st.integers(0, 30), _fields, min_size=1, max_size=7)
_query = st.lists(st.sampled_from(VOCABULARY), max_size=9).map(" ".join)
_rank = st.floats(0.01, 1e5)


def test_default_is_one_of_the_rankings() -> None:
    assert DEFAULT in RANKINGS


def test_unknown_ranking_is_bad_input_that_names_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"no ranking is called 'random': choose one of .*peculiarity"):
        make_ranking("random", lambda: REFERENCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKINGS)
@settings(deadline=None)
@given(_documents, _query, _rank, st.booleans())
def test_parts_of_an_explanation_sum_up_to_the_score(
    name: str, documents: dict[int, dict[str, str]], query: str, rank: float, added: bool
) -> None:
    ranking, found = make_ranking(name, lambda: REFERENCE), matches(documents, {max(documents): rank})
    words = asked(query) + ((QueryTerm("other", "others", 0.3, added=True),) if added else ())

    scores = scores_of(ranking, words, found)

    assert scores.shape == found.pages.shape
    assert np.isfinite(scores).all()
    for place, score in enumerate(scores):
        parts = parts_of(ranking, words, found, place)
        assert sum(part.contribution for part in parts) == pytest.approx(score, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", RANKINGS)
def test_no_matches_have_no_scores(name: str) -> None:
    assert scores_of(make_ranking(name, lambda: REFERENCE), asked("wing flow"), matches({})).tolist() == []


@pytest.mark.parametrize("name", RANKINGS)
def test_added_word_weighs_less_than_a_typed_one(name: str) -> None:
    found = matches({1: {"body": "wing other"}, 2: {"body": "flow other"}, 3: {"body": "other"}})
    words = (QueryTerm("wing", "wing"), QueryTerm("flow", "flow", 0.3, added=True))
    equally_common = Reference([("wing", 0.001), ("flow", 0.001)])

    typed, added, neither = scores_of(make_ranking(name, lambda: equally_common), words, found)

    assert typed > added > neither


@pytest.mark.parametrize("name", RANKINGS)
def test_each_row_of_the_table_makes_a_ranking_and_says_what_counts_in_it(name: str) -> None:
    ranking = make_ranking(name, lambda: Reference([("word", 0.1)]))

    assert callable(ranking)
    assert RANKINGS[name].help and "\n" not in RANKINGS[name].help
