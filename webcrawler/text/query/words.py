"""From the text of a token to leaves of the tree; at most MAX_WORDS words are read."""

from __future__ import annotations

import re

from webcrawler.text.analysis import lower_case, tokens_of, words
from webcrawler.text.query.nodes import Changed, Link, Node, Phrase, Prefix, Site, Word
from webcrawler.urls import UnfetchableUrl, canonical, host_and_port, resolve, server

MAX_WORDS = 50  # every word costs posting lists
MAX_WITHIN = 1000
MIN_LETTERS = 2  # of a prefix

_HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII).fullmatch
_CHANGED = re.compile(
    r"(?:[<>]=?)?DAY|DAY\.\.DAY|[0-9]{1,5}[hd]".replace("DAY", r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
)
_PORT = re.compile(r":[0-9]+$")


SpelledTerm = tuple[str, str]  # a term and how it is spelled; "" for the term of a stop word


class Budget:
    """Counts how many words may still be read, and collects notes on what was not read."""

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

    def read(self, text: str) -> list[SpelledTerm]:
        """Return the terms of a text, as many as may still be read; no stop word is first or last."""
        spelled = words(text)
        read = [(term, word) for (term, _), word in zip(tokens_of(spelled), spelled, strict=True)]
        kept = [place for place, (term, _) in enumerate(read) if term and self.take()]
        return read[kept[0] : kept[-1] + 1] if kept else []


def each(found: list[SpelledTerm], field: str) -> tuple[Node, ...]:
    """Return a leaf for each word."""
    return tuple(Word(term, field, word) for term, word in found if term)


def phrase(found: list[SpelledTerm], field: str, within: int = 0) -> tuple[Node, ...]:
    """Return no leaf, a word or a phrase."""
    if within:  # each term once, no stop words
        found = [(term, word) for term, word in dict(found).items() if term]
    if len(found) > 1:
        terms, spelled = zip(*found, strict=True)
        return (Phrase(terms, field, within, spelled),)
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
    """Return the leaf of `genom*`; none where the part before the star is not a single word, or too short."""
    letters = lower_case(text.removesuffix("*"))
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
        budget.note(f"site: needs a host, such as site:example.org, not {text[:40]}")
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
        budget.note(f"link: needs a URL, such as link:http://example.org/, not {text[:40]}")
        return ()
    return tuple(Link(url) for url in urls if budget.take())


def changed(text: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaf of a day, of days, or of a time from now; none where it is something else."""
    node = Changed(text.lower())
    try:
        if not _CHANGED.fullmatch(node.spelled):
            raise ValueError
        node.times(0.0)
    except ValueError:
        budget.note(f"changed: needs days, such as changed:7d or changed:>2026-11-01, not {text[:40]}")
        return ()
    return (node,) if budget.take() else ()
