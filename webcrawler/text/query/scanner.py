"""From text to tokens: words, phrases, parentheses and operators, each with its sign and field.

A word with a dash before it is an option of a program, such as -Wall, or what a page must not have.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from webcrawler.text.analysis import seen

MAX_CHARACTERS = 2000
MAX_DEPTH = 8  # parentheses within parentheses

_OPERATORS = frozenset({"OR", "AND", "NOT"})
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


class Token(NamedTuple):
    kind: str  # "words", "phrase", "(", ")", "OR", "AND", "NOT"
    text: str = ""
    sign: str = ""  # "+", "-" or none
    field: str = ""  # "title", "site", "link", "changed", "after", "before", "lang", "is" or none
    within: str = ""  # digits behind a phrase


def scan(text: str, capitals_are_words: bool = False) -> tuple[list[Token], list[str]]:
    """Return the tokens, with every parenthesis paired, and notes on what was changed to pair them."""
    operators = frozenset[str]() if capitals_are_words else _OPERATORS
    notes, kept = list[str](), list[Token]()
    depth, deepest, stray = 0, 0, False
    for token in _tokens(seen(text).translate(_QUOTES).strip(), operators, notes):
        if token.kind == "(":
            kept += [token] if depth < MAX_DEPTH else []
            depth += 1
            deepest = max(deepest, depth)
        elif token.kind != ")":
            kept.append(token)
        elif depth:
            depth -= 1
            kept += [token] if depth < MAX_DEPTH else []
        else:
            stray = True
    if deepest > MAX_DEPTH:
        notes.append(f"parentheses deeper than {MAX_DEPTH} were not looked at")
    if stray or depth:
        notes.append("the parentheses do not pair up")
    return kept + [Token(")")] * min(depth, MAX_DEPTH), notes


def _tokens(text: str, operators: Container[str], notes: list[str]) -> Iterator[Token]:
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
                notes.append("a quotation mark is never closed: read to the end")
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
