"""What is known of a form and its site: all of it is told by the catalog, so none of it has to be kept."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from webcrawler.forms._choice import Past, expected_new, past, shown, unseen
from webcrawler.text import lower_case, telling_terms, words

if TYPE_CHECKING:
    from webcrawler.forms._choice import Integers

PATIENCE = 20  # queries in a row that bring nothing new, after which a form is left alone
PAGES = 50_000  # whose words are remembered, about 400 bytes each
FRAME = 0.5  # a word on a larger share of the pages stands around their content, or says nothing
FEW = 20  # pages that cannot tell what stands around
LEAST_CHARACTERS = 2


class Pages:
    """The words of a site's pages, but those of results. May be told the same twice, and in any order."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}  # by page number
        self.words: dict[str, int] = {}
        self._of_rows, self._of_words = array("q"), array("q")

    def add(self, number: int, text: str, language: str = "") -> None:
        if number in self.rows or len(self.rows) == PAGES:
            return
        row = self.rows[number] = len(self.rows)
        for word in _telling(text, language):
            self._of_rows.append(row)
            self._of_words.append(self.words.setdefault(word, len(self.words)))

    @property
    def postings(self) -> tuple[Integers, Integers]:
        """Of each word on each page the page's row, and the word's number."""
        return np.array(self._of_rows, np.int64), np.array(self._of_words, np.int64)


class Evidence:
    """What each query of a form has brought, beside the words of its site. For one thread.

    May be told the same things twice, and in any order.
    """

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._results: dict[str, set[int]] = {}  # page numbers, by the word asked for
        self._numbers: dict[str, int] = {}  # of the first page that showed results for a word
        self._vain: set[str] = set()  # words whose queries brought no page
        self._in_a_row = 0  # of those, since a query brought one

    def add_results(self, number: int, word: str, results: Iterable[int]) -> None:
        """A page of results for a word, by page numbers."""
        self._in_a_row = 0
        self._results.setdefault(word, set()).update(results)
        self._numbers[word] = min(number, self._numbers.get(word, number))

    def add_vain(self, word: str, by_now: bool = True) -> None:
        """A word was asked for, now or by an earlier crawl, and there is no page of results."""
        self._vain.add(word)
        self._in_a_row += by_now

    @property
    def asked(self) -> int:
        """Different words."""
        return len(self._results.keys() | self._vain)

    @property
    def is_exhausted(self) -> bool:
        """Have the latest queries brought nothing new?"""
        new = self.past.new[-PATIENCE:]
        return self._in_a_row >= PATIENCE or (len(new) == PATIENCE and not new.any())

    def next_word(self) -> str:
        """The word that should bring the most new records, of those not asked for; "": there is none."""
        known, (rows, words), told = self._pages, self._pages.postings, self.past
        gains = expected_new(rows, words, self._brought(), unseen(told), shown(told), len(known.words))
        if len(known.rows) >= FEW:
            gains[np.bincount(words, minlength=len(gains)) > FRAME * len(known.rows)] = 0.0
        gains[[known.words[word] for word in self._results.keys() | self._vain if word in known.words]] = 0.0
        best = int(gains.argmax()) if len(gains) else 0
        return list(known.words)[best] if len(gains) and gains[best] > 0 else ""

    @property
    def past(self) -> Past:
        """What the queries have brought so far."""
        pairs = [(self._numbers[word], one) for word, found in self._results.items() for one in (*found, 0)]
        queries, results = np.array(pairs, np.int64).reshape(-1, 2).T
        return past(queries, results)

    def _brought(self) -> Integers:
        rows = self._pages.rows
        counts = np.zeros(len(rows), np.int64)
        for found in self._results.values():
            counts[[rows[number] for number in found if number in rows]] += 1
        return counts


def _telling(text: str, language: str) -> set[str]:
    """The different words of a text that say what it is about, in lower case."""
    spelled = words(text)
    terms = telling_terms(spelled, language)
    return {
        lower
        for word, term in zip(spelled, terms, strict=True)
        if term and len(lower := lower_case(word)) >= LEAST_CHARACTERS and lower.isalnum()
    }
