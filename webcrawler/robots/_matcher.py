"""Which rule decides on a path? RFC 9309, 2.2.2 and 2.2.3.

Compiled once: a rule without special characters costs nothing at a question, however many there are; one
with `*` or `$` is tried, in time linear in its length and the path's (CVE-2026-55520: no regular expression).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
# Percent-encoded characters that compare as themselves: all printable ASCII but "%", and "/" and "?", which
# would separate parts of a URL.
_PLAIN = {f"%{ord(character):02X}": character for character in _PRINTABLE if character not in "/?%"}
_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_INDEX = re.compile(r"/index\.html?$")


class _Rank(NamedTuple):
    """The greater decides: most octets, then Allow (2.2.2); of no octets where no rule matches."""

    octets: int
    allow: bool


class _Special(NamedTuple):
    """A pattern with `*` between its parts, or with `$` at its end."""

    rank: _Rank
    parts: tuple[str, ...]
    to_the_end: bool

    def matches(self, path: str) -> bool:
        first, *others = self.parts
        if not others:
            return path == first
        if not path.startswith(first):
            return False
        position = len(first)
        for part in others[:-1]:
            found = path.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        last = others[-1]
        if self.to_the_end:
            return path.endswith(last) and len(path) - len(last) >= position
        return path.find(last, position) >= 0


class Matcher:
    """All rules of a group: (allow?, pattern), compiled.

    Attributes:
        cost: of a question, in parts of patterns that may have to be looked for, 0.1 to 1 µs each.
        size: how many rules are kept.
    """

    __slots__ = ("_lengths", "_prefixes", "_special", "cost", "size")

    def __init__(self, rules: Iterable[tuple[bool, str]]) -> None:
        self._prefixes: dict[str, bool] = {}
        special: dict[tuple[tuple[str, ...], bool], _Special] = {}
        for allow, pattern in _implied(rules):
            to_the_end = pattern.endswith("$")
            parts = tuple(map(spelling, pattern.removesuffix("$").split("*")))
            if to_the_end or len(parts) > 1:
                rank = _Rank(len("*".join(parts)) + to_the_end, allow)
                known = special.get((parts, to_the_end))
                if known is None or known.rank < rank:
                    special[parts, to_the_end] = _Special(rank, parts, to_the_end)
            elif parts[0]:
                self._prefixes[parts[0]] = allow or self._prefixes.get(parts[0], False)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._special = sorted(special.values(), key=lambda rule: rule.rank, reverse=True)
        self.cost = sum(len(rule.parts) for rule in self._special)
        self.size = len(self._prefixes) + self.cost

    def allows(self, path: str) -> bool:
        """Say whether a path with its query may be fetched; it may where no rule matches."""
        return self.decision(path).allow

    def decision(self, path: str) -> _Rank:
        """Return the rank of the rule that decides."""
        path = spelling(path)
        best = _Rank(0, True)
        for length in self._lengths:
            if length <= len(path) and path[:length] in self._prefixes:
                best = _Rank(length, self._prefixes[path[:length]])
                break
        for rule in self._special:
            if rule.rank < best:
                break
            if rule.matches(path):
                return rule.rank
        return best


def spelling(text: str) -> str:
    """Return the spelling in which octets are compared (2.2.2): what is not ASCII in percent-encoding."""
    text = quote(text, safe=_PRINTABLE, errors="replace")
    return _ENCODED.sub(_spell, text) if "%" in text else text


def _spell(found: re.Match[str]) -> str:
    code = found[0].upper()
    return _PLAIN.get(code, code)


def _implied(rules: Iterable[tuple[bool, str]]) -> Iterable[tuple[bool, str]]:
    """A rule that allows `/d/index.html` also allows `/d/`: one page for `urls.canonical` and for Google."""
    for allow, pattern in rules:
        yield allow, pattern
        if allow and (index := _INDEX.search(pattern)):
            yield allow, pattern[: index.start() + 1] + "$"
