"""Nearness: pages where the words of a query stand together rise, and those with a name in code as typed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_reading import Fields, asked, matches, parts_of, scores_of
from searched import entry, publish

from webcrawler.records import Link
from webcrawler.search import Searcher
from webcrawler.search.matches import Identifier, adding
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.second_pass import BEST, KINDS, POWER, SLACK, nearness, with_headings
from webcrawler.urls import url_id

FILLERS: dict[int, Fields] = {page: {"body": "cooking with steam"} for page in range(30, 60)}


def bodies(*texts: str) -> dict[int, Fields]:
    return {page: {"body": text} for page, text in enumerate(texts)}


def worth(documents: dict[int, Fields], query: str, kind: int = 0) -> list[float]:
    """What words that stand together add to each page, in multiples of the idf of all words."""
    found, terms = matches({**documents, **FILLERS}), asked(query)
    total = sum(found.idf(term.term) for term in terms)
    added = nearness(terms, found, scores_of(BM25F(), terms, found))[kind].worth / total
    return [round(float(one), 3) for one in added[: len(documents)]]


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("full text", "full text"),
        ("text full", "full text"),
        (f"full{' and' * SLACK} text", "full text"),
        (f"full{' and' * SLACK} and text", "full"),
        (f"full{' and' * 99} text full", "full text"),
        ("full", "full"),
        ("text", "text"),
        ("nothing", ""),
    ],
)
def test_which_words_of_a_query_stand_together(body: str, together: str) -> None:
    documents = bodies(body, "full", "text", "text")
    found = matches({**documents, **FILLERS})

    share = sum(map(found.idf, together.split())) / (found.idf("full") + found.idf("text"))
    assert worth(documents, "full text")[0] == pytest.approx(KINDS[0].weight * share**POWER, abs=0.001)


@pytest.mark.parametrize("field", ["body", "title", "cited", "words"])
def test_words_stand_together_within_one_field(field: str) -> None:
    assert worth({0: {field: "full text"}}, "full text") == [KINDS[0].weight]


def test_words_of_two_fields_do_not_stand_together() -> None:
    together, apart = worth({0: {"title": "full text"}, 1: {"title": "full", "body": "text"}}, "full text")

    assert apart < together


def test_words_together_in_a_heading_count_once_more() -> None:
    documents = bodies("#full# #text#", "full text", "*full* *text*")

    assert worth(documents, "full text", kind=1) == [KINDS[1].weight, 0, 0]


@pytest.mark.parametrize(
    ("starts", "lengths", "expected"),
    [
        ([4], [0], [0, 2, 0, 0]),
        ([3, 20], [1, 6], [2, 2, 0, 2]),
        ([6], [1], [0, 0, 0, 0]),
        ([], [], [0, 0, 0, 0]),
    ],
)
def test_words_in_the_heading_of_a_section_count_as_those_of_a_heading(
    starts: list[int], lengths: list[int], expected: list[int]
) -> None:
    """The memory index has no sections: hits of a section say how many words its heading has, less one."""
    hits = np.array([3, 4, 5, 20]), np.zeros(4, np.int8)
    sections = np.array(starts, np.int64), np.array(lengths, np.int8)

    assert with_headings(hits, sections)[1].tolist() == expected


def test_of_a_query_of_one_word_nothing_stands_together() -> None:
    assert nearness(asked("full"), matches({**bodies("full text"), **FILLERS}), np.ones(31)) == []


def test_a_name_in_code_counts_where_it_stands_and_again_where_the_page_is_called_so() -> None:
    held, named = (np.arange(33) < count for count in (2, 1))
    name = Identifier("read_file", ("read", "file"), held, named)
    found = matches({**bodies(*["read file"] * 3), **FILLERS}, identifiers=[name])
    ranked = adding(BM25F(), nearness)

    defined, used, neither, *_ = scores_of(ranked, asked("read file"), found)

    assert used - neither == pytest.approx(found.idf("read") + found.idf("file"))
    assert defined - used == pytest.approx(used - neither)
    assert "read_file" in [part.what for part in parts_of(ranked, asked("read file"), found, 0)]


def test_only_the_best_pages_are_read() -> None:
    documents = bodies(*["full full full text text"] * BEST, "full text" + " and" * 99)
    found = matches({**documents, **{page + BEST: text for page, text in FILLERS.items()}})
    terms = asked("full text")

    added = nearness(terms, found, scores_of(BM25F(), terms, found))[0].worth

    assert np.flatnonzero(added).tolist() == list(range(BEST))


WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "#a#", "#b#"]), max_size=30).map(" ".join)


def slowly(text: str, words: list[str], shares: dict[str, float]) -> float:
    """The greatest share in any window, looked for one window after the other."""
    found = [word.strip("#") for word in text.split()]
    width = len(words) + SLACK
    windows = [set(found[start : start + width]) for start in range(len(found))]
    return max((sum(shares[word] for word in words if word in window) for window in windows), default=0.0)


@given(st.lists(WORDS, min_size=1, max_size=5), st.sampled_from(["a b", "a b c", "b c a d"]))
def test_shares_are_those_of_looking_at_every_window(texts: list[str], query: str) -> None:
    found, words = matches({**bodies(*texts), **FILLERS}), query.split()
    total = sum(found.idf(word) for word in words)
    shares = {word: found.idf(word) / total for word in words}

    expected = [KINDS[0].weight * slowly(text, words, shares) ** POWER for text in texts]

    assert worth(bodies(*texts), query) == pytest.approx(expected, abs=0.001)


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_the_parts_of_an_explanation_sum_up_to_the_score(texts: list[str]) -> None:
    found = matches({**bodies(*texts), **FILLERS})
    ranked, terms = adding(BM25F(), nearness), asked("a b c")

    scores = scores_of(ranked, terms, found)

    for place in range(len(texts)):
        parts = parts_of(ranked, terms, found, place)
        assert sum(part.contribution for part in parts) == pytest.approx(scores[place])
        assert not any(re.search("nan", part.what) for part in parts)


def test_page_that_a_name_in_code_is_defined_on_comes_before_one_that_repeats_it(tmp_path: Path) -> None:
    mentions = ("http://1.test/news", "News", "read_file read_file read_file is new " * 9)
    defined = ("http://1.test/files", "Files", "read_file returns bytes")
    link = Link("http://1.test/files", url_id("http://1.test/files"), "http://1.test/files", "read_file()")
    publish(tmp_path, [entry(mentions), entry(defined), entry(("http://1.test/", "Home", "home"), link)])

    hits = Searcher(tmp_path, deadline_seconds=60).search("read_file").hits

    assert hits[0].url == "http://1.test/files"
