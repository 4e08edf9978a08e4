"""Which queries begin like this? Words and phrases of the crawl, titles and anchor texts.

All weigh by how many pages use them or links lead to them, those of one server up to TAPER: what one server
says on all of its pages weighs less than what several say. What a person is typing is looked up by bisection
in the sorted places where a word begins.
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
LONGEST = 100  # characters of what was typed that count
PHRASES = 60_000  # the likeliest
WORDS = 8  # of a phrase
CHARACTERS = 80
DOCUMENTS = 2  # tapered: a word or phrase that fewer have is not suggested
PLAIN = 3e-6  # of general English: the more frequent a word is there, the less it says here
PECULIARITY = 0.6
LINKS = 2_000_000  # of which anchors are read
ANCHOR_SHARE = 0.25  # of the links with an anchor that lead to one page: "next" leads to another from each
ANCHOR_PAGES = 4  # that an anchor may lead to all the same
ANCHOR_CHARACTERS = 200
_ANCHORS = " · "  # parts the anchors that a page has for one target
_SYNTAX = re.compile(r'["“”„«»()\[\]{}*~]|(?<!\S)[-+]+|[:;,.!?]+(?=\s|$)')
_LAST = "\U0010ffff"


class Phrases(NamedTuple):
    """What queries may be, as it is stored."""

    texts: list[str]
    keys: list[str]  # the words of each, lower case
    weights: NDArray[np.float32]  # how likely somebody asks for it: a logarithm to base 2
    places: NDArray[np.int32]  # as `places_of` gives them


class Completions:
    def __init__(self, phrases: Phrases) -> None:
        self._texts, self._keys, self._weights, self._places = phrases

    def of(self, text: str, limit: int) -> list[str]:
        """Return phrases with that text at the start of a word; else with its last word completed."""
        typed = analysis.lower_case(text[:LONGEST])
        key = " ".join(analysis.words(typed))
        if not key:
            return []
        found = self._likely(f"{key} " if typed[-1].isspace() else key, limit)
        before, _, last = key.rpartition(" ")
        if before and not found:
            found = [f"{before} {word}" for word in self._likely(last, limit) if " " not in word]
        return found

    def _likely(self, key: str, limit: int) -> list[str]:
        places = range(len(self._places))
        start = bisect_left(places, key, key=self._rest)
        some = self._places[start : bisect_right(places, key + _LAST, key=self._rest)]
        weights = self._weights[some[:, 0]] + AT_START * (some[:, 1] == 0)
        best, count = np.arange(len(weights)), 6 * limit
        if len(weights) > count:
            best = np.argpartition(-weights, count)[:count]
        found: dict[tuple[str, ...], str] = {}  # by their terms: plural and singular are one
        for place in best[np.argsort(-weights[best], kind="stable")]:
            phrase = int(some[place, 0])
            found.setdefault(tuple(analysis.terms(self._keys[phrase])), self._texts[phrase])
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
    known: dict[str, tuple[float, str]] = {}  # by its words, the largest count of a text
    for text, count in chain(_phrases(collected, english), _titles_and_anchors(collected, catalog)):
        if query := as_query(text):
            key = " ".join(analysis.words(analysis.lower_case(query)))
            known[key] = max(known.get(key, (0.0, "")), (count, query))
            if len(known) > 3 * PHRASES:
                known = dict(_likeliest(known))
    best = _likeliest(known)
    keys = [key for key, _ in best]
    weights = np.log2([1 + count for _, (count, _) in best]).astype(np.float32)
    return Phrases([text for _, (_, text) in best], keys, weights, places_of(keys))


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


def _titles_and_anchors(collected: Collected, catalog: Catalog) -> Iterator[tuple[str, float]]:
    """Yield titles with how many links lead there, and anchors with how many lead to their main target.

    Anchors that lead to many pages are left out.
    """
    texts: dict[str, int] = {}
    rows = np.fromiter(chain.from_iterable(_links(catalog, texts)), np.int64)
    anchors, targets, sources = rows.reshape(-1, 3).T
    servers = collected.server_of[sources - 1]
    _, numbers, counts = _tapered(np.zeros_like(anchors), targets, servers)
    links_to = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    for number, title in collected.titles:
        yield title, float(links_to.get(number, 0))
    anchors, _, counts = _tapered(anchors, targets, servers)
    links = np.bincount(anchors, counts, len(texts))
    pages = np.bincount(anchors, minlength=len(texts))
    best = np.zeros(len(texts))
    np.maximum.at(best, anchors, counts)
    good = (best >= ANCHOR_SHARE * links) | (pages <= ANCHOR_PAGES)
    for text, number in texts.items():
        if good[number]:
            yield text, float(best[number])


def _links(catalog: Catalog, texts: dict[str, int]) -> Iterator[tuple[int, int, int]]:
    """Yield (anchor, target, source) of links; the texts of new anchors are added to `texts`."""
    for source, target, anchor, rel in islice(catalog.links.all(), LINKS):
        if not rel and source != target:
            for text in anchor[:ANCHOR_CHARACTERS].split(_ANCHORS):
                yield texts.setdefault(text, len(texts)), target, source


def as_query(text: str) -> str:
    """Return the text as a person may type it, without syntax of the query language; "" if it is none."""
    query = " ".join(_SYNTAX.sub(" ", text).split())
    if len(query) > CHARACTERS or "/" in query.strip("/") or "_" in query:
        return ""
    words = analysis.words(query)
    tokens = analysis.tokens_of(words)
    says_something = any(len(term) > 1 and not term.isdecimal() for term, _ in tokens)
    return query if len(words) <= WORDS and says_something else ""


def _tapered(
    anchors: NDArray[np.int64], targets: NDArray[np.int64], servers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return each pair of anchor and target once, and its number of links, those of a server up to TAPER."""
    many_targets, many_servers = (int(some.max(initial=0)) + 1 for some in (targets, servers))
    links, counts = np.unique((anchors * many_targets + targets) * many_servers + servers, return_counts=True)
    pairs, places = np.unique(links // many_servers, return_inverse=True)
    sums = np.bincount(places, np.minimum(counts, TAPER), len(pairs)).astype(np.int64)
    return pairs // many_targets, pairs % many_targets, sums
