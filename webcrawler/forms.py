"""Which word is worth asking a search form next? No link leads to the records behind it (SV).

`Form` is one search form, and knows its queries among URLs. `Pages` has the words of a site, `Evidence` what
the queries of a form have brought; it chooses the next word, by the rule of `expected_new`.
All is told by the catalog, so nothing of it is stored.

Source: Ntoulas, Zerfos and Cho 2005, "Downloading Textual Hidden Web Content Through Keyword Queries": the
adaptive policy, for sites that show a limited number of results.
Departs from their estimates: records that many queries have brought are not like those that none has brought.
A word's share of the unseen records is that among the records seen, where one that n queries have brought
counts REPEATED^(n - 1): nearly the records that were brought once, by which Good 1953, "The Population
Frequencies of Species", estimates what is unseen.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import parse_qsl, quote_plus

import numpy as np

from webcrawler.records import FORM, Link
from webcrawler.text import lower_case, telling_terms, words
from webcrawler.urls import outlink, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]


class Form(NamedTuple):
    """A search form that sends its words by GET. One program and one text field are one form."""

    blank: (
        str  # canonical URL of the query for nothing; it ends with the text field: "http://a.example/find?q="
    )
    program: str  # "http://a.example/find"
    field: str  # name of the text field

    @classmethod
    def read(cls, blank: str) -> Self | None:
        """The form that asks for this URL when nothing is typed in; None: its text field is not the last."""
        program, _, query = blank.partition("?")
        fields = parse_qsl(query, keep_blank_values=True)
        return cls(blank, program, fields[-1][0]) if fields and not fields[-1][1] else None

    @property
    def server(self) -> str:
        return split(self.program)[0]

    @property
    def key(self) -> tuple[str, str]:
        """What makes it this form: others may differ in hidden fields, as pages say where one comes from."""
        return self.program, self.field

    def query(self, word: str) -> Link:
        """The link to the first page of results for a word. Words are sent as UTF-8."""
        target = outlink(self.blank + quote_plus(word), self.blank)
        return Link(target.url, target.id, target.spelling, rel=FORM, refused=target.refused)

    def word_of(self, url: str) -> str | None:
        """The word for which a canonical URL shows results, on any page of them; None: it is no query."""
        program, mark, query = url.partition("?")
        if not mark or program != self.program:
            return None
        return dict(parse_qsl(query, keep_blank_values=True)).get(self.field)


REPEATED = 0.2
LATEST = 20  # queries by which the unseen records are estimated: early ones were of the most frequent words
FIRST_GUESS = 10  # unseen records to a seen one, while no query has brought anything twice


class Past(NamedTuple):
    """What queries have brought, in their order. What was seen before the first is not hidden."""

    results: Integers  # of each query, different ones
    hidden: Integers  # of them those that were not seen before the first query
    new: Integers  # of those, the ones that no earlier query had brought
    before: Integers  # how many hidden records were seen before each query


def past(queries: Integers, results: Integers) -> Past:
    """Tell new results from old ones, whatever order they are given in.

    Args:
        queries: of each result, the query that has brought it, by the number of its page.
        results: page numbers; 0 is none, for queries without results. Numbers grow in the order of discovery,
            so what a query has brought to light has a higher one than the query.
    """
    pairs = np.unique(np.column_stack((queries, results)), axis=0).reshape(-1, 2)
    names, query = np.unique(pairs[:, 0], return_inverse=True)
    record, count = pairs[:, 1], len(names)
    is_hidden = record > (names[0] if count else 0)
    first = np.zeros(len(record), bool)
    first[np.unique(record, return_index=True)[1]] = True  # pairs are in the order of their queries
    is_new = first & (record > pairs[:, 0])
    total, hidden, new = (
        np.bincount(query[which], minlength=count) for which in (record > 0, is_hidden, is_new)
    )
    return Past(total, hidden, new, np.cumsum(new) - new)


def unseen(told: Past) -> float:
    """Estimate how many records are still hidden, by how many results of the latest queries were known.

    Source: the method of capture and recapture (Lincoln and Petersen), each query being a catch.
    """
    hidden, new, before = (part[-LATEST:] for part in told[1:])
    seen, known = float(told.new.sum()), float((hidden - new).sum())
    if not known:
        return FIRST_GUESS * (seen + 1)
    return max(1.0, float((hidden * before).sum()) / known - seen)


def shown(told: Past) -> float:
    """The most results that the site shows of a query: the highest number, if it came twice; else any."""
    most = told.results.max(initial=0)
    return float(most) if most and (told.results == most).sum() > 1 else np.inf


def expected_new(
    rows: Integers, words: Integers, brought: Integers, hidden: float, most: float = np.inf, count: int = 0
) -> Floats:
    """Return for each word how many new records a query for it should bring.

    About 10 ns for each word of each page.

    Args:
        rows, words: one of each pair says that this page has this word.
        brought: by how many queries each page was brought.
        hidden: records that nobody has seen.
        most: results that the site shows of a query.
        count: of words; 0: up to the highest.
    """
    weights = REPEATED ** np.maximum(brought - 1, 0.0)
    frequency = np.bincount(words, minlength=count)
    share = np.bincount(words, weights=weights[rows], minlength=count) / max(weights.sum(), 1e-300)
    new = hidden * share
    return np.asarray(new * np.minimum(1.0, most / np.maximum(frequency + new, 1e-300)), np.float64)


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
