"""How well does a short text name what is looked for: an anchor, the words around it, a URL?"""

from __future__ import annotations

import re
from functools import lru_cache

from webcrawler.focus.pagescore import share
from webcrawler.focus.wanted import Wanted
from webcrawler.index.analysis import terms

REMEMBERED = 50_000  # texts: pages repeat their navigation
SHORT_FORM = 5  # letters at least: "regex", "vhost"
INITIALS = 3  # letters at least: "fts"
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Matcher:
    """Matches of one query; remembers what it has matched."""

    def __init__(self, wanted: Wanted, query: str) -> None:
        self._wanted = wanted
        self._short = _short_forms(query)
        self.match = lru_cache(REMEMBERED)(self._match)

    def _match(self, text: str) -> float:
        """0 to 1: the share of the query's words that stand in the text; 1 for a short form of all of them."""
        found = terms(text)
        if not self._wanted.joined.isdisjoint(found) or any(map(self.is_short_form, found)):
            return 1.0
        return share(self._wanted, dict.fromkeys(found, 1.0))

    def is_short_form(self, stem: str) -> bool:
        """Beginnings of the words one after the other ("regexp" of "regular expressions"), or their initials."""
        return bool(self._short and self._short.fullmatch(stem))


def url_words(path: str) -> str:
    """The words of a path, camel case taken apart."""
    return _INNER_CAPITAL.sub(" ", path.rpartition(".")[0] or path)


def _short_forms(query: str) -> re.Pattern[str] | None:
    from webcrawler.index.analysis import tokens, words

    spelled = [word.lower() for word in words(query)]
    spelled = [word for word, (stem, _) in zip(spelled, tokens(query), strict=True) if stem]
    if not 2 <= len(spelled) <= 4:
        return None
    beginnings = "".join(map(_beginning, spelled))
    initials = "".join(re.escape(word[0]) for word in spelled)
    choices = [f"(?=.{{{SHORT_FORM},}}){beginnings}s?"]
    if len(spelled) >= INITIALS:
        choices.append(initials)
    return re.compile("|".join(choices))


def _beginning(word: str) -> str:
    """A pattern for the first letters of a word, one or more."""
    first, *rest = map(re.escape, word)
    return first + "".join(f"(?:{letter}" for letter in rest) + ")?" * len(rest)
