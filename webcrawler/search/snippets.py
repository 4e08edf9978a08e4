"""The extract of a document that says why it was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from webcrawler.index.analysis import terms

WORDS = 30  # of a snippet
MAX_CHARACTERS = 400  # a text without spaces has long words
_BEFORE = 5  # words shown before the first match
_SCANNED = 200_000  # characters of a text that are looked at
_WINDOWS = 1000  # matches that a window is tried for

_WORD = re.compile(r"\S{1,60}")  # what has no spaces is cut anywhere


class Snippets:
    """Cuts snippets for one query; remembers which spellings are words of it."""

    def __init__(self, words: Collection[str]) -> None:
        self._words = frozenset(words)
        self._found: dict[str, frozenset[str]] = {}

    def cut(self, text: str) -> str:
        """The window of about 30 words that holds most words of the query; the start where none is.

        Runs of whitespace become one space; "…" stands where text was left out.
        """
        spans = [match.span() for match in _WORD.finditer(text[:_SCANNED])]
        first = self._best(text, spans)
        shown = spans[first : first + WORDS]
        window = " ".join(text[shown[0][0] : shown[-1][1]].split()) if shown else ""
        cut = len(window) > MAX_CHARACTERS or first + WORDS < len(spans) or len(text) > _SCANNED
        return ("… " if first else "") + window[:MAX_CHARACTERS] + (" …" if cut else "")

    def mark(self, text: str) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with whether it is a word of the query: for bold type."""
        end = 0
        for match in re.finditer(r"\w+", text):
            if self._match(match.group()):
                yield text[end : match.start()], False
                yield match.group(), True
                end = match.end()
        yield text[end:], False

    def _best(self, text: str, spans: list[tuple[int, int]]) -> int:
        """Index of the first word to show: most different words of the query win, then most, then first."""
        matches = [
            (i, found) for i, (start, end) in enumerate(spans) if (found := self._match(text[start:end]))
        ]
        best, first = (0, 0), 0
        for k, (i, _) in enumerate(matches[:_WINDOWS]):
            start = max(0, i - _BEFORE)
            inside = [found for j, found in matches[k : k + WORDS] if j < start + WORDS]
            value = (len(frozenset().union(*inside)), len(inside))
            if value > best:
                best, first = value, start
        return first

    def _match(self, spelling: str) -> frozenset[str]:
        found = self._found.get(spelling)
        if found is None:
            found = self._found[spelling] = self._words.intersection(terms(spelling))
        return found
