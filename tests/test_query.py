"""The query language: what a person may type, and what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.search.query import MAX_CHARACTERS, MAX_WORDS, Clause, Unit, parse


def word(term: str, field: str = "") -> Unit:
    return Unit((term,), field)


QUERIES = [
    # plain words are welcome, each by itself
    ("genome", [Clause("", (word("genom"),))]),
    ("Molecular biology", [Clause("", (word("molecular"),)), Clause("", (word("biolog"),))]),
    # punctuation within a plain token is a space
    ("genome,yeast", [Clause("", (word("genom"), word("yeast")))]),
    # signs
    ("+genome -yeast", [Clause("+", (word("genom"),)), Clause("-", (word("yeast"),))]),
    (
        "genome - yeast",
        [Clause("", (word("genom"),)), Clause("", (word("yeast"),))],
    ),  # a lone sign is nothing
    ("cat -e-mail", [Clause("", (word("cat"),)), Clause("-", (Unit(("e", "mail")),))]),
    # phrases; a stop word keeps its place inside, and goes at the ends
    ('"double helix"', [Clause("", (Unit(("doubl", "helix")),))]),
    ('"the guide to yeast"', [Clause("", (Unit(("guid", "", "yeast")),))]),
    ('+"double helix" dna', [Clause("+", (Unit(("doubl", "helix")),)), Clause("", (word("dna"),))]),
    ('"double helix', [Clause("", (Unit(("doubl", "helix")),))]),  # never closed: to the end
    ('double"helix"', [Clause("", (word("doubl"),)), Clause("", (word("helix"),))]),
    # fields restrict, so they are demanded
    ("title:dna", [Clause("+", (word("dna", "title"),))]),
    ("TITLE:dna", [Clause("+", (word("dna", "title"),))]),
    ("cat -title:dna", [Clause("", (word("cat"),)), Clause("-", (word("dna", "title"),))]),
    ('title:"double helix"', [Clause("+", (Unit(("doubl", "helix"), "title"),))]),
    ("cat site:A.test", [Clause("", (word("cat"),)), Clause("+", (word("a.test", "site"),))]),
    ("cat site:http://a.test/x", [Clause("", (word("cat"),)), Clause("+", (word("a.test", "site"),))]),
    ("cat site:", [Clause("", (word("cat"),)), Clause("", (word("site"),))]),  # a field of nothing is a word
    ("body:cat", [Clause("", (word("bodi"), word("cat")))]),  # there is no such field
    # OR
    ("+cat OR dog", [Clause("+", (word("cat"), word("dog")))]),
    ("+cat OR dog mouse", [Clause("+", (word("cat"), word("dog"))), Clause("", (word("mous"),))]),
    ("OR cat OR", [Clause("", (word("cat"),))]),
    ("cat or dog", [Clause("", (word("cat"),)), Clause("", (word("dog"),))]),
    # stop words say nothing
    ("the cat", [Clause("", (word("cat"),))]),
]


@pytest.mark.parametrize(("text", "clauses"), QUERIES)
def test_query_means_these_clauses(text: str, clauses: list[Clause]) -> None:
    assert list(parse(text).clauses) == clauses


def test_words_to_weigh_are_those_not_excluded_in_the_order_typed_with_repeats() -> None:
    query = parse('+yeast genome -cat title:dna "double helix" site:a.test yeast')

    assert query.words == ("yeast", "genom", "dna", "doubl", "helix", "yeast")


REFUSED = [
    ("", "empty"),
    (" \t\n", "empty"),
    ("the of and", "too common"),
    ("+-!?", "too common"),
    ("-cat", "add a word"),
    ("site:a.test", "add a word"),
    ("link:http://a.test/ cat", "link: is not answered yet"),
    ("x" * (MAX_CHARACTERS + 1), "a query of 2,001 characters is too long: at most 2,000"),
    ("x " * 500_000, "a query of 1,000,000 characters is too long"),
    ("cat " * (MAX_WORDS + 1), "a query of 51 words is too long: at most 50"),
]


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_what_cannot_be_answered_gets_one_clear_line(text: str, line: str) -> None:
    with pytest.raises(BadInput, match=r"^[^\n]{1,120}$") as error:
        parse(text)

    assert line in str(error.value)


@pytest.mark.parametrize("text", ["(" * 1900 + "cat", "a* OR b*", "[a TO z]", "*", "cat~5", "cat^9", "cat\0"])
def test_operators_of_other_languages_are_punctuation(text: str) -> None:
    try:
        query = parse(text)
    except BadInput:
        return

    assert all(not clause.sign for clause in query.clauses)


def test_bytes_that_are_no_utf8_do_not_reach_the_answer() -> None:
    assert parse("cat \udcff").text == "cat ?"


_PIECES = st.sampled_from(
    ['"', "+", "-", "OR", "site:", "title:", "link", "the", "cat", " ", "\0", "é", "日本", "'"]
)


@given(st.text(max_size=200) | st.lists(_PIECES).map("".join))
def test_any_text_is_parsed_or_refused_as_bad_input(text: str) -> None:
    try:
        query = parse(text)
    except BadInput:
        return

    assert query.words
    assert all(unit.terms for clause in query.clauses for unit in clause.units)
