"""From the tree of a query to two of tantivy's: of documents, and of pages known by their anchors alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.tantivy import ANCHOR, MAX_ANCHOR_WORDS, stored, tantivy
from webcrawler.search.engines.tantivy.opening import Both, Pages, Side
from webcrawler.search.masks import MAX_EXPANSIONS, PREFIX_WEIGHT, WEIGHED
from webcrawler.text import terms
from webcrawler.text.query import AllOf, AnyOf, Asked, Link, Node, Not, Nothing, Phrase, Prefix, Site, Word

MAX_NUMBERS = 5_000  # pages that the anchors with a word, or the links to a URL, stand for; 0.5 µs each
ALL = 100_000  # terms that a prefix stands for where it leaves out
MAX_KNOWN = 1_000  # words whose anchors are remembered

Linking = Callable[[str], NDArray[np.int64]]
_Query, _Occur = tantivy.Query, tantivy.Occur
_Textual = Word | Phrase | Prefix


class Translator:
    """For one commit; remembers what it has looked up in the anchors."""

    def __init__(self, both: Both, linking: Linking) -> None:
        self._both, self._linking = both, linking
        self._known: dict[tuple[_Textual, int], Pages] = {}

    def documents(self, node: Node, most: int = MAX_EXPANSIONS) -> tantivy.Query:
        """Satisfied by the documents that satisfy the node, by their texts or anchors.

        Args:
            most: terms that a prefix may stand for; what is left out has to go whole.
        """
        side = self._both.documents
        match node:
            case AllOf(nodes):
                return all_of(
                    [self.documents(one, most) for one in nodes if not isinstance(one, Not)],
                    [self.documents(one.node, ALL) for one in nodes if isinstance(one, Not)],
                )
            case AnyOf(nodes):
                return any_of(self.documents(one, most) for one in nodes)
            case Not(inner):
                return all_of([], [self.documents(inner, ALL)])
            case Site():
                return _on(side, node)
            case Link(url):
                return with_numbers(side, self._linking(url)[:MAX_NUMBERS])
            case Nothing():
                return _Query.empty_query()
            case _:
                return self._textual(node, most)

    def anchors(self, node: Node, most: int = MAX_EXPANSIONS) -> tantivy.Query:
        """Satisfied by the pages that satisfy the node, if nothing is known of them but anchors and server.

        As with the other engine, what merely lacks a word or a link is found among documents only.
        """
        side = self._both.anchors
        match node:
            case AllOf(nodes):
                demanded = [self.anchors(one, most) for one in nodes if not isinstance(one, Not)]
                excluded = [self.anchors(one.node, ALL) for one in nodes if isinstance(one, Not)]
                return all_of(demanded, excluded) if demanded else _Query.empty_query()
            case AnyOf(nodes):
                return any_of(self.anchors(one, most) for one in nodes)
            case Site():
                return _on(side, node)
            case Word() | Phrase() | Prefix() if not node.field:
                return in_field(side, ANCHOR, node, most)
            case _:
                return _Query.empty_query()

    def prefixes(self, node: Node) -> list[Asked]:
        """Words to weigh that the prefixes of a query stand for: the most frequent ones."""
        match node:
            case AllOf(nodes) | AnyOf(nodes):
                return [asked for one in nodes for asked in self.prefixes(one)]
            case Prefix(letters):
                found = self._both.documents.searcher.terms_with_prefix("body", letters, limit=WEIGHED)
                return [Asked(term, term, PREFIX_WEIGHT / len(found)) for term, _ in found]
            case _:
                return []

    def _textual(self, node: _Textual, most: int) -> tantivy.Query:
        side = self._both.documents
        if node.field:
            return in_field(side, node.field, node, most)
        called = self._called(node, most)
        parts = [in_field(side, field, node, most) for field in side.texts]
        return any_of([*parts, with_numbers(side, called)] if len(called) else parts)

    def _called(self, node: _Textual, most: int) -> Pages:
        """The documents with such an anchor; where those are too many, the best by it."""
        if (node, most) not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            found = self._both.anchors.best(self.anchors(node, most), MAX_NUMBERS).pages
            self._known[node, most] = found[self._both.documents.holds(found)]
        return self._known[node, most]


def in_field(side: Side, field: str, node: _Textual, most: int) -> tantivy.Query:
    match node:
        case Word(term):
            return _Query.term_query(side.schema, field, stored(term))
        case Prefix(letters):
            found = side.searcher.terms_with_prefix(field, letters, limit=most)
            return one_of(side, field, [*terms(letters), *(term for term, _ in found)])
        case Phrase():
            placed = [(place, stored(term)) for place, term in enumerate(node.terms) if term]
            words = [term for _, term in placed]
            if len(placed) < 2:
                return one_of(side, field, words)
            if node.within:
                return _near(side, field, words, node.within)
            return _Query.phrase_query(side.schema, field, list(placed))


def _near(side: Side, field: str, words: list[str], within: int) -> tantivy.Query:
    """Each two within so many words of each other: with one place for both, slop is their distance."""
    if field == ANCHOR:  # no anchor is longer, none begins nearer to another
        within = min(within, MAX_ANCHOR_WORDS)
    return all_of(
        [
            _Query.phrase_query(side.schema, field, [(0, one), (0, other)], slop=within)
            for one, other in combinations(dict.fromkeys(words), 2)
        ],
        [],
    )


def _on(side: Side, site: Site) -> tantivy.Query:
    return one_of(side, "server", [server for server in side.servers if site.covers(server)])


def all_of(demanded: Sequence[tantivy.Query], excluded: Iterable[tantivy.Query]) -> tantivy.Query:
    """Without any demand all but what is excluded."""
    musts = [(_Occur.Must, query) for query in demanded or [_Query.all_query()]]
    return _Query.boolean_query(musts + [(_Occur.MustNot, query) for query in excluded])


def any_of(queries: Iterable[tantivy.Query]) -> tantivy.Query:
    return _Query.boolean_query([(_Occur.Should, query) for query in queries])


def one_of(side: Side, field: str, words: Sequence[str]) -> tantivy.Query:
    return _Query.term_set_query(side.schema, field, words) if words else _Query.empty_query()


def with_numbers(side: Side, numbers: Iterable[int]) -> tantivy.Query:
    return _Query.term_set_query(side.schema, "number", list(map(int, numbers)))
