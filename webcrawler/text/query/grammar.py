"""From a text to a query: the grammar, and the tree that it makes.

group        clause …                        all that are demanded; else one or more of the optional ones
clause       conjunction OR conjunction …    demanded if its first unit is
conjunction  unit AND unit …
unit         NOT … word | phrase | field | ( group )
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webcrawler.text.query import words
from webcrawler.text.query.nodes import (
    Changed,
    Link,
    Node,
    Nothing,
    Phrase,
    Prefix,
    Site,
    Word,
    all_of,
    any_of,
    leaves,
    negated,
)
from webcrawler.text.query.scanner import MAX_CHARACTERS, Token, scan
from webcrawler.text.query.words import Budget, SpelledTerm

_JOINS = ("OR", "AND")


class QueryTerm(NamedTuple):
    """A word that counts for the relevance of a page."""

    term: str
    spelled: str  # as typed
    weight: float = 1.0
    added: bool = False  # by the thesaurus or a ranking, not typed


class Query(NamedTuple):
    text: str  # what was read of it
    root: Node
    terms: tuple[QueryTerm, ...]  # in the order typed, repeats kept, none that is excluded
    notes: tuple[str, ...]  # one line each: what was left out, or is missing
    capitals_are_words: bool = False  # whether AND, OR and NOT were read as words


def parse(text: str, capitals_are_words: bool = False) -> Query:
    """Read what a person typed: any text, also one with surrogates or of a megabyte. Takes linear time.

    Args:
        capitals_are_words: read AND, OR and NOT as words, for a text that is all in capitals.
    """
    cut = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()
    parser = _Parser(cut, capitals_are_words)
    root = parser.root()
    notes = [f"only the first {MAX_CHARACTERS:,} characters were read"] if len(text) > MAX_CHARACTERS else []
    notes += [*parser.notes, *parser.budget.notes]
    if root == Nothing():
        if not cut.strip():
            notes.append("the query is empty: type a word to look for")
        elif parser.excludes:
            notes.append("the query only says what to leave out: add a word to look for")
        else:
            notes.append(f"the query has no word to look for that is not too common: {cut.strip()[:60]}")
    return Query(cut, root, tuple(parser.terms), tuple(notes), capitals_are_words)


def expanded(query: Query, added: Sequence[QueryTerm]) -> Query:
    """Return the query with words added: they count for the relevance, and match where plain words may."""
    known = {one.term for one in query.terms}
    new = {one.term: one._replace(added=True) for one in added if one.term not in known}
    if query.root == Nothing() or not new:
        return query
    terms = (*query.terms, *new.values())
    more = [Word(one.term, "", one.spelled) for one in terms if one.added]
    return query._replace(root=_Parser(query.text, query.capitals_are_words).root(more), terms=terms)


class _Unit(NamedTuple):
    sign: str  # "+" demanded, "-" excluded, "" optional
    nodes: tuple[Node, ...]  # alternatives

    @property
    def node(self) -> Node:
        return negated(any_of(self.nodes)) if self.sign == "-" else any_of(self.nodes)


class _Parser:
    """Reads a text once from left to right, at most MAX_DEPTH levels deep; never raises."""

    def __init__(self, text: str, capitals_are_words: bool = False) -> None:
        tokens, self.notes = scan(text, capitals_are_words)
        self._tokens = [*tokens, Token(")")]
        self._next = 0
        self._negative = False  # whether what is read now is excluded
        self.budget = Budget()
        self.terms: list[QueryTerm] = []
        self.excludes = False

    def root(self, added: Sequence[Node] = ()) -> Node:
        """Return the tree; Nothing where no word is wanted. Added words are optional, as plain words are."""
        root = self._group("", added)
        self.excludes = root != Nothing()
        return root if any(wanted for _, wanted in leaves(root)) else Nothing()

    def _group(self, field: str, added: Sequence[Node] = ()) -> Node:
        demanded, optional = list[Node](), list[Node]()
        while not self._is(")"):
            for unit in self._clause(field):
                demanded += [unit.node] if unit.sign else []
                optional += [] if unit.sign else unit.nodes
        if not any(map(_has_word, demanded)) and (optional or added):
            demanded.append(any_of([*optional, *added]))
        return all_of(demanded)

    def _clause(self, field: str) -> list[_Unit]:
        """Return one unit; of a clause without OR, the parts that AND joins, all demanded."""
        choices = [self._conjunction(field)]
        while self._is("OR"):
            choices.append(self._conjunction(field))
        choices = [units for units in choices if units]
        if len(choices) > 1:
            sign = choices[0][0].sign.replace("-", "")
            return [_Unit(sign, tuple(all_of(unit.node for unit in units) for units in choices))]
        units = choices[0] if choices else []
        return [_Unit(unit.sign or "+", unit.nodes) for unit in units] if len(units) > 1 else units

    def _conjunction(self, field: str) -> list[_Unit]:
        units = list[_Unit]()
        while not units or self._is("AND"):
            while self._is(*_JOINS):
                self._next += 1
            units.append(self._unit(field, joined=bool(units)))
        return [unit for unit in units if unit.nodes]

    def _unit(self, field: str, joined: bool) -> _Unit:
        start = self._next
        while self._is("NOT"):
            self._next += 1
        if self._is(")", *_JOINS):
            return _Unit("", ())
        token = self._take()
        sign = "-" if self._next > start + 1 else token.sign or ("+" if token.field else "")
        outside, self._negative = self._negative, self._negative ^ (sign == "-")
        nodes = self._nodes(token, token.field or field, bool(sign) or joined or self._is("AND"))
        self._negative = outside
        restricts = token.kind == "(" and not field and all(map(_is_restriction, nodes))
        return _Unit(sign or ("+" if restricts else ""), nodes)

    def _nodes(self, token: Token, field: str, demanded: bool) -> tuple[Node, ...]:
        if token.kind == "(":
            node = self._group(field)
            self._next += 1
            return () if node == Nothing() else (node,)
        if field in RESTRICTIONS:
            return RESTRICTIONS[field](token.text, self.budget) or words.each(self._read(token.text), "")
        if token.kind == "phrase":
            reach = words.distance(token.within, self.budget)
            return words.phrase(self._read(token.text), field, reach)
        star = token.text.endswith("*") and words.prefix(token.text, field, self.budget)
        return star or self._plain(token.text, field, demanded)

    def _plain(self, text: str, field: str, demanded: bool) -> tuple[Node, ...]:
        """Read a plain word. One with punctuation is several; a phrase where it is demanded or excluded.

        a~5 b~3 c is one proximity of the larger distance, whatever stop words stand in between.
        """
        found, within = list[SpelledTerm](), 0
        while True:
            head, digits = words.reach(text) if self._word_follows() else (text, "")
            part = self._read(head)
            found += part
            within = max(within, words.distance(digits, self.budget))
            if not self._word_follows() or not (digits or (within and not part)):
                break
            text, demanded = self._take().text, True
        return words.phrase(found, field, within) if demanded else words.each(found, field)

    def _read(self, text: str) -> list[SpelledTerm]:
        found = self.budget.read(text)
        if not self._negative:
            self.terms += [QueryTerm(term, word) for term, word in found if term]
        return found

    def _is(self, *kinds: str) -> bool:
        return self._tokens[self._next].kind in kinds

    def _word_follows(self) -> bool:
        token = self._tokens[self._next]
        return token.kind == "words" and not token.sign and not token.field

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]


# By field: what reads its value.
RESTRICTIONS = {"site": words.site, "link": words.link, "changed": words.changed}


def _has_word(node: Node) -> bool:
    return any(wanted and isinstance(leaf, Word | Phrase | Prefix) for leaf, wanted in leaves(node))


def _is_restriction(node: Node) -> bool:
    """Tell whether all leaves have fields: (site:a.test OR site:b.test) is demanded, as site:a.test is."""
    return all(isinstance(leaf, Site | Link | Changed) or leaf.field for leaf, _ in leaves(node))
