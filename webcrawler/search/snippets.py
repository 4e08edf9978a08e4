"""The extract of a document that says why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import islice

from webcrawler.text import is_word_character, terms

WORDS = 30  # of a snippet
MAX_CHARACTERS = 400  # a text without spaces has long words
_BEFORE = 5  # words shown before the first match
_WINDOW = 180  # characters in which words count as shown together: about 25 words
_BACK = 60  # characters in which the words before are looked for
_BEGINNING = 50_000  # characters that are searched first,
_SCANNED = 200_000  # and characters that are searched if they have no word
_MATCHES = 50  # of one word that are looked at
_WORD = re.compile(r"[\w\u0300-\u036f]{1,60}(?:['’][\w\u0300-\u036f]{1,60})*")

Match = tuple[int, frozenset[str]]  # offset, words of the query that stand there


class Snippets:
    """Cuts snippets for one query; remembers which spellings are words of it."""

    def __init__(self, words: Collection[str], added: Collection[str] = ()) -> None:
        """Words that were added to the query are marked too, but typed words decide which part is shown."""
        self._typed = frozenset(words)
        self._words = self._typed.union(added)
        # Words begin with their stem, apart from a few; but Porter2 turns a final y into i.
        self._beginnings = {word[:-1] if word.endswith("i") and word[1:] else word for word in self._words}
        self._found: dict[str, frozenset[str]] = {}

    def cut(self, text: str) -> str:
        """Return about 30 words where most words of the query are together; the start if none is there.

        Runs of whitespace become one space; "…" marks text that was left out. Takes 0.2 ms for 100,000
        characters.
        """
        long, text = len(text) > _SCANNED, text[:_SCANNED]
        start = self._start(text, self._matches(text[:_BEGINNING]) or self._matches(text))
        words = text[start:].split(None, WORDS)
        window = " ".join(words[:WORDS])
        cut = len(window) > MAX_CHARACTERS or len(words) > WORDS or long
        before = "… " if text[:start].strip() else ""
        return before + window[:MAX_CHARACTERS] + (" …" if cut else "")

    def holds(self, text: str) -> bool:
        """Tell whether a word of the query is in the text."""
        return any(marked for _, marked in self.mark(text))

    def mark(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield the text in pieces, each with whether it is a word of the query: for bold type."""
        end = 0
        for match in _WORD.finditer(text):
            if self._match(match.group()):
                yield text[end : match.start()], False
                yield match.group(), True
                end = match.end()
        yield text[end:], False

    def _matches(self, text: str) -> list[Match]:
        lower = text.replace("İ", "I").lower()  # the one letter that becomes two
        offsets = {
            offset for beginning in self._beginnings for offset in islice(_places(lower, beginning), _MATCHES)
        }
        matches = []
        for offset in sorted(offsets):
            spelled = _WORD.match(text, offset)
            if spelled and (found := self._match(spelled.group())):
                matches.append((offset, found))
        return matches

    def _start(self, text: str, matches: list[Match]) -> int:
        """Return where the window with most different words of the query begins, then with most words."""
        best, first = (0, 0, 0), 0
        offsets = [offset for offset, _ in matches]
        for place, offset in enumerate(offsets):
            inside = [found for _, found in matches[place : bisect_left(offsets, offset + _WINDOW)]]
            different = frozenset[str]().union(*inside)
            value = (len(different & self._typed), len(different), len(inside))
            if value > best:
                best, first = value, offset
        begin = max(0, first - _BACK)
        before = [match.start() for match in re.finditer(r"\S+", text[begin:first])]
        if begin and before and not text[begin - 1].isspace():
            before = before[1:]  # the first is cut in two
        return begin + before[-_BEFORE:][0] if before else first

    def _match(self, spelling: str) -> frozenset[str]:
        found = self._found.get(spelling)
        if found is None:
            found = self._found[spelling] = self._words.intersection(terms(spelling))
        return found


def _places(text: str, beginning: str) -> Iterator[int]:
    """Yield where words begin so."""
    offset = text.find(beginning)
    for _ in range(10 * _MATCHES):
        if offset < 0:
            return
        if not offset or not is_word_character(text[offset - 1]):
            yield offset
        offset = text.find(beginning, offset + 1)
