"""The extract of a document that says why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from operator import itemgetter

from webcrawler.text import (
    analysis,
    compound,
    joins_words,
    parts,
)

WORDS = 30  # of a snippet
MAX_CHARACTERS = 400  # a text without spaces has long words
_BEFORE = 5  # words shown before the first match, where its sentence begins too far before it
_WINDOW = 180  # characters in which words count as shown together: about 25 words
_BACK = 100  # characters before the first match in which its sentence may begin
_RUNNING = 60  # characters of a line of running text, at least; others are headings, menus and lists
_SENTENCE = 0.75  # what running text is worth beside the number of different words
_SENTENCE_END = re.compile(r"[.!?:]\s+|[。！？]")
_BEGINNING = 50_000  # characters that are searched first,
_SCANNED = 200_000  # and characters that are searched if they have no word
_MATCHES = 50  # of one word that are looked at
_LETTERS = rf"(?:[^\W{analysis.UNSPACED}]|[{analysis.MARKS}]){{1,60}}"
_WORD = re.compile(rf"{_LETTERS}(?:(?:[{analysis.APOSTROPHES}]|(?:{analysis.UNSEEN})+){_LETTERS})*")
# Two characters of a word in a script without spaces, as the index has them; the last one stands alone.
_SIGNS = rf"[{analysis.MARKS}\uff9e\uff9f]*"  # those of Katakana of half width, too
_PAIR = re.compile(rf"[{analysis.UNSPACED}]{_SIGNS}(?=([{analysis.UNSPACED}]?{_SIGNS}))")
# In Latin, Greek and Cyrillic: letters of other scripts, and emoji, look otherwise without a joiner.
_UNSEEN = re.compile(rf"{analysis.UNSEEN}(?<=[\s0-9A-Za-z\u00c0-\u052f\u00ad\u2060].)")
_ACCENTED = re.compile("[\u00c0-\u024f\u03ac-\u03b0\u03ca-\u03ce\u0439\u0450-\u045f\u1e00-\u1fff]")
# Languages whose words begin as their terms do; as a stemmer of Dutch has it, "gemaakt" is of "maak".
_KEEPING = frozenset(re.findall(r"\w+", "ca cs da de en es fr hu it lt nb nn no pl pt ro ru sv"))

Match = tuple[int, frozenset[str]]  # offset, words of the query that stand there


class Snippets:
    """Cuts snippets for one query; remembers which spellings are words of it."""

    def __init__(self, words: Collection[str], added: Collection[str] = ()) -> None:
        """Words that were added to the query are marked too, but typed words decide which part is shown."""
        self._typed = frozenset(bare for word in words for _, bare in parts(word))
        self._words = self._typed.union(bare for word in added for _, bare in parts(word))
        self._languages = {language for word in (*words, *added) for language, _ in parts(word)}
        # Words begin with their stem, apart from a few; but Porter2 turns a final y into i.
        self._beginnings = {word[:-1] if word.endswith("i") and word[1:] else word for word in self._words}
        # "dying" has the term "die"
        self._first = tuple({word[:2] for word in self._words} | {f"{word[:1]}y" for word in self._words})
        self._changing = {one for one in self._languages if analysis.has_stemmer(one) and one not in _KEEPING}
        self._symbols = {word for word in self._words if analysis.symbols(word)}  # -Wall, c++
        self._found: dict[tuple[str, str], frozenset[str]] = {}

    def cut(self, text: str, language: str = "") -> str:
        """Return about 30 words where most words of the query are together, in running text if there is any.

        Where none is there, the running text begins it. Runs of whitespace become one space; "…" marks text
        that was left out; ¶, which leads to a section, is left out. Takes 0.2 ms for 100,000 characters.

        Args:
            language: of the text, here and below, ISO 639: in some, compounds have words of the query.
        """
        long, text = len(text) > _SCANNED, text[:_SCANNED]
        text = text if text.isascii() else _UNSEEN.sub("", text)
        matches = self._matches(text[:_BEGINNING], language) or self._matches(text, language)
        start = self._start(text, matches)
        words = text[start:].replace("¶", "").split(None, WORDS)
        window = " ".join(words[:WORDS])
        cut = len(window) > MAX_CHARACTERS or len(words) > WORDS or long
        before = "… " if text[:start].strip() else ""
        return before + window[:MAX_CHARACTERS] + (" …" if cut else "")

    def holds(self, text: str, language: str = "") -> bool:
        """Tell whether a word of the query is in the text."""
        return any(marked for _, marked in self.mark(text, language))

    def mark(self, text: str, language: str = "") -> Iterator[tuple[str, bool]]:
        """Yield the text in pieces, each with whether it is a word of the query: for bold type."""
        found = chain(_WORD.finditer(text), _PAIR.finditer(text))
        asked = [span for span in map(_span, found) if self._asked(text[slice(*span)], language)]
        asked += [(start, end) for start, end, _ in self._asked_symbols(text)]
        done = 0
        for start, end in _joined(asked):
            yield text[done:start], False
            yield text[start:end], True
            done = end
        yield text[done:], False

    def _matches(self, text: str, language: str) -> list[Match]:
        lower = text.replace("İ", "I").lower()  # the one letter that becomes two
        if not lower.isascii() and _ACCENTED.search(lower):
            lower = lower.translate(_bare_letters())
        offsets = {
            offset
            for beginning in self._beginnings
            for offset in islice(_places(lower, beginning, joins_words(language)), _MATCHES)
        }
        matches = []
        for offset in sorted(offsets):
            spelled = _WORD.match(text, offset) or _PAIR.match(text, offset)
            if spelled and (found := self._asked(text[slice(*_span(spelled))], language)):
                matches.append((offset, found))
        matches += [(start, frozenset((term,))) for start, _, term in self._asked_symbols(text)]
        return sorted(matches, key=itemgetter(0))

    def _start(self, text: str, matches: list[Match]) -> int:
        """Return where the best window begins, with its sentence if that is not far.

        It has the most different words of the query, running text counted as one of them, then most words.
        """
        if not matches:
            return _running_text(text)
        best, first = (0.0, 0, 0), 0
        offsets = [offset for offset, _ in matches]
        for place, offset in enumerate(offsets):
            inside = [found for _, found in matches[place : bisect_left(offsets, offset + _WINDOW)]]
            different = frozenset[str]().union(*inside)
            typed = len(different & self._typed)
            value = (typed + _SENTENCE * _is_running(text, offset), len(different), len(inside))
            if value > best:
                best, first = value, offset
        return _beginning(text, first)

    def _asked_symbols(self, text: str) -> list[tuple[int, int, str]]:
        """Return start, end and term of the options and names with signs that are words of the query."""
        return [one for one in analysis.symbols(text) if one[2] in self._symbols] if self._symbols else []

    def _asked(self, spelling: str, language: str) -> frozenset[str]:
        """Return the words of the query that a spelling is made of; none where it has others, too."""
        found = self._found.get((spelling, language))
        if found is None:
            found = self._found[spelling, language] = self._read(spelling, language)
        return found

    def _read(self, spelling: str, language: str) -> frozenset[str]:
        spelling = analysis.seen(spelling)
        plain = spelling.lower() if spelling.isascii() else analysis.unaccented(analysis.lower_case(spelling))
        plain = plain.lstrip("_")
        is_likely = analysis.is_unspaced(spelling) or self._begins(plain)
        for one in self._languages if is_likely else self._changing:
            spelled = analysis.indexed_words(spelling, single=False)
            terms = [self._words.intersection(analysis.readings(word, one)) for word in spelled]
            if all(terms):
                return frozenset[str]().union(*terms)
        if joins_words(language) and any(beginning in plain for beginning in self._beginnings):
            return self._words.intersection(compound(spelling, language))
        return frozenset()

    def _begins(self, plain: str) -> bool:
        """Tell whether a word can have a term of the query: few do, and to analyse all would take longest."""
        return plain.startswith(self._first) or plain.rpartition("'")[2].startswith(self._first)


@cache
def _bare_letters() -> dict[int, str]:
    """Return letters without their accents, by code; takes 10 ms."""
    return {code: analysis.unaccented(chr(code))[:1] for code in range(0x2000) if _ACCENTED.match(chr(code))}


def _is_running(text: str, offset: int) -> bool:
    """Is there a sentence, or a part of one, in the line at this place?"""
    start = text.rfind("\n", max(0, offset - _RUNNING), offset) + 1 or max(0, offset - _RUNNING)
    end = text.find("\n", offset, offset + _RUNNING)
    line = text[start : end if end >= 0 else offset + _RUNNING]
    return len(line) >= _RUNNING or line.rstrip().endswith((".", "!", "?", "。", "！", "？"))


def _running_text(text: str) -> int:
    """Return where the first line of running text begins, if that is not far; else 0."""
    start = 0
    while start < min(len(text), _BEGINNING // 10):
        if _is_running(text, start):
            return start
        start = text.find("\n", start) + 1 or len(text)
    return 0


def _beginning(text: str, first: int) -> int:
    """Return where the sentence or line of the first match begins; where that is far, a few words before."""
    back = max(0, first - _BACK)
    line = text.rfind("\n", back, first) + 1 or back
    ends = [match.end() for match in _SENTENCE_END.finditer(text, line, first)]
    start = ends[-1] if ends else line
    if start > back or not back:
        return start
    before = [match.start() for match in re.finditer(r"(?<!\S)\S+", text[first - _BACK : first])]
    return back + before[-_BEFORE:][0] if before else first


def _places(text: str, beginning: str, inside: bool) -> Iterator[int]:
    """Yield where words begin so, or where words begin that have it `inside`."""
    offset = text.find(beginning)
    for _ in range(10 * _MATCHES):
        if offset < 0:
            return
        before = text[offset - 1 : offset]
        if (
            not before
            or analysis.is_unspaced(beginning)
            or not (before == "_" or analysis.is_word_character(before))
        ):
            yield offset
        elif inside:
            yield _word_start(text, offset)
        offset = text.find(beginning, offset + 1)


def _span(found: re.Match[str]) -> tuple[int, int]:
    """Return where a word is, or a pair of characters, of which the second one is a group."""
    return found.start(), found.end(found.lastindex or 0)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans ascending, those that overlap or touch as one."""
    found = list[tuple[int, int]]()
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            start, before = found.pop()
            end = max(end, before)
        found.append((start, end))
    return found


def _word_start(text: str, offset: int) -> int:
    least = max(0, offset - analysis.MAX_TERM_CHARACTERS)
    while offset > least and analysis.is_word_character(text[offset - 1]):
        offset -= 1
    return offset
