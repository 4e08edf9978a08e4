"""A query: what is looked for, which words are weighed, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from webcrawler.text.query.grammar import Parser
from webcrawler.text.query.nodes import Node, Nothing, Word
from webcrawler.text.query.scanner import MAX_CHARACTERS
from webcrawler.text.query.words import Asked


class Query(NamedTuple):
    text: str  # what was read of it
    root: Node
    asked: tuple[Asked, ...]  # words to weigh, in the order typed, repeats kept, none that is excluded
    notes: tuple[str, ...]  # one line each: what was left out, or is missing
    capitals_are_words: bool = False  # whether AND, OR and NOT were read as words


def parse(text: str, capitals_are_words: bool = False) -> Query:
    """Read what a person typed: any text, also one with surrogates or of a megabyte. Pure; linear time.

    Args:
        capitals_are_words: read AND, OR and NOT as words, for a text that is all in capitals.
    """
    cut = text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()
    parser = Parser(cut, capitals_are_words)
    root = parser.root()
    notes = [f"only the first {MAX_CHARACTERS:,} characters were read"] if len(text) > MAX_CHARACTERS else []
    notes += parser.notes
    if root == Nothing():
        notes.append(_missing(cut, parser))
    return Query(cut, root, tuple(parser.asked), tuple(notes), capitals_are_words)


def expanded(query: Query, added: Sequence[Asked]) -> Query:
    """The query with words added: they are weighed, and where plain words may match, they may match too."""
    known = {asked.term for asked in query.asked}
    new = {asked.term: asked._replace(added=True) for asked in added if asked.term not in known}
    if query.root == Nothing() or not new:
        return query
    asked = (*query.asked, *new.values())
    more = [Word(one.term, "", one.spelled) for one in asked if one.added]
    return query._replace(root=Parser(query.text, query.capitals_are_words).root(more), asked=asked)


def _missing(text: str, parser: Parser) -> str:
    if not text.strip():
        return "the query is empty: type a word to look for"
    if parser.excludes:
        return "the query only says what to leave out: add a word to look for"
    return f"the query has no word to look for that is not too common: {text.strip()[:60]}"
