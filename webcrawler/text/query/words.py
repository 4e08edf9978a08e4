"""From the text of a token to leaves of the tree; at most MAX_WORDS words are read."""

from __future__ import annotations

import re
from typing import NamedTuple

from webcrawler.text.analysis import is_unspaced, lower_case, unaccented, words
from webcrawler.text.function_words import LEAST
from webcrawler.text.lexicon import Lexicon
from webcrawler.text.query.nodes import Changed, Is, Lang, Link, Node, Phrase, Prefix, Site, Word
from webcrawler.urls import UnfetchableUrl, canonical, host_and_port, resolve, server

MAX_WORDS = 50  # every word costs posting lists
MAX_WITHIN = 1000
MIN_LETTERS = 2  # of a prefix

_HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII).fullmatch
_CHANGED = re.compile(
    r"(?:[<>]=?)?DAY|DAY\.\.DAY|[0-9]{1,5}[hd]".replace("DAY", r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9-]+)?", re.ASCII)
_PORT = re.compile(r":[0-9]+$")
# An underscore is in \w. Any sign joins numbers: 192.168.0.0/16, 978-3-16-148410-0.
_JOINED = re.compile(r"\w+(?:(?:\.|::|->|(?<=\d)[-,:/](?=\d|[xX]\b))\w+)*")
_NUMBER = re.compile(r"(?i)v?\d+|x").fullmatch  # v3, and the last digit of an ISBN


class ReadWord(NamedTuple):
    term: str
    spelled: str
    telling: float  # 0 to 1: how much it says

    @property
    def skipped(self) -> bool:
        """Whether it is a function word: looked for only where it is demanded, and in a phrase."""
        return not self.telling


class Budget:
    """Counts how many words may still be read, and collects notes on what was not read."""

    def __init__(self, lexicon: Lexicon, skips: bool = True) -> None:
        """`skips`: function words are skipped."""
        self._left, self._lexicon = MAX_WORDS, lexicon
        self._telling = lexicon.telling if skips else lambda word: 1.0
        self.notes: dict[str, None] = {}

    def take(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.note(f"only the first {MAX_WORDS} words were read")
        return self._left >= 0

    def note(self, line: str) -> None:
        self.notes[line] = None

    def read(self, text: str, demanded: bool = False) -> list[ReadWord]:
        """Return the words of a text, as many as may still be read; one that is skipped is free."""
        found = self._lexicon.read(text)
        is_number = len(found) > 1 and all(_NUMBER(word) for _, word in found)  # 3.11.4: its parts say little
        read = [ReadWord(term, word, LEAST if is_number else self._telling(word)) for term, word in found]
        return [one for one in read if (one.skipped and not demanded) or self.take()]


def each(found: list[ReadWord], field: str) -> tuple[Node, ...]:
    """Return a leaf for each word that is not skipped."""
    return tuple(_leaf(one, field) for one in found if not one.skipped)


def phrase(found: list[ReadWord], field: str, within: int = 0) -> tuple[Node, ...]:
    """Return no leaf, a word or a phrase; nothing is skipped but function words of a proximity."""
    if within:  # each term once
        found = list({one.term: one for one in found if not one.skipped}.values())
    if len(found) > 1:
        terms, spelled, _ = zip(*found, strict=True)
        return (Phrase(terms, field, within, spelled),)
    return tuple(_leaf(one, field) for one in found)


def _leaf(word: ReadWord, field: str) -> Node:
    """Return the leaf of a word: of a character in a script without spaces, the terms that begin with it."""
    if len(word.term) == 1 and is_unspaced(word.term):
        return Prefix(word.term, field)
    return Word(word.term, field, word.spelled)


def identifier(text: str, read: list[ReadWord], lexicon: Lexicon) -> tuple[Phrase, ...]:
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
    letters = unaccented(lower_case(text.removesuffix("*")))
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
    if not _CHANGED.fullmatch(node.spelled) or not _is_time(node):
        budget.note(f"changed: needs days, such as changed:7d or changed:>2026-11-01, not {text[:40]}")
        return ()
    return (node,) if budget.take() else ()


def after(text: str, budget: Budget, sign: str = ">=") -> tuple[Node, ...]:
    """Return the leaf of a time from a day, a month or a year on; none where it is something else."""
    field = "after" if sign == ">=" else "before"
    node = Changed(f"{sign}{text}{'-01-01'[3 * text.count('-') :]}")
    if not _CHANGED.fullmatch(node.spelled) or not _is_time(node):
        budget.note(f"{field}: needs a day, a month or a year, such as {field}:2026-11-01, not {text[:40]}")
        return ()
    return (node,) if budget.take() else ()


def before(text: str, budget: Budget) -> tuple[Node, ...]:
    """Do the same for the time before it."""
    return after(text, budget, "<")


def language(text: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaf of a language by its code; a country behind it does not count."""
    if not (code := _LANGUAGE.fullmatch(text.lower())):
        budget.note(f"lang: needs the code of a language, such as lang:de, not {text[:40]}")
        return ()
    return (Lang(code[1]),) if budget.take() else ()


def state(text: str, budget: Budget) -> tuple[Node, ...]:
    """Return the leaf of `is:`; none where it is something else."""
    node = Is(text.lower())
    if node.state not in ("crawled", "uncrawled"):
        budget.note(f"is: needs crawled or uncrawled, not {text[:40]}")
        return ()
    return (node,) if budget.take() else ()


def _is_time(node: Changed) -> bool:
    try:
        node.times(0.0)
    except ValueError:  # no such day
        return False
    return True
