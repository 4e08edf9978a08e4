"""From a text to a query: the grammar, and the tree that it makes.

group        clause …                        all that are demanded; else one or more of the optional ones
clause       conjunction OR conjunction …    demanded if its first unit is
conjunction  unit AND unit …
unit         NOT … word | phrase | field | ( group )
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from webcrawler.text.lexicon import ENGLISH, LEAST_TELLING, Lexicon
from webcrawler.text.query import words
from webcrawler.text.query.nodes import (
    NOTHING,
    RESTRICTIONS,
    Changed,
    Is,
    Lang,
    Link,
    Node,
    Phrase,
    Prefix,
    Site,
    Word,
    all_of,
    any_of,
    host_and_path,
    leaves,
    negated,
)
from webcrawler.text.query.words import MAX_CHARACTERS, Dashed, QueryTerm, Token

MAX_WORDS = 50  # that are read: every word costs posting lists
_JOINS = ("OR", "AND")
_NUMBER = re.compile(r"(?i)v?\d+|x").fullmatch  # v3, and the last digit of an ISBN


class Query(NamedTuple):
    text: str  # what was read of it
    root: Node
    terms: tuple[QueryTerm, ...]  # that count, in the order typed, repeats kept, none that is excluded
    notes: tuple[str, ...]  # one line each: what was left out, or is missing
    capitals_are_words: bool = False  # whether AND, OR and NOT were read as words
    identifiers: tuple[Phrase, ...] = ()  # names in code, such as a_b, among the plain words
    plain: tuple[str, ...] = ()  # words by themselves: without sign, quotes, field or punctuation inside
    skips: bool = True  # whether function words are skipped: not where there is nothing else
    lexicon: Lexicon = ENGLISH  # of the collection that is searched
    dashed: tuple[Dashed, ...] = ()  # words with a dash before them, which may be an option or leave them out


def parse(text: str, capitals_are_words: bool = False, lexicon: Lexicon = ENGLISH) -> Query:
    """Read what a person typed: any text, also one with surrogates or of a megabyte. Takes linear time.

    Args:
        capitals_are_words: read AND, OR and NOT as words, as in a sentence that is all in capitals.
        lexicon: of the collection that is searched.
    """
    cut = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()
    capitals_are_words = capitals_are_words or words.is_shouted(cut)
    parser = _Parser(cut, capitals_are_words, lexicon)
    root = parser.root()
    if parser.has_skipped and not parser.terms:  # "to be or not to be"
        parser = _Parser(cut, capitals_are_words, lexicon, skips=False)
        root = parser.root()
    notes = [f"only the first {MAX_CHARACTERS:,} characters were read"] if len(text) > MAX_CHARACTERS else []
    notes += parser.notes
    if root == NOTHING:
        if not cut.strip():
            notes.append("the query is empty: type a word to look for")
        elif parser.excludes:
            notes.append("the query only says what to leave out: add a word to look for")
        else:
            notes.append(f"the query has no word to look for: {cut.strip()[:60]}")
    return Query(
        cut,
        root,
        tuple(parser.terms),
        tuple(notes),
        capitals_are_words,
        tuple(dict.fromkeys(parser.identifiers)),
        tuple(parser.plain),
        parser.skips,
        lexicon,
        tuple(parser.dashed),
    )


def expanded(query: Query, added: Sequence[QueryTerm]) -> Query:
    """Return the query with words added: they count for the relevance, and match where plain words may."""
    known = {one.term for one in query.terms}
    new = {one.term: one._replace(added=True) for one in added if one.term not in known}
    if query.root == NOTHING or not new:
        return query
    terms = (*query.terms, *new.values())
    more = [Word(one.term, "", one.spelled) for one in terms if one.added]
    parser = _Parser(query.text, query.capitals_are_words, query.lexicon, query.skips)
    return query._replace(root=parser.root(more), terms=terms)


class _Unit(NamedTuple):
    sign: str  # "+" demanded, "-" excluded, "" optional
    nodes: tuple[Node, ...]  # alternatives

    @property
    def node(self) -> Node:
        return negated(any_of(self.nodes)) if self.sign == "-" else any_of(self.nodes)


class _Parser:
    """Reads a text once from left to right, at most MAX_DEPTH levels deep; never raises."""

    def __init__(self, text: str, capitals_are_words: bool, lexicon: Lexicon, skips: bool = True) -> None:
        """`skips`: function words are skipped."""
        self.notes: dict[str, None] = {}  # in their order, each once
        self._tokens = [*words.scan(text, capitals_are_words, self._note), Token(")")]
        self._next, self._words_left = 0, MAX_WORDS
        self._negative = False  # whether what is read now is excluded
        self._lexicon, self.skips, self.has_skipped = lexicon, skips, False
        self.terms: list[QueryTerm] = []
        self.identifiers: list[Phrase] = []
        self.plain: list[str] = []
        self.dashed: list[Dashed] = []
        self.excludes = False

    def root(self, added: Sequence[Node] = ()) -> Node:
        """Return the tree; NOTHING where no word is wanted. Added words are optional, as plain words are."""
        root = self._group("", added)
        self.excludes = root != NOTHING
        return root if any(wanted for _, wanted in leaves(root)) else NOTHING

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
        token, is_negated = self._take(), self._next > start + 1
        if token.sign == "-" and token.kind == "words" and not (token.field or is_negated):
            token = self._dashed(token)
        sign = "-" if is_negated else token.sign or ("+" if token.field else "")
        outside, self._negative = self._negative, self._negative ^ (sign == "-")
        nodes = self._nodes(token, token.field or field, bool(sign) or joined or self._is("AND"))
        self._negative = outside
        restricts = token.kind == "(" and not field and all(map(_is_restriction, nodes))
        return _Unit(sign or ("+" if restricts else ""), nodes)

    def _dashed(self, token: Token) -> Token:
        """Read -x as an option where the collection holds it as one; not a prefix such as -x*."""
        spelled = f"-{token.text}"
        is_option = not token.text.endswith("*") and self._lexicon.has_option(spelled)
        self.dashed.append(Dashed(spelled, is_option))
        return token._replace(text=spelled, sign="") if is_option else token

    def _nodes(self, token: Token, field: str, demanded: bool) -> tuple[Node, ...]:
        if token.kind == "(":
            node = self._group(field)
            self._next += 1
            return () if node == NOTHING else (node,)
        if field in RESTRICTIONS:
            return self._restriction(token.text, field) or words.each(self._read(token.text), "")
        if token.kind == "phrase":
            reach = words.distance(token.within, self._note)
            return words.phrase(self._read(token.text, not reach), field, reach)
        if (prefix := words.prefix(token.text, field, self._note)) and self._takes_word():
            return (prefix,)
        return self._plain(token.text, field, demanded)

    def _restriction(self, text: str, field: str) -> tuple[Node, ...]:
        read, need = RESTRICTIONS[field]
        if not (nodes := read(text)):
            self._note(f"{field}: needs {need}, not {text[:40]}")
        elif field == "site" and (path := host_and_path(text)[1]):
            self._note(f"site: looks at hosts only: {path[:40]} was left out")
        return tuple(node for node in nodes if self._takes_word())

    def _plain(self, text: str, field: str, demanded: bool) -> tuple[Node, ...]:
        """Read a plain word. One with punctuation is several; a phrase where it is demanded or excluded.

        a~5 b~3 c is one proximity of the larger distance, whatever function words stand in between.
        """
        found, within = list[QueryTerm](), 0
        while True:
            head, digits = words.reach(text) if self._word_follows() else (text, "")
            part = self._read(head, demanded)
            found += part
            if not demanded and not self._negative:
                self.identifiers += words.identifier(head, part, self._lexicon)
                self.plain += [one.spelled for one in part if len(part) == 1 and one.telling]
            within = max(within, words.distance(digits, self._note))
            if not self._word_follows() or not (digits or (within and not any(one.telling for one in part))):
                break
            text, demanded = self._take().text, True
        return words.phrase(found, field, within) if demanded else words.each(found, field)

    def _read(self, text: str, demanded: bool = False) -> list[QueryTerm]:
        """Return the words of a text, as many as may still be read; one that is skipped is free."""
        spelled = self._lexicon.read(text)
        is_number = len(spelled) > 1 and all(
            _NUMBER(word) for _, word in spelled
        )  # 3.11.4: its parts say little
        found = []
        for term, word in spelled:
            telling = LEAST_TELLING if is_number else self._lexicon.telling(word) if self.skips else 1.0
            if (not telling and not demanded) or self._takes_word():
                found.append(QueryTerm(term, word, telling=telling))
        if not self._negative:
            self.terms += [one for one in found if one.telling]
            self.has_skipped |= not all(one.telling for one in found)
        return found

    def _takes_word(self) -> bool:
        """Count one word more; tell whether it may be read."""
        self._words_left -= 1
        if self._words_left < 0:
            self._note(f"only the first {MAX_WORDS} words were read")
        return self._words_left >= 0

    def _note(self, line: str) -> None:
        self.notes[line] = None

    def _is(self, *kinds: str) -> bool:
        return self._tokens[self._next].kind in kinds

    def _word_follows(self) -> bool:
        token = self._tokens[self._next]
        return token.kind == "words" and not token.sign and not token.field

    def _take(self) -> Token:
        self._next += 1
        return self._tokens[self._next - 1]


def _has_word(node: Node) -> bool:
    return any(wanted and isinstance(leaf, Word | Phrase | Prefix) for leaf, wanted in leaves(node))


def _is_restriction(node: Node) -> bool:
    """Tell whether all leaves have fields: (site:a.test OR site:b.test) is demanded, as site:a.test is."""
    return all(isinstance(leaf, Site | Link | Changed | Lang | Is) or leaf.field for leaf, _ in leaves(node))
