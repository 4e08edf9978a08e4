"""Which pages satisfy a query: masks over page numbers, made of posting lists."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler import clock
from webcrawler.index import ANCHOR_POSITIONS, Posted, Reading
from webcrawler.text import analysed
from webcrawler.text.query import MAX_WORDS, QueryTerm, nodes

FIELDS = ("title", "anchor", "words", "meta", "body", "around")  # where a word may stand
PART = "part"  # has parts of words: of compounds
SHORT_FIELDS = ("title", "anchor")  # GO 4.2.7: the short barrels hold title and anchor hits
ENOUGH = 10_000  # pages with all words in those: the other fields are not read (GO 4.5 stops at 40,000)
MAX_EXPANSIONS = 100  # terms that a prefix stands for, the most frequent ones; within a Not all
PREFIX_WEIGHT = 0.5  # of a prefix, shared among its most frequent terms
WEIGHED = 10  # terms of a prefix that count for relevance, as long as there are not MAX_WORDS of them

PAGE = 1 << 30  # above any position (28 bits) and any distance
FAR = np.iinfo(np.int64).max

Mask = NDArray[np.bool_]
Integers = NDArray[np.int64]
Keys = NDArray[np.int64]  # where words stand: page number times PAGE + position, ascending


class Matched(NamedTuple):
    mask: Mask  # by page number
    partial: bool  # the deadline came first: some pages may be missing
    short: bool  # only title and anchors were read: there are at least so many
    terms: tuple[QueryTerm, ...]  # for which prefixes of the query stand


def match(
    root: nodes.Node,
    reading: Reading,
    linking: Callable[[str], NDArray[np.int64]],
    late: Callable[[], bool],
    enough: int = ENOUGH,
    changed: Callable[[], NDArray[np.float64]] = lambda: np.zeros(0),
) -> Matched:
    """Find the pages that satisfy a query.

    Pages with all plain words in title or anchors rank first in any order. Where there are enough of those,
    the answer is what title and anchors give (GO: short barrels).

    Args:
        linking: gives the numbers of the pages that link to a canonical URL.
        late: tells whether the deadline has passed; called before each posting list. What was read by then
            gives a partial answer, without any page that the rest of the query might exclude.
        changed: gives by page number when each page last changed, 0 where that is not known.
    """
    matcher = _Matcher(reading, linking, late, SHORT_FIELDS, changed)
    mask, terms = matcher.mask(root), tuple(matcher.terms)

    def is_enough(found: Mask) -> bool:
        return int((found & reading.indexed).sum()) >= enough

    if matcher.partial or (is_enough(mask) and is_enough(matcher.mask(all_words(root)))):
        return Matched(mask, matcher.partial, True, terms)
    matcher = _Matcher(reading, linking, late, (*FIELDS, PART), changed)
    return Matched(mask | matcher.mask(root), matcher.partial, False, tuple(matcher.terms))


def all_words(node: nodes.Node, known: Callable[[nodes.Word], bool] = lambda word: True) -> nodes.Node:
    """Return the query with all plain words demanded, where some of them would do; only those known."""
    if isinstance(node, nodes.AllOf):
        return nodes.AllOf(tuple(all_words(one, known) for one in node.nodes))
    some = node.nodes if isinstance(node, nodes.AnyOf) else (node,)
    return nodes.all_of(one for one in some if not isinstance(one, nodes.Word) or known(one))


class _Matcher:
    """Evaluates trees over some fields; exclusions are looked up in all FIELDS, and phrases never in PART."""

    def __init__(
        self,
        reading: Reading,
        linking: Callable[[str], NDArray[np.int64]],
        late: Callable[[], bool],
        fields: tuple[str, ...],
        changed: Callable[[], NDArray[np.float64]],
    ) -> None:
        self._changed = changed
        self._reading, self._linking, self._late, self._fields = reading, linking, late, fields
        self._indexed = reading.indexed
        self.partial = False
        self.terms: list[QueryTerm] = []

    def mask(self, node: nodes.Node, wanted: bool = True) -> Mask:
        """Return the pages that satisfy a node; under a Not (not `wanted`), unread lists have all pages."""
        match node:
            case nodes.AllOf(parts):
                return self._all(parts, wanted)
            case nodes.AnyOf(parts):
                return self._union(self.mask(one, wanted) for one in parts)
            case nodes.Not(inner):
                return self._indexed & ~self.mask(inner, not wanted)
            case nodes.Word(term, field):
                return self._union(self._term(one, term, wanted) for one in self._in(field, wanted))
            case nodes.Phrase(_, field):
                fields = (one for one in self._in(field, wanted) if one != PART)
                return self._union(self._phrase(one, node, wanted) for one in fields)
            case nodes.Prefix():
                return self._prefix(node, wanted)
            case nodes.Site():
                servers = filter(node.covers, self._reading.servers)
                return self._union(self._term("server", server, wanted) for server in servers)
            case nodes.Link(url):
                if self._stopped():
                    return self._unread(wanted)
                numbers = self._linking(url)  # the catalog may be ahead of the index
                return self._pages(numbers[numbers < len(self._indexed)]) & self._indexed
            case nodes.Changed():
                if self._stopped():
                    return self._unread(wanted)
                since, until = node.times(clock.now())
                times = self._changed()[: len(self._indexed)]
                return (
                    self._pages(np.flatnonzero((times > 0) & (times >= since) & (times < until)))
                    & self._indexed
                )
            case nodes.Lang(code):
                return self._term("language", code, wanted)
            case nodes.Is(state):
                return self._indexed if state == "crawled" else self._reading.linked & ~self._indexed

    def _all(self, parts: tuple[nodes.Node, ...], wanted: bool) -> Mask:
        """Exclusions first; nothing more is read once no page is left."""
        excluded = [node.node for node in parts if isinstance(node, nodes.Not)]
        demanded = [node for node in parts if not isinstance(node, nodes.Not)]
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

    def _phrase(self, field: str, phrase: nodes.Phrase, wanted: bool) -> Mask:
        """Return the pages with the phrase in a field; positions are read of pages with all words only."""
        candidates, occurrences = np.ones_like(self._indexed), list[Keys]()
        for term in phrase.terms:
            candidates &= self._term(field, term, wanted)
        for term in phrase.terms if candidates.any() else ():
            if self._stopped():
                return self._unread(wanted)
            occurrences.append(keys(self._reading.posted(field, term), candidates))
        if not occurrences:
            return candidates
        if not phrase.within:
            return self._pages(in_order(occurrences))
        # Words further apart than this are of two anchors.
        widest = ANCHOR_POSITIONS // 2 if field == "anchor" else phrase.within
        return self._pages(together(occurrences, min(phrase.within, widest)))

    def _prefix(self, prefix: nodes.Prefix, wanted: bool) -> Mask:
        """Return the pages with the most frequent terms that begin so, or with the stem of the letters.

        By the stem, biology* finds biology. Within a Not, all terms count.
        """
        if self._stopped():
            return self._unread(wanted)
        fields, letters = self._in(prefix.field, wanted), prefix.letters
        stems = [term for term, _ in analysed([letters]) if not term.startswith(letters)]
        frequency: Counter[str] = Counter()
        for field in fields:
            frequency.update(dict(self._reading.frequencies(field, letters)))
            frequency.update({term: self._reading.frequency(field, term) for term in stems})
        most = MAX_EXPANSIONS if wanted else sys.maxsize
        expansions = nsmallest(most, +frequency, lambda term: (-frequency[term], term))
        best = expansions[:WEIGHED] if wanted and len(self.terms) < MAX_WORDS else []
        self.terms += [QueryTerm(term, term, PREFIX_WEIGHT / len(best), added=True) for term in best]
        return self._union(self._term(field, term, wanted) for term in expansions for field in fields)

    def _in(self, field: str, wanted: bool) -> tuple[str, ...]:
        return (field,) if field else self._fields if wanted else FIELDS

    def _stopped(self) -> bool:
        self.partial = self.partial or self._late()
        return self.partial

    def _unread(self, wanted: bool) -> Mask:
        return np.full_like(self._indexed, not wanted)


def keys(posted: Posted, pages: NDArray[np.bool_]) -> Keys:
    """Return all occurrences of a term in one field of some pages."""
    chosen = np.flatnonzero(pages[posted.pages])
    hits = posted.values.some(chosen).flat()
    numbers = np.repeat(posted.pages[chosen].astype(np.int64), np.diff(hits.starts))
    return np.sort(numbers * PAGE + hits.positions, kind="stable")  # quick where it is in order already


def in_order(occurrences: Sequence[Keys]) -> Integers:
    """Return the page numbers where the terms stand next to each other."""
    starts = [found - place for place, found in enumerate(occurrences)]
    starts.sort(key=len)
    left = starts[0]
    for others in starts[1:]:
        left = left[following(others, left) == left]
    return np.unique(left // PAGE)


def together(occurrences: Sequence[Keys], within: int) -> Integers:
    """Return the page numbers where all terms stand within so many words, in any order."""
    first = np.concatenate(occurrences)  # each could be where such a window begins
    for others in sorted(occurrences, key=len):
        first = first[following(others, first) - first <= within]
    return np.unique(first // PAGE)


def following(among: Keys, wanted: Keys) -> Keys:
    """Return for each key the same or the next one of others; far away where there is none."""
    found: Keys = np.append(among, FAR)[np.searchsorted(among, wanted)]
    return found
