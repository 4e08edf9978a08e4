"""From a token to leaves of the tree, with a bound on how many words are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import normalize

from webcrawler.text.analysis import tokens_of, words
from webcrawler.text.query.nodes import Link, Node, Phrase, Prefix, Site, Word
from webcrawler.urls import UnfetchableUrl, canonical, host_and_port, resolve, server

MAX_WORDS = 50  # every word costs posting lists
MAX_WITHIN = 1000
MIN_LETTERS = 2  # of a prefix

_HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII).fullmatch
_PORT = re.compile(r":[0-9]+$")


class Asked(NamedTuple):
    """A word to weigh."""

    term: str
    spelled: str
    weight: float = 1.0
    added: bool = False  # by the thesaurus or by feedback


class Words(NamedTuple):
    """Terms in their order with their spellings; "" is a stop word, none at the ends."""

    terms: tuple[str, ...]
    spelled: tuple[str, ...]


class Budget:
    """Counts how many words may still be read, and keeps notes on what was not read."""

    def __init__(self) -> None:
        self._left = MAX_WORDS
        self.notes: dict[str, None] = {}

    def take(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.note(f"only the first {MAX_WORDS} words were read")
        return self._left >= 0

    def note(self, line: str) -> None:
        self.notes[line] = None

    def read(self, text: str) -> Words:
        """Return the words of a text, as many as may still be read."""
        spelled = words(text)
        read = [(term, word) for (term, _), word in zip(tokens_of(spelled), spelled, strict=True)]
        kept = [place for place, (term, _) in enumerate(read) if term and self.take()]
        span = read[kept[0] : kept[-1] + 1] if kept else []
        return Words(tuple(term for term, _ in span), tuple(word for _, word in span))


def each(found: Words, field: str) -> tuple[Node, ...]:
    """Return a leaf for each word."""
    return tuple(Word(term, field, word) for term, word in zip(*found, strict=True) if term)


def phrase(found: Words, field: str, within: int = 0) -> tuple[Node, ...]:
    """Return no leaf, a word or a phrase."""
    if within:
        once = {term: word for term, word in zip(*found, strict=True) if term}
        found = Words(tuple(once), tuple(once.values()))
    if len(found.terms) > 1:
        return (Phrase(found.terms, field, within, found.spelled),)
    return each(found, field)


def distance(digits: str, budget: Budget) -> int:
    """Return the distance in words; 0 where none is given."""
    number = int(digits[:9] or 0)
    if number > MAX_WITHIN:
        budget.note(f"~{digits[:9]} was read as ~{MAX_WITHIN}")
    return min(number, MAX_WITHIN)


def reach(text: str) -> tuple[str, str]:
    """Split `word~5` into word and digits; the whole text and no digits where it is written otherwise."""
    head, _, digits = text.rpartition("~")
    return (head, digits) if head and digits.isascii() and digits.isdecimal() else (text, "")


def prefix(text: str, field: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaf of `genom*`; none where the part before the star is no single word, or too short."""
    letters = normalize("NFKC", text.removesuffix("*").lower()).replace("’", "'")
    if words(letters) != [letters]:
        return ()
    if len(letters) < MIN_LETTERS:
        budget.note(f"{letters}* was read as a word: a prefix has at least {MIN_LETTERS} letters")
        return ()
    return (Prefix(letters, field),) if budget.take() else ()


def site(text: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaf of a host, of "host:port", or of a URL on it; none where it is something else."""
    place = text.rpartition("://")[2] if "://" in text else text
    authority, *path = re.split(r"[/?#\\]", place, maxsplit=1)
    authority = authority.rpartition("@")[2].removeprefix("*").lstrip(".")
    port = _PORT.search(authority)
    try:
        host = host_and_port(server(resolve(f"http://{authority}/")))[0].rstrip(".")
    except UnfetchableUrl:
        host = ""
    if ":" in host:
        host = f"[{host}]"
    if not host or not _HOST(host):
        budget.note(f"site: wants a host, such as site:example.org, not {text[:40]}")
        return ()
    if any(path):
        budget.note(f"site: looks at hosts only: {path[0][:40]} was left out")
    return (Site(host + (port[0] if port else "")),) if budget.take() else ()


def link(text: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaves of a URL: two where it has no scheme."""
    spellings = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    try:
        urls = [canonical(spelling) for spelling in spellings]
    except UnfetchableUrl:
        budget.note(f"link: wants a URL, such as link:http://example.org/, not {text[:40]}")
        return ()
    return tuple(Link(url) for url in urls if budget.take())


def together(parts: Sequence[Words]) -> Words:
    return Words(
        tuple(term for part in parts for term in part.terms),
        tuple(word for part in parts for word in part.spelled),
    )
