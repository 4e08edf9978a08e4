"""The query language: what a person typed, as clauses that a document satisfies or not.

    molecular biology     some or all of the words
    +genome -yeast        demanded, excluded
    "double helix"        words that stand next to each other
    title:dna             in the title              site:example.org    on that host or below it
    cat OR dog            one of them will do: matters after a sign or a field, +cat OR dog

Any text is a query; signs, quotes and fields that make no sense are read as plain words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.index.analysis import tokens

MAX_CHARACTERS = 2000
MAX_WORDS = 50  # every word costs a posting list

_TOKEN = re.compile(
    r"""(?P<sign>[+-]?) (?P<field>(?:title|site|link):)? (?:"(?P<phrase>[^"]*)"? | (?P<plain>[^\s"]+))""",
    re.IGNORECASE | re.VERBOSE,
)


class Unit(NamedTuple):
    """A word, or a phrase where there are several terms."""

    terms: tuple[str, ...]  # after analysis; "" keeps the place of a stop word; of a site: its host
    field: str = ""  # "title", "site"; "" is title or body

    @property
    def words(self) -> tuple[str, ...]:
        return () if self.field == "site" else tuple(filter(None, self.terms))


class Clause(NamedTuple):
    """Satisfied by any of its units."""

    sign: str  # "+" demanded, "-" excluded, "" welcome
    units: tuple[Unit, ...]


class Query(NamedTuple):
    text: str
    words: tuple[str, ...]  # the terms to weigh, in the order typed, repeats kept
    clauses: tuple[Clause, ...]


def parse(text: str) -> Query:
    """Read what a person typed.

    Raises:
        BadInput: empty, too long, nothing left after the stop list, only exclusions, or `link:`.
    """
    if len(text) > MAX_CHARACTERS:
        raise BadInput(f"a query of {len(text):,} characters is too long: at most {MAX_CHARACTERS:,}")
    text = text.encode("utf-8", "replace").decode()  # an argument may hold bytes that are no UTF-8
    if not text.strip():
        raise BadInput("the query is empty: type a word to look for")
    clauses = tuple(_clauses(text))
    words = tuple(
        word for clause in clauses if clause.sign != "-" for unit in clause.units for word in unit.words
    )
    _check(text, words, clauses)
    return Query(text, words, clauses)


def _clauses(text: str) -> Iterator[Clause]:
    """One clause a token; OR joins the tokens beside it under the sign of the first."""
    clause: Clause | None = None
    joining = False
    for token in _TOKEN.finditer(text):
        units = _units(token)
        if token.group() == "OR":
            joining = clause is not None
        elif units and clause and joining:
            clause, joining = Clause(clause.sign, clause.units + units), False
        elif units:
            if clause:
                yield clause
            clause = Clause(_sign(token, units[0]), units)
    if clause:
        yield clause


def _sign(token: re.Match[str], unit: Unit) -> str:
    """A field restricts the answer, so it is demanded unless it is excluded."""
    return token["sign"] or ("+" if unit.field else "")


def _units(token: re.Match[str]) -> tuple[Unit, ...]:
    """Within a plain token punctuation is a space; after a sign or a field it joins a phrase: -e-mail."""
    field, words = (token["field"] or "").rstrip(":").lower(), token["phrase"] or token["plain"] or ""
    if field == "link":
        raise BadInput("link: is not answered yet: leave it out of the query")
    if field == "site":
        host = re.sub(r"^\w+://|[/?#].*", "", words).lower()
        return (Unit((host,), field),) if host else ()
    terms = [term for term, _ in tokens(words)]
    if token["plain"] and not token["sign"] and not field:
        return tuple(Unit((term,)) for term in terms if term)
    phrase = tuple(_without_edges(terms))
    return (Unit(phrase, field),) if phrase else ()


def _without_edges(terms: list[str]) -> list[str]:
    """Stop words at the ends of a phrase say nothing; within it they keep their places."""
    kept = [place for place, term in enumerate(terms) if term]
    return terms[kept[0] : kept[-1] + 1] if kept else []


def _check(text: str, words: tuple[str, ...], clauses: tuple[Clause, ...]) -> None:
    asked = sum(len(unit.terms) for clause in clauses for unit in clause.units)
    if asked > MAX_WORDS:
        raise BadInput(f"a query of {asked} words is too long: at most {MAX_WORDS}")
    if not clauses:
        raise BadInput(f"the query has no word to look for that is not too common: {text.strip()[:60]}")
    if not words:
        raise BadInput("the query only says where to look or what to leave out: add a word to look for")
