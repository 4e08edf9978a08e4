"""From text to tokens, and from the words of a token to leaves of the tree.

A token is a word, a phrase, a parenthesis or an operator, with its sign and field. A word with a dash before
it is an option of a program, such as -Wall, or what a page must not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from webcrawler.text.analysis import is_unspaced, lower_case, seen, unaccented, words
from webcrawler.text.lexicon import Lexicon
from webcrawler.text.query.nodes import Node, Phrase, Prefix, Word

MAX_CHARACTERS = 2000
MAX_DEPTH = 8  # parentheses within parentheses
MAX_WITHIN = 1000
MIN_LETTERS = 2  # of a prefix

SHOUTED_WORDS = 4
_OPERATORS = frozenset({"OR", "AND", "NOT"})
_SYNTAX = re.compile(r"""["()“”„‟]|(?<!\S)[+-]""")
_QUOTES = str.maketrans("“”„‟", '""""')  # as telephones write them
# No part can continue with what the next part begins with, so there is no backtracking: linear time.
_TOKEN = re.compile(
    r"""(?P<sign>[+-](?=[^\s+-]))?
        (?: (?P<place>(?ai:site|link|changed|after|before|lang|is)):(?P<value>[^\s"()][^\s"]*)
          | (?:(?P<field>(?ai:title|site|link|changed|after|before|lang|is)):)?
            (?: "(?P<phrase>[^"]*)(?:(?P<closed>")(?:~(?P<within>[0-9]+))?)?
              | (?P<bracket>[()])
              | (?P<plain>[^\s"()]+) )?
        ) \s*""",
    re.VERBOSE,
)
# An underscore is in \w. Any sign joins numbers: 192.168.0.0/16, 978-3-16-148410-0.
_JOINED = re.compile(r"\w+(?:(?:\.|::|->|(?<=\d)[-,:/](?=\d|[xX]\b))\w+)*")

Note = Callable[[str], object]  # takes a line on what is not read as it was typed


class Token(NamedTuple):
    kind: str  # "words", "phrase", "(", ")", "OR", "AND", "NOT"
    text: str = ""
    sign: str = ""  # "+", "-" or none
    field: str = ""  # "title", "site", "link", "changed", "after", "before", "lang", "is" or none
    within: str = ""  # digits behind a phrase


def is_shouted(text: str) -> bool:
    """Is it a sentence in capitals? Then its AND, OR and NOT are no operators, which few people know."""
    words = text.split()
    is_sentence = len(words) >= SHOUTED_WORDS and text.isupper() and not _SYNTAX.search(text)
    return is_sentence and not _OPERATORS.isdisjoint(words)


def scan(text: str, capitals_are_words: bool, note: Note) -> list[Token]:
    """Return the tokens, with every parenthesis paired."""
    operators = frozenset[str]() if capitals_are_words else _OPERATORS
    tokens, depth, deepest, stray = list[Token](), 0, 0, False
    for token in _tokens(seen(text).translate(_QUOTES).strip(), operators, note):
        if token.kind == ")" and not depth:
            stray = True
            continue
        if token.kind == ")":
            depth -= 1
        if token.kind not in "()" or depth < MAX_DEPTH:
            tokens.append(token)
        if token.kind == "(":
            depth += 1
            deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        note(f"parentheses deeper than {MAX_DEPTH} were not looked at")
    if stray or depth:
        note("the parentheses do not pair up")
    return tokens + [Token(")")] * min(depth, MAX_DEPTH)


def _tokens(text: str, operators: Container[str], note: Note) -> Iterator[Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        assert found and found.end() > position, "every character is part of a token"
        position = found.end()
        sign, field = found["sign"] or "", (found["place"] or found["field"] or "").lower()
        if found["value"]:
            value = _without_partner(found["value"])
            position = found.start("value") + len(value)
            yield Token("words", value, sign, field)
        elif found["bracket"]:
            yield Token(found["bracket"], "", sign, field)
        elif found["phrase"] is not None:
            if not found["closed"]:
                note("a quotation mark is never closed: read to the end")
            yield Token("phrase", found["phrase"], sign, field, found["within"] or "")
        elif found["plain"] in operators and not sign and not field:
            yield Token(found["plain"])
        elif found["plain"]:
            yield Token("words", found["plain"], sign, field)
        elif field:  # of nothing: a word
            yield Token("words", field, sign)


def _without_partner(value: str) -> str:
    """Return a URL up to a parenthesis that was opened before it: (link:http://a.example/)."""
    depth = 0
    for place, character in enumerate(value):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return value[:place]
    return value


class Dashed(NamedTuple):
    spelled: str  # with its dash
    is_option: bool  # how it was read: the collection holds it as one; else pages with the word are left out


def other_reading(text: str, dashed: Iterable[Dashed]) -> str:
    """Return the query with options as words to leave out, and words to leave out as options.

    "" where there are none.
    """
    other = text
    for spelled, is_option in dict.fromkeys(dashed):
        place = re.compile(rf"(?<![^\s(]){re.escape(spelled)}(?![^\s()])")
        instead = f"NOT {spelled[1:]}" if is_option else f'"{spelled}"'
        other = place.sub(instead.replace("\\", r"\\"), other)
    return other if other != text else ""


class QueryTerm(NamedTuple):
    """A word that counts for the relevance of a page."""

    term: str
    spelled: str  # as typed
    weight: float = 1.0
    added: bool = False  # by the thesaurus, a prefix or a ranking, not typed
    telling: float = 1.0  # 0 to 1: words of general language say less; one of 0 is skipped but in a phrase


def each(found: Iterable[QueryTerm], field: str) -> tuple[Node, ...]:
    """Return a leaf for each word that says something."""
    return tuple(_leaf(one, field) for one in found if one.telling)


def phrase(found: Sequence[QueryTerm], field: str, within: int = 0) -> tuple[Node, ...]:
    """Return no leaf, a word or a phrase; nothing is skipped but function words of a proximity."""
    if within:  # each term once
        found = list({one.term: one for one in found if one.telling}.values())
    if len(found) > 1:
        terms, spelled, *_ = zip(*found, strict=True)
        return (Phrase(terms, field, within, spelled),)
    return tuple(_leaf(one, field) for one in found)


def _leaf(word: QueryTerm, field: str) -> Node:
    """Return the leaf of a word: of a character in a script without spaces, the terms that begin with it."""
    if len(word.term) == 1 and is_unspaced(word.term):
        return Prefix(word.term, field)
    return Word(word.term, field, word.spelled)


def identifier(text: str, read: Sequence[QueryTerm], lexicon: Lexicon) -> tuple[Phrase, ...]:
    """Return the phrase of the first name of a token: a_b, a.b, a::b, a->b, -a=b, 3.11.4; or none.

    Not a-b: that is mostly English, and pages with "e-mail" are not better than those with "email".

    Args:
        read: the words that were read of the token; a name that has more is left out.
    """
    if text.startswith("-") and read[1:] and read[0].term.startswith("-"):  # -std=c++17
        return (Phrase(tuple(one.term for one in read), spelled=tuple(one.spelled for one in read)),)
    for name in map(re.Match.group, _JOINED.finditer(text)):
        found = lexicon.read(name)
        if 1 < len(found) <= len(read):
            terms, spelled = zip(*found, strict=True)
            return (Phrase(terms, spelled=spelled),)
    return ()


def distance(digits: str, note: Note) -> int:
    """Return the distance in words; 0 where none is given."""
    number = int(digits[:9] or 0)
    if number > MAX_WITHIN:
        note(f"~{digits[:9]} was read as ~{MAX_WITHIN}")
    return min(number, MAX_WITHIN)


def reach(text: str) -> tuple[str, str]:
    """Split `word~5` into word and digits; the whole text and no digits where it is written otherwise."""
    head, _, digits = text.rpartition("~")
    return (head, digits) if head and digits.isascii() and digits.isdecimal() else (text, "")


def prefix(text: str, field: str, note: Note) -> Prefix | None:
    """Return the leaf of `genom*`; None where the part before the star is no single word, or too short."""
    letters = unaccented(lower_case(text.removesuffix("*")))
    if not text.endswith("*") or words(letters) != [letters]:
        return None
    if len(letters) >= MIN_LETTERS:
        return Prefix(letters, field)
    note(f"{letters}* was read as a word: a prefix has at least {MIN_LETTERS} letters")
    return None
