"""How much is a page about a query?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.orderings.topic import Wanted, asked_for, page_score
from webcrawler.records import Text

WANTED = Wanted.of("garbage collection")


def page(title: str = "", body: str = "", headings: str = "") -> Text:
    return Text(title, headings, "", "", body)


def test_shares_of_the_words_sum_to_one_and_the_rarer_word_counts_more() -> None:
    assert sum(WANTED.shares.values()) == pytest.approx(1)
    assert WANTED.shares["garbag"] > WANTED.shares["collect"]


@pytest.mark.parametrize(
    "query, stems, phrase",
    [
        ("Collecting garbage, collections", ["collect", "garbag"], ("collect", "garbag", "collect")),
        ("java -coffee", ["java"], ("java",)),
        ("+java -coffee -bean", ["java"], ("java",)),
        ("site:example.org quokka", ["quokka"], ("quokka",)),
        ("title:quokka", ["quokka"], ("quokka",)),
        ("(jaguar OR puma) NOT car", ["jaguar", "puma"], ("jaguar", "puma")),
        ("jaguar OR puma", ["jaguar", "puma"], ("jaguar", "puma")),
        ('"end of file"', ["end", "file"], ("end", "", "file")),
        ("e-mail", ["e", "mail"], ("e", "mail")),
    ],
)
def test_words_that_the_query_language_asks_for_count_alone_stemmed_as_in_the_index(
    query: str, stems: list[str], phrase: tuple[str, ...]
) -> None:
    wanted = Wanted.of(query)

    assert (list(wanted.shares), wanted.phrase) == (stems, phrase)
    assert Wanted.of(asked_for(query)) == wanted


NO_WORD = [
    "",
    "  ",
    "the of and",
    "?!",
    "the",
    "-coffee",
    "site:example.org",
    "link:example.org",
    "NOT coffee",
]


@pytest.mark.parametrize("query", NO_WORD)
def test_query_that_asks_for_no_word_is_refused_as_it_was_typed(query: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"the query '{query}' has no word to look for")):
        Wanted.of(query)


def test_title_with_all_words_and_a_word_joined_are_worth_the_same() -> None:
    wanted = Wanted.of("virtual host")

    assert page_score(wanted, page("Virtual Hosts")) == page_score(wanted, page("The host, virtual"))
    assert page_score(wanted, page("VirtualHost")) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (page("Weather", "Rain is expected"), 0),
        # 8 times the phrase: p = 8, each word 8 times: s = 8/18; nothing in the title
        (page("Manual", "garbage collection. " * 8), 1 - (1 - 8 / 16) * (1 - 0.8 * (8 / 18) ** 2)),
        (page("Garbage collection"), 1 - 0.1 * 0.5),  # all words in the title: t = 1, w = 1
        (page(headings="Garbage collection\nMore"), 1 - 0.1 * 0.5),  # without a title: the first heading
    ],
)
def test_scores_worked_by_hand(text: Text, score: float) -> None:
    assert page_score(WANTED, text) == pytest.approx(score)


def test_phrase_needs_its_words_side_by_side_and_in_order() -> None:
    together = page_score(WANTED, page(body="garbage collection"))
    apart = page_score(WANTED, page(body="collection of garbage"))

    assert together > apart > 0


def test_stop_word_within_the_phrase_keeps_its_place() -> None:
    wanted = Wanted.of("end of file")

    assert page_score(wanted, page(body="end of file")) > page_score(wanted, page(body="end file"))


def test_words_of_the_thesaurus_count_less_than_those_of_the_query() -> None:
    wanted = Wanted.of("garbage", also=["rubbish", "the"])

    own = page_score(wanted, page(body="garbage " * 9))
    added = page_score(wanted, page(body="rubbish " * 9))

    assert own > added > 0


@given(st.text(), st.text(), st.sampled_from(["garbage", "virtual host", "a b c d", "x x x"]))
def test_score_is_a_share_whatever_the_text(title: str, body: str, query: str) -> None:
    assert 0 <= page_score(Wanted.of(query, ["also"]), page(title, f"{body} {query}")) <= 1


@given(st.integers(0, 30))
def test_saying_it_once_more_never_lowers_the_score(times: int) -> None:
    once_more = page_score(WANTED, page(body="garbage collection. " * (times + 1)))

    assert once_more > page_score(WANTED, page(body="garbage collection. " * times))
