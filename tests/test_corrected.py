"""Misspelled queries: which are answered in better spellings at once, and which are only offered them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.search.corrections import Corrected, corrected
from webcrawler.search.vocabulary import Vocabulary
from webcrawler.search.vocabulary.completions import Phrases, places_of
from webcrawler.search.vocabulary.stored import Lists, Words
from webcrawler.search.vocabulary.thesaurus import Thesaurus
from webcrawler.text import terms
from webcrawler.text.query import parse

NONE = np.zeros(0, np.int32)


def vocabulary(documents: dict[str, int]) -> Vocabulary:
    words = sorted(documents)
    counts = np.array([documents[word] for word in words], np.int32)
    known = Words(words, counts, np.zeros(len(words), np.bool_))
    empty = Thesaurus([], [], np.zeros(1, np.int32), NONE, NONE.astype(np.float32))
    return Vocabulary(Lists(known, empty, Phrases([], [], NONE.astype(np.float32), places_of([]))), 0)


# How many pages have these words together; a query of them finds the pages of its smallest group.
TOGETHER = {
    "python csv": 400,
    "python": 2_000,
    "csv": 500,
    "flask blueprint": 20,
    "fltk": 500,
    "langaug": 2,
    "languag python": 900,
    "languag": 3_000,
    "tokyo": 6,
    "sqlite": 700,
    "parser": 60,
    "pars": 50,
    "flask": 60,
    "encrypt": 300,
}
CRAWL = vocabulary(
    {"python": 2_000, "flask": 40, "fltk": 500, "language": 3_000, "langauge": 2, "tokyo": 6, "sqlite": 700}
    | {"parser": 60, "parsed": 50, "encryption": 300, "blueprint": 20, "csv": 500}
)


def together(query: str) -> int:
    wanted = {word for group in TOGETHER for word in group.split()} & set(terms(query))
    return max((n for group, n in TOGETHER.items() if wanted and wanted <= set(group.split())), default=0)


def asked(text: str, found: Callable[[str], int] = together) -> Corrected:
    return corrected(parse(text), CRAWL, found)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pyhton csv", "python csv"),
        ("How do I read csv in Pyhton?", "How do I read csv in python?"),
        ("sqllite", "sqlite"),
        ("flsk blueprint", "flask blueprint"),  # not fltk, which more pages have: none with blueprints
        ("langauge python", "language python"),  # two pages have the typo, none of them python
        ("encripton", "encryption"),  # two edits of a long word
        ("pyhton pyhton csv", "python python csv"),
        ("pyhton langauge", "python language"),
        ("pyhton zzzzzz", "python zzzzzz"),  # no page has zzzzzz anyway
    ],
)
def test_what_was_meant_is_certain(typed: str, meant: str) -> None:
    assert asked(typed) == Corrected(meant, True)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        # typed on purpose
        ('"pyhton" csv', '"python" csv'),
        ("+pyhton csv", "+python csv"),
        ("title:pyhton csv", ""),
        ("pyhton_csv", ""),
        ("pyhton AND csv", "python AND csv"),
        ('pyhton -"pyhton csv"', 'python -"python csv"'),  # in one place out of two
        # no evidence
        ("pyhton blueprint", "python blueprint"),  # no page has both
        ("flsk", "fltk"),  # flask is as likely
        ("parsec", "parser"),  # parsed as well
        ("rusqlite", "sqlite"),  # two edits, and of the beginning
        ("tokio", "tokyo"),  # short, and in few pages
        ("langauge sqlite", "language sqlite"),
        ("pyhton sqllite langauge encripton", "python sqlite language encryption"),  # another language?
        ("python csv", ""),
        ("", ""),
    ],
)
def test_what_may_have_been_meant_is_only_offered(typed: str, offered: str) -> None:
    assert asked(typed)._replace(certain=False) == Corrected(offered)
    assert not asked(typed).certain


def test_a_word_of_some_pages_needs_a_hundred_times_as_many_for_its_correction() -> None:
    assert asked("langauge", lambda text: 200 if "language" in text else 2) == Corrected("language")
    assert asked("langauge", lambda text: 201 if "language" in text else 2) == Corrected("language", True)


def test_a_correction_that_no_page_has_any_more_is_only_offered() -> None:
    assert asked("pyhton csv", lambda text: 500 * ("csv" in text)) == Corrected("python csv")


def test_without_a_vocabulary_nothing_is_corrected() -> None:
    assert corrected(parse("pyhton"), None, together) == Corrected("")


@given(st.text(max_size=60))
def test_quoted_words_and_those_with_a_sign_are_never_answered_in_other_spellings(text: str) -> None:
    quoted = text.replace('"', "")

    for query in (f'"pyhton {quoted}"', f'python "{quoted} langauge"', "+pyhton", "cat -pyhton"):
        assert not asked(query, lambda text: 1_000).certain
