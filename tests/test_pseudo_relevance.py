"""Pseudo-relevance feedback: words of the best pages are added, and pages vouch for those like them."""

from __future__ import annotations

from math import log1p, sqrt

import numpy as np
import pytest
from memory_reading import Fields, asked, matches, parts_of, scores_of

from webcrawler.search.matches import Matches
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.second_pass import FEWEST_WORDS, PAGES, RANKED, Vectors, with_feedback
from webcrawler.text.query import QueryTerm

ASKED = asked("lift wing slipstream propeller landing speed")
FILLERS: dict[int, Fields] = {page: {"body": "cooking with steam"} for page in range(30, 60)}
PLAIN = BM25F()
FED_BACK = with_feedback(PLAIN)


def documents() -> dict[int, Fields]:
    """Five that answer, all of them with "flap"; one of two others has that word too."""
    answers: dict[int, Fields] = {
        page: {"title": "wing lift", "body": "slipstream propeller landing speed flap flap" + " and" * page}
        for page in range(PAGES)
    }
    two: dict[int, Fields] = {
        10: {"body": "wing flap of sparrows"},
        11: {"body": "wing feathers of sparrows"},
    }
    return {**answers, **two, **FILLERS}


def is_only_ranked(asked: tuple[QueryTerm, ...], found: Matches) -> bool:
    return np.array_equal(scores_of(FED_BACK, asked, found), scores_of(PLAIN, asked, found))


def test_page_with_the_words_of_the_best_pages_rises_and_no_score_falls() -> None:
    found = matches(documents())

    before, after = scores_of(PLAIN, ASKED, found), scores_of(FED_BACK, ASKED, found)

    assert before[PAGES] == pytest.approx(before[PAGES + 1])
    assert after[PAGES] > after[PAGES + 1]
    assert (after >= before).all()


def test_page_that_is_like_others_of_the_best_rises() -> None:
    """Both have one word of the query; the other words of one are those of the pages that have more of it."""
    alike: dict[int, Fields] = {
        page: {"body": f"lift wing slipstream propeller landing biplane aileron {'x' * page}"}
        for page in range(1, 9)
    }
    two: dict[int, Fields] = {20: {"body": "speed biplane aileron"}, 21: {"body": "speed sparrow feather"}}
    found = matches({**alike, **two, **FILLERS})

    before, after = scores_of(PLAIN, ASKED, found), scores_of(FED_BACK, ASKED, found)

    assert before[8] == pytest.approx(before[9])
    assert after[8] > after[9]


def test_only_the_best_pages_gain_by_added_words() -> None:
    """The last one is the worst: it has one word of the query, and one that is added."""
    better: dict[int, Fields] = {
        n: {"body": "wing lift of sparrows"} for n in range(100, 100 + RANKED - PAGES)
    }
    pages = {**documents(), **better, 999: {"body": "speed flap" + " and" * 500}}
    found = matches({page: one for page, one in pages.items() if page not in (10, 11)})

    gained = scores_of(FED_BACK, ASKED, found) - scores_of(PLAIN, ASKED, found)

    assert np.count_nonzero(gained[:PAGES]) == PAGES
    assert gained[-1] == 0


@pytest.mark.parametrize(
    "query",
    [
        ASKED[: FEWEST_WORDS - 1],
        ASKED[:2] * 5,
        ASKED[:2] + tuple(word._replace(added=True) for word in ASKED[2:]),
        ASKED[:2] + tuple(word._replace(telling=0.9) for word in ASKED[2:]),
    ],
    ids=["few words", "words repeated", "words added", "words of general language"],
)
def test_query_that_is_no_sentence_is_only_ranked(query: tuple[QueryTerm, ...]) -> None:
    assert is_only_ranked(query, matches(documents()))


def test_title_of_a_page_is_only_ranked_however_long_it_is() -> None:
    title: dict[int, Fields] = {20: {"title": "speed of landing propeller and slipstream wing lift"}}

    assert is_only_ranked(ASKED, matches({**documents(), **title}))


def test_explanation_names_the_strongest_of_the_added_words_and_the_neighbours() -> None:
    words, neighbours = parts_of(FED_BACK, ASKED, matches(documents()), 0)[-2:]

    assert words.what == "words of the best pages"
    assert "flap" in words.detail
    assert neighbours.what == "similar to the best pages"
    assert words.contribution > 0 < neighbours.contribution


def test_pages_without_any_text_gain_nothing() -> None:
    """The best matches may be pages that were never fetched: only anchors speak of them."""
    found = matches({page: {"anchor": "lift wing slipstream propeller landing"} for page in range(3)})

    assert is_only_ranked(ASKED, found)


def test_cosines_of_texts_are_those_of_their_vectors() -> None:
    # Rarity of a word in two of the texts: ln(1 + 1.5/2.5), in one: ln(1 + 2.5/1.5). All counts weigh alike.
    # a·b = r², |a|² = 2r² and so on, where r and q are the rarities.
    r, q = log1p(1.5 / 2.5), log1p(2.5 / 1.5)
    texts = [{"wing": 1, "flow": 1}, {"wing": 1, "heat": 1}, {"flow": 1, "cook": 1}]

    found = Vectors(texts).likeness(np.arange(3))

    assert np.diag(found) == pytest.approx([1, 1, 1])
    assert found[0, 1] == pytest.approx(r * r / (sqrt(2 * r * r) * sqrt(r * r + q * q)))
    assert found[1, 2] == 0


def test_centre_of_texts_by_hand() -> None:
    # Of two words each: 1 occurrence weighs 1 / (1 + 2), 2 weigh 2 / (2 + 2).
    texts = [{"wing": 2}, {"wing": 1, "flow": 1}]

    centre = Vectors(texts).centre(np.array([3.0, 6.0]), 2)

    assert centre == pytest.approx({"wing": 3 * 2 / 4 + 6 / 3, "flow": 6 / 3})
