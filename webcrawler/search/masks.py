"""Which pages satisfy a query: masks over page numbers, from posting lists in arrays."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import ANCHOR_POSITIONS, Reading
from webcrawler.search.positions import Keys, in_order, keys, together
from webcrawler.text import terms
from webcrawler.text.query import (
    MAX_WORDS,
    AllOf,
    AnyOf,
    Link,
    Node,
    Not,
    Nothing,
    Phrase,
    Prefix,
    QueryTerm,
    Site,
    Word,
)

FIELDS = ("title", "anchor", "words", "meta", "body")  # where a plain word may stand
SHORT_FIELDS = ("title", "anchor")  # GO 4.2.7: the short barrels hold title and anchor hits
ENOUGH = 10_000  # pages with all words in those: the full index is not read (GO 4.5 stops at 40,000)
MAX_EXPANSIONS = 100  # terms that a prefix stands for, the most frequent ones; beneath a Not all
PREFIX_WEIGHT = 0.5  # of a prefix, shared among its most frequent terms
WEIGHED = 10  # terms of a prefix that are weighed, of the first prefixes only: MAX_WORDS terms in all

Mask = NDArray[np.bool_]


class Found(NamedTuple):
    mask: Mask  # by page number
    partial: bool  # the deadline came first: some pages may be missing
    short: bool  # only title and anchors were read: there are at least so many
    terms: tuple[QueryTerm, ...]  # words to weigh that prefixes of the query stand for


def match(
    root: Node,
    reading: Reading,
    linking: Callable[[str], NDArray[np.int64]],
    late: Callable[[], bool],
    enough: int = ENOUGH,
) -> Found:
    """Find the pages that satisfy a query.

    Title and anchors come first (GO: short barrels). Pages with all plain words there come first in any
    order, so when those are enough the answer is what title and anchors give.

    Args:
        linking: the page numbers that link to a canonical URL.
        late: whether the deadline has passed; looked at before each posting list. What was read by then
            gives a partial answer, in which no page is that could be excluded.
    """
    matcher = _Matcher(reading, linking, late, SHORT_FIELDS)
    mask, terms = matcher.mask(root), tuple(matcher.terms)
    if matcher.partial or _are_enough(mask, matcher, root, enough):
        return Found(mask, matcher.partial, True, terms)
    matcher = _Matcher(reading, linking, late, FIELDS)
    return Found(mask | matcher.mask(root), matcher.partial, False, tuple(matcher.terms))


def _are_enough(found: Mask, matcher: _Matcher, root: Node, enough: int) -> bool:
    return int(found.sum()) >= enough and int(matcher.mask(_all_words(root)).sum()) >= enough


def _all_words(node: Node) -> Node:
    """The query with all plain words demanded, where some of them would do."""
    if isinstance(node, AllOf):
        return AllOf(tuple(map(_all_words, node.nodes)))
    return AllOf(node.nodes) if isinstance(node, AnyOf) else node


class _Matcher:
    """Evaluates trees over some fields; what is excluded is looked for in all fields."""

    def __init__(
        self,
        reading: Reading,
        linking: Callable[[str], NDArray[np.int64]],
        late: Callable[[], bool],
        fields: tuple[str, ...],
    ) -> None:
        self._reading, self._linking, self._late, self._fields = reading, linking, late, fields
        self._indexed = reading.indexed
        self.partial = False
        self.terms: list[QueryTerm] = []

    def mask(self, node: Node, wanted: bool = True) -> Mask:
        """The pages that satisfy a node. Beneath a Not, it is not wanted: what is unread counts as there."""
        match node:
            case AllOf(nodes):
                return self._all(nodes, wanted)
            case AnyOf(nodes):
                return self._union(self.mask(one, wanted) for one in nodes)
            case Not(inner):
                return self._indexed & ~self.mask(inner, not wanted)
            case Word(term, field):
                return self._union(self._term(one, term, wanted) for one in self._in(field, wanted))
            case Phrase(_, field):
                return self._union(self._phrase(one, node, wanted) for one in self._in(field, wanted))
            case Prefix():
                return self._prefix(node, wanted)
            case Site():
                servers = filter(node.covers, self._reading.servers)
                return self._union(self._term("server", server, wanted) for server in servers)
            case Link(url):
                return self._unread(wanted) if self._stopped() else self._links(url)
            case Nothing():
                return self._pages([])

    def _all(self, nodes: tuple[Node, ...], wanted: bool) -> Mask:
        """Exclusions first; nothing more is read once no page is left."""
        excluded = [node.node for node in nodes if isinstance(node, Not)]
        demanded = [node for node in nodes if not isinstance(node, Not)]
        left = np.ones_like(self._indexed) if demanded else self._indexed.copy()
        for node in excluded:
            left &= ~self.mask(node, not wanted)
        for node in demanded:
            if left.any():
                left &= self.mask(node, wanted)
        return left

    def _union(self, masks: Iterable[Mask]) -> Mask:
        found = self._pages([])
        for mask in masks:
            found |= mask
        return found

    def _pages(self, numbers: Sequence[int] | NDArray[Any]) -> Mask:
        found = np.zeros_like(self._indexed)
        found[numbers] = True
        return found

    def _term(self, field: str, term: str, wanted: bool) -> Mask:
        if self._stopped():
            return self._unread(wanted)
        return self._pages(self._reading.posted(field, term).pages)

    def _phrase(self, field: str, phrase: Phrase, wanted: bool) -> Mask:
        """Only pages with all the words are looked into."""
        places = [place for place, term in enumerate(phrase.terms) if term]
        candidates, occurrences = np.ones_like(self._indexed), list[Keys]()
        for place in places:
            candidates &= self._term(field, phrase.terms[place], wanted)
        for place in places if candidates.any() else ():
            if self._stopped():
                return self._unread(wanted)
            occurrences.append(keys(self._reading.posted(field, phrase.terms[place]), candidates))
        if not occurrences:
            return candidates
        if not phrase.within:
            return self._pages(in_order(occurrences, places))
        # Further apart than an anchor's words can be stand two anchors.
        widest = ANCHOR_POSITIONS // 2 if field == "anchor" else phrase.within
        return self._pages(together(occurrences, min(phrase.within, widest)))

    def _prefix(self, prefix: Prefix, wanted: bool) -> Mask:
        if self._stopped():
            return self._unread(wanted)
        fields = self._in(prefix.field, wanted)
        # What is left out has to go whole; the deadline bounds that.
        expansions = self._expansions(prefix.letters, fields, MAX_EXPANSIONS if wanted else sys.maxsize)
        best = expansions[:WEIGHED] if wanted and len(self.terms) < MAX_WORDS else []
        self.terms += [QueryTerm(term, term, PREFIX_WEIGHT / len(best)) for term in best]
        return self._union(self._term(field, term, wanted) for term in expansions for field in fields)

    def _expansions(self, letters: str, fields: tuple[str, ...], most: int) -> list[str]:
        """The most frequent terms that begin so; also the stem of the letters: biology* finds biology."""
        frequency: Counter[str] = Counter()
        for field in fields:
            frequency.update(dict(self._reading.frequencies(field, letters)))
            stems = (term for term in terms(letters) if not term.startswith(letters))
            frequency.update({term: self._reading.frequency(field, term) for term in stems})
        return nsmallest(most, +frequency, lambda term: (-frequency[term], term))

    def _links(self, url: str) -> Mask:
        numbers = self._linking(url)  # the catalog may be ahead of the index
        return self._pages(numbers[numbers < len(self._indexed)]) & self._indexed

    def _in(self, field: str, wanted: bool) -> tuple[str, ...]:
        return (field,) if field else self._fields if wanted else FIELDS

    def _stopped(self) -> bool:
        self.partial = self.partial or self._late()
        return self.partial

    def _unread(self, wanted: bool) -> Mask:
        return np.full_like(self._indexed, not wanted)
