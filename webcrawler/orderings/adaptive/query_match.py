"""How well does a short text match a query: an anchor, the words around it, a URL?"""

from __future__ import annotations

import re
from functools import lru_cache

from webcrawler.orderings.topic import Wanted, share
from webcrawler.text import terms

REMEMBERED = 50_000  # texts: pages repeat their navigation
SHORT_FORM = 5  # letters at least: "regex", "vhost"
INITIALS = 3  # letters at least: "fts"
SHORTENED = range(2, 5)  # words that have short forms together
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Matcher:
    """Matches texts with one query; remembers the last ones."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._short = _short_forms(wanted.spelled)
        self.match = lru_cache(REMEMBERED)(self._match)

    def _match(self, text: str) -> float:
        """0 to 1: the share of the query's words in it; 1 where they are joined or shortened to one."""
        found = terms(text)
        if not self._wanted.joined.isdisjoint(found) or any(map(self.is_short_form, found)):
            return 1.0
        return share(self._wanted, dict.fromkeys(found, 1.0))

    def is_short_form(self, word: str) -> bool:
        """Beginnings of the words one after the other ("regexp" of "regular expressions"), or initials."""
        return bool(self._short and self._short.fullmatch(word))


def url_words(path: str) -> str:
    """The words of a path without its file extension, camel case taken apart."""
    stem, dot, extension = path.rpartition(".")
    return _INNER_CAPITAL.sub(" ", stem if dot and "/" not in extension else path)


def _short_forms(spelled: tuple[str, ...]) -> re.Pattern[str] | None:
    if len(spelled) not in SHORTENED:
        return None
    beginnings = "".join(map(_beginning, spelled))
    forms = [f"(?=.{{{SHORT_FORM},}}){beginnings}s?"]
    if len(spelled) >= INITIALS:
        forms.append("".join(re.escape(word[0]) for word in spelled))
    return re.compile("|".join(forms))


def _beginning(word: str) -> str:
    """A pattern for the first letters of a word, one or more."""
    first, *rest = map(re.escape, word)
    return first + "".join(f"(?:{letter}" for letter in rest) + ")?" * len(rest)
