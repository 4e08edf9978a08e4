"""Which queries begin like this? Words and phrases of the crawl, names in code, titles and headings.

All weigh by how many pages use them or links lead to them, those of one server up to TAPER: what one server
says on all of its pages weighs less than what several say. Texts of links are not among them: nobody types
"click here". What a person is typing is looked up by bisection in the sorted places where a word begins.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.search.vocabulary.documents import TAPER, Collected
from webcrawler.text import analysis

AT_START = 2.0  # what a phrase that begins so weighs more than one that has it further on
LITERAL = 3  # times as many are looked at for those that have what was typed letter by letter: "a_b"
LONGEST_KEY = 1_000  # no key has as many characters
LONGEST = 100  # characters of what was typed that count
PHRASES = 60_000  # the likeliest
WORDS = 8  # of a phrase
CHARACTERS = 80
DOCUMENTS = 2  # tapered: a word or phrase that fewer have is not suggested
PLAIN = 3e-6  # of general English: the more frequent a word is there, the less it says here
PECULIARITY = 0.6
LINKS = 2_000_000  # that are read
HEADING = 0.5  # documents that it counts as
# "git-rebase(1)", "Write-Ahead Logging (WAL)"; "Chapter 30. Reliability", "20.5. Write-Ahead Log"
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_NUMBERED = re.compile(r"(?i)^(?:(?:chapter|section|part|appendix)\s+\w{1,5}[.:]?|\d+(?:\.\d+)*[.:]?)\s+")
_SYNTAX = re.compile(r'["“”„«»()\[\]{}*~]|(?<!\S)[-+]+|[:;,.!?]+(?=\s|$)')
_EDGES = re.compile(r"^[^\w.]+|[^\w+#]+$")  # "¶"
_CODE = re.compile(r"_|::|->").search
_LAST = "\U0010ffff"


class Phrases(NamedTuple):
    """What queries may be, as it is stored."""

    texts: list[str]
    keys: list[str]  # the words of each, lower case, without accents
    weights: NDArray[np.float32]  # how likely somebody asks for it: a logarithm to base 2
    places: NDArray[np.int32]  # as `places_of` gives them


class Completions:
    def __init__(self, phrases: Phrases) -> None:
        self._texts, self._keys, self._weights, self._places = phrases

    def of(self, text: str, limit: int = 8) -> list[str]:
        """Return phrases with that text at the start of a word; else with all of its words."""
        typed = analysis.lower_case(text[:LONGEST])
        key = _key(typed)
        if not key:
            return []
        if typed[-1] == "_" or not analysis.is_word_character(typed[-1]):
            key += " "
        found = self._likely(self._beginning(key), LITERAL * limit)
        if not found and " " in key.strip():
            found = self._likely(self._together(key), LITERAL * limit)
        literally = typed.strip().replace("-", " ")
        return sorted(found, key=lambda text: literally not in text.lower().replace("-", " "))[:limit]

    def _beginning(self, key: str) -> NDArray[np.int32]:
        """Return the places where a phrase goes on like that."""
        return self._between(key, key + _LAST)

    def _between(self, first: str, last: str) -> NDArray[np.int32]:
        places = range(len(self._places))
        start = bisect_left(places, first, key=self._rest)
        return self._places[start : bisect_right(places, last, key=self._rest)]

    def _together(self, key: str) -> NDArray[np.int32]:
        """Return the places of the last word in phrases that have the others before it or behind."""
        *others, last = key.split()
        found = self._beginning(f"{last} " if key.endswith(" ") else last)
        for word in others:
            other = self._between(word, f"{word} {_LAST}")
            is_same = np.isin(found @ (LONGEST_KEY, 1), other @ (LONGEST_KEY, 1))
            found = found[np.isin(found[:, 0], other[:, 0]) & ~is_same]
        return found

    def _likely(self, some: NDArray[np.int32], limit: int) -> list[str]:
        weights = self._weights[some[:, 0]] + AT_START * (some[:, 1] == 0)
        best, count = np.arange(len(weights)), 6 * limit
        if len(weights) > count:
            best = np.argpartition(-weights, count)[:count]
        found: dict[tuple[object, ...], str] = {}  # by their terms: plural and singular are one
        for place in best[np.argsort(-weights[best], kind="stable")]:
            phrase = int(some[place, 0])
            text = self._texts[phrase]
            found.setdefault((bool(_CODE(text)), *analysis.terms(self._keys[phrase])), text)
            if len(found) == limit:
                break
        return list(found.values())

    def _rest(self, place: int) -> str:
        phrase, start = self._places[place].tolist()
        rest: str = self._keys[phrase][start:]
        return rest


def places_of(keys: Sequence[str]) -> NDArray[np.int32]:
    """Return each phrase with each character where a word of it begins, sorted by what follows there.

    Shape (places, 2).
    """
    places = [
        (phrase, start)
        for phrase, key in enumerate(keys)
        for start in range(len(key))
        if start == 0 or key[start - 1] == " "
    ]
    places.sort(key=lambda place: keys[place[0]][place[1] :])
    return np.array(places, np.int32).reshape(-1, 2)


def suggested(collected: Collected, english: Mapping[str, float], catalog: Catalog) -> Phrases:
    """Return the likeliest queries; `english` has the share of each word in general English."""
    known: dict[str, tuple[float, str]] = {}  # by its words, or as a name in code; the largest count
    names = ((name, float(count)) for name, count in collected.names.items() if count >= DOCUMENTS)
    for text, count in chain(_phrases(collected, english), _titles(collected, catalog), names):
        if query := as_query(text):
            key = query if _CODE(query) else _key(query)
            before, spelled = known.get(key, (0.0, query))
            # mostly written like that: virDomainCreate, not sQLite
            known[key] = max(before, count), query if 2 * count >= before else spelled
            if len(known) > 3 * PHRASES:
                known = dict(_likeliest(known))
    best = [one for _, one in _likeliest(known)]
    keys = [_key(query) for _, query in best]
    weights = np.log2([1 + count for count, _ in best]).astype(np.float32)
    return Phrases([query for _, query in best], keys, weights, places_of(keys))


def _key(query: str) -> str:
    return " ".join(analysis.words(analysis.unaccented(analysis.lower_case(query))))


def _likeliest(known: Mapping[str, tuple[float, str]]) -> list[tuple[str, tuple[float, str]]]:
    return sorted(known.items(), key=lambda one: (-one[1][0], one[0]))[:PHRASES]


def _phrases(collected: Collected, english: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield words and phrases, with how many documents have them; words of general English count less."""
    plain = defaultdict[str, float](float)
    for (stem, _), share in zip(analysis.tokens_of(english), english.values(), strict=True):
        plain[stem] += share
    tokens = analysis.tokens_of(collected.numbers)
    for word, (stem, _), count in zip(collected.numbers, tokens, collected.tapered, strict=True):
        if count >= DOCUMENTS and word.isalpha():
            yield word, count * min(1.0, PLAIN / plain.get(stem, PLAIN)) ** PECULIARITY
    for phrase, often in collected.phrases.items():
        if often >= DOCUMENTS:
            yield phrase, often


def _titles(collected: Collected, catalog: Catalog) -> Iterator[tuple[str, float]]:
    """Yield titles with how many links lead there, and headings."""
    links = np.fromiter(chain.from_iterable(_links(catalog)), np.int64).reshape(-1, 2)
    links = links[links[:, 1] <= len(collected.server_of)]  # a crawl may have added pages meanwhile
    numbers, counts = _tapered(links[:, 0], collected.server_of[links[:, 1] - 1])
    links_to = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    for number, title in collected.titles:
        yield title, 1.0 + links_to.get(number, 0)
    for head in collected.heads:
        yield head, HEADING


def _links(catalog: Catalog) -> Iterator[tuple[int, int]]:
    """Yield (target, source) of links."""
    for source, target, _, rel in islice(catalog.links.all(), LINKS):
        if not rel and source != target:
            yield target, source


def as_query(text: str) -> str:
    """Return the text as a person may type it, without syntax of the query language; "" if it is none."""
    query = _EDGES.sub(
        "", " ".join(_SYNTAX.sub(" ", _NUMBERED.sub("", _ASIDE.sub("", text.strip()))).split())
    )
    if (
        len(query) > CHARACTERS
        or "/" in query.strip("/")
        or (" " in query and ("_" in query or "::" in query))
    ):
        return ""
    words = analysis.words(query)
    tokens = analysis.tokens_of(words)
    says_something = any(len(term) > 1 and not term.isdecimal() for term, _ in tokens)
    return query if len(words) <= WORDS and says_something else ""


def _tapered(
    targets: NDArray[np.int64], servers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each target once, and its number of links, those of a server up to TAPER."""
    many = int(servers.max(initial=0)) + 1
    links, counts = np.unique(targets * many + servers, return_counts=True)
    numbers, places = np.unique(links // many, return_inverse=True)
    return numbers, np.bincount(places, np.minimum(counts, TAPER), len(numbers)).astype(np.int64)
