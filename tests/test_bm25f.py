"""BM25F: fields combined, then saturated once (Zaragoza et al. 2004), with what names and links add."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_reading import asked, matches, scores_of

from webcrawler.search.matches import HALF
from webcrawler.search.rankings.bm25f import BM25F, FIELDS, IMPORTANCE, K1, K3, NAMES


def test_three_documents_by_hand() -> None:
    # "wing", in 2 of 3 documents: idf = ln(1 + 1.5 / 2.5) = 0.47. Lengths are the mean: they change nothing.
    # 1: title once, body once: x = 2 · 1 + 1 = 3, 3 · 3 / (2 + 3) = 1.8; and in 1 of 3 titles, a name with
    #    idf ln(1 + 2.5 / 1.5) = 0.9808, once in one of mean length: half of that
    # 2: body once: x = 1, 3 · 1 / (2 + 1) = 1
    # PageRank 1 gives everyone 1 / (1 + 3) of the 6 at most, here of the 0.47 that the query is worth.
    documents = {
        1: {"title": "wing theory", "body": "a wing"},
        2: {"title": "flow theory", "body": "wing flow"},
        3: {"title": "heat theory", "body": "heat flow"},
    }

    scores = scores_of(BM25F(), asked("wing"), matches(documents))

    expected = [0.4700 * 2.05 + 0.9808 / 2, 0.4700 * 1.25, 0.4700 * 0.25]
    assert scores.tolist() == pytest.approx(expected, abs=1e-4)


def test_long_text_counts_less_than_a_short_one_with_the_same_words() -> None:
    documents = {1: {"body": "wing " + "flow " * 50}, 2: {"body": "wing flow"}}

    long, short = scores_of(BM25F(), asked("wing"), matches(documents))

    assert short > long


def test_words_of_other_servers_beat_a_page_that_says_the_word_of_itself() -> None:
    documents = {
        1: {"title": "wing", "body": "flow"},
        2: {"title": "wing", "body": "flow", "anchor": "wing", "cited": "wing"},
    }

    itself, others = scores_of(BM25F(), asked("wing"), matches(documents))

    assert others > itself


def test_page_that_is_called_what_was_asked_beats_one_that_says_it_often() -> None:
    """The page named string is wanted for it, not the table of contents that all link to."""
    documents = {
        1: {"title": "string common operations", "body": "string " * 5 + "text " * 100},
        2: {"title": "all of the contents", "body": "string " * 300 + "text " * 700},
    } | {page: {"title": "another part of them", "body": "a string"} for page in range(3, 9)}

    named, often, *others = scores_of(BM25F(), asked("string"), matches(documents, {2: 100.0}))

    assert named > often > max(others)


def test_title_with_more_words_than_were_asked_calls_the_page_less_so() -> None:
    documents = {
        1: {"title": "create view"},
        2: {"title": "create view statement of others"},
        3: {"body": "x"},
    }

    exact, longer, _ = scores_of(BM25F(), asked("create view"), matches(documents))

    assert exact > longer


def test_title_that_says_a_word_twice_calls_the_page_it_once() -> None:
    documents = {1: {"title": "wing wing"}, 2: {"title": "wing flow"}, 3: {"title": "heat flow"}}
    by_names = BM25F(fields={}, importance=0)

    twice, once, _ = scores_of(by_names, asked("wing"), matches(documents))

    assert twice == once


def test_links_do_not_outvote_words_that_tell_little() -> None:
    """Importance adds less to a query of a word that nearly every page has."""
    documents = {page: {"body": "wing"} for page in range(1, 100)} | {100: {"body": "slipstream"}}
    found = matches(documents, {1: 1e6})

    common, rare = (
        scores_of(BM25F(fields={}), asked(query), found)[0]
        for query in ("wing", "slipstream and all that it draws")
    )

    assert common < 0.02
    assert rare == pytest.approx(IMPORTANCE, rel=1e-4)


def test_word_that_is_repeated_in_the_query_weighs_more_ever_less() -> None:
    once, twice, thrice = (BM25F().query_weights(asked("wing " * times))["wing"] for times in (1, 2, 3))

    assert once == 1
    assert 0 < thrice - twice < twice - once


def test_importance_levels_off() -> None:
    """A page that all the web links to is not first for words that it does not say."""
    documents = {1: {"body": "wing"}, 2: {"title": "wing of a bird", "body": "wing wing bird"}} | {
        page: {"body": "flow"} for page in range(3, 12)
    }

    famous, fitting, *_ = scores_of(BM25F(), asked("wing bird"), matches(documents, {1: 1e6}))

    assert fitting > famous


_words = st.lists(st.sampled_from(["wing", "flow", "heat"]), max_size=8).map(" ".join)
_documents = st.dictionaries(
    st.integers(0, 20),
    st.fixed_dictionaries(dict.fromkeys((*FIELDS, "cited"), _words)),
    min_size=1,
    max_size=6,
)


def reference(
    documents: Mapping[int, Mapping[str, str]], query: list[str], ranks: Mapping[int, float], page: int
) -> float:
    """The formula of the docs once more, a page and a word at a time."""

    def normalised(name: str, word: str, b: float, most: float = inf) -> float:
        lengths = [len(fields[name].split()) for fields in documents.values() if fields[name]]
        words = documents[page][name].split()
        mean = sum(lengths) / len(lengths) if lengths else 1
        return min(words.count(word), most) / (1 - b + b * len(words) / mean) if words else 0

    def rarity_of(word: str, fields: tuple[str, ...]) -> float:
        holding = sum(word in " ".join(d[name] for name in fields).split() for d in documents.values()) or 1
        return log1p((len(documents) - holding + 0.5) / (holding + 0.5))

    def query_weight(word: str) -> float:
        times = query.count(word)
        return times * (K3 + 1) / (K3 + times)

    texts = ("title", "body", "part")
    weights = {word: query_weight(word) * rarity_of(word, texts) for word in set(query)}
    total = sum(weights.values())
    rank = ranks.get(page, 1.0)
    score = (min(IMPORTANCE, total) if query else IMPORTANCE) * rank / (rank + HALF)
    for word, weight in weights.items():
        x = sum(field.weight * normalised(name, word, field.b) for name, field in FIELDS.items())
        score += weight * (K1 + 1) * x / (K1 + x)
        for name, of in NAMES.items():
            held = sum(weights[other] for other in weights if other in documents[page][name].split())
            c = normalised(name, word, of.b, of.most)
            score += of.weight * held / total * query_weight(word) * rarity_of(word, (name,)) * c / (1 + c)
    return score


@given(
    _documents, st.lists(st.sampled_from(["wing", "flow", "heat", "none"]), max_size=5), st.floats(0.1, 1e4)
)
def test_scores_equal_the_formula_written_out(
    documents: dict[int, dict[str, str]], query: list[str], rank: float
) -> None:
    ranks = {min(documents): rank}

    scores = scores_of(BM25F(), asked(" ".join(query)), matches(documents, ranks))

    expected = [reference(documents, query, ranks, page) for page in sorted(documents)]
    assert scores.tolist() == pytest.approx(expected, rel=1e-5)
