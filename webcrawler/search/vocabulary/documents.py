"""What the documents of a crawl say, read from the catalog one server after the other.

A server repeats itself: its menus stand on every page. So what is counted for completions counts at most
TAPER times a server, and a line that a server has said before adds nothing to the thesaurus.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Text
from webcrawler.search.vocabulary.phrases import distinct_titles, phrases_of
from webcrawler.search.vocabulary.spelling import spelled
from webcrawler.text import analysis

PASSAGE_WORDS = 80
WORD_CHARACTERS = 3  # at least; most that are shorter are stop words
SERVER_PASSAGES = 5_000  # of one server at most: a large one must not say alone what goes together
LINES = 200_000  # of one server that are remembered
WORDS = 2_000_000  # different ones


class Passages:
    """Those of all servers, end to end."""

    def __init__(self) -> None:
        self._words, self._ends, self._servers = array("i"), array("q", [0]), array("i")

    def add(self, server: int, passages: list[array[int]]) -> None:
        """Servers come in ascending order."""
        step = max(1.0, len(passages) / SERVER_PASSAGES)
        for place in np.arange(0, len(passages), step).astype(int).tolist():
            self._words.extend(passages[place])
            self._ends.append(len(self._words))
            self._servers.append(server)

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """Words by number; where each passage ends among them, after a 0; its server."""
        words, servers = (np.frombuffer(some, np.int32) for some in (self._words, self._servers))
        return words, np.frombuffer(self._ends, np.int64), servers


class Lines:
    """What one server says, line by line; what it says again is in no passage: menus, licences."""

    def __init__(self, numbers: dict[str, int]) -> None:
        """Take the numbers of words, to which new ones are added."""
        self.passages: list[array[int]] = []
        self._numbers = numbers
        self._lines: dict[str, tuple[int, ...]] = {}
        self._open: list[int] = []
        self._stride, self._ended = 1, 0

    def read(self, line: str) -> tuple[int, ...]:
        """The different words of a line by number."""
        words = self._lines.get(line)
        if words is None:
            if len(self._lines) >= LINES:
                self._lines.clear()
            found = self._numbered(analysis.words(spelled(line)))
            self._lines[line] = words = tuple(found.values())
            self._open += [number for word, number in found.items() if len(word) >= WORD_CHARACTERS]
            if len(self._open) >= PASSAGE_WORDS:
                self.end_passage()
        return words

    def end_passage(self) -> None:
        """The next line stands in another one."""
        words, self._open = self._open, []
        for start in range(0, len(words), PASSAGE_WORDS):
            if self._ended % self._stride == 0:
                self.passages.append(array("i", set(words[start : start + PASSAGE_WORDS])))
            self._ended += 1
        if len(self.passages) > 2 * SERVER_PASSAGES:
            self.passages = self.passages[::2]
            self._stride *= 2

    def _numbered(self, words: list[str]) -> dict[str, int]:
        numbers = self._numbers
        if len(numbers) >= WORDS:  # somebody writes random letters
            return {word: numbers[word] for word in words if word in numbers}
        return {word: numbers.setdefault(word, len(numbers)) for word in words}


DOCUMENTS = 50_000  # of larger crawls every second, third, … is read
BODY_CHARACTERS = 20_000
TAPER = 16  # documents of one server that count
PHRASES = 200_000  # in memory at a time
_AT_ONCE = 500  # documents


class Collected:
    """Counts of words and phrases, titles, and passages; reads the whole catalog when made."""

    def __init__(self, catalog: Catalog, until: int) -> None:
        """Take in the documents of the changes up to that seq."""
        self.numbers: dict[str, int] = {}  # of lower-case words
        self.documents = array("i")  # with a word, by its number
        self.servers = array("i")  # with a word
        self.tapered = array("i")  # documents with a word, of each server at most TAPER
        self.phrases: Counter[str] = Counter()  # tapered in the same way
        self.titles: list[tuple[int, str]] = []  # by page number, without what all pages of a server say
        self.passages = Passages()
        self.size = 0  # documents added
        numbers = catalog.changed(0, until)
        self.step = max(1, -(-len(numbers) // DOCUMENTS))
        self.server_of = catalog.urls.servers()[1]  # page number n at n - 1
        for server, some in _by_server(numbers[:: self.step], self.server_of):
            self._take_in(server, catalog, some)

    def _take_in(self, server: int, catalog: Catalog, numbers: list[int]) -> None:
        one = _Server(self.numbers)
        for start in range(0, len(numbers), _AT_ONCE):
            for number, text in _texts(catalog, numbers[start : start + _AT_ONCE]):
                one.add(number, text)
        self.size += len(one.titles)
        for counts in (self.documents, self.servers, self.tapered):
            counts.extend([0] * (len(self.numbers) - len(counts)))
        for word, documents in one.documents.items():
            self.documents[word] += documents
            self.servers[word] += 1
            self.tapered[word] += min(documents, TAPER)
        for phrase, documents in one.phrases.items():
            self.phrases[phrase] += min(documents, TAPER)
        if len(self.phrases) > PHRASES:
            self.phrases = Counter(dict(self.phrases.most_common(PHRASES // 2)))
        self.titles += distinct_titles(one.titles)
        self.passages.add(server, one.lines.passages)


class _Server:
    """What one server's documents say."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.lines = Lines(numbers)
        self.documents: Counter[int] = Counter()
        self.phrases: Counter[str] = Counter()
        self.titles: list[tuple[int, str]] = []

    def add(self, page: int, text: Text) -> None:
        self.titles.append((page, text.title))
        heads = [text.title, *text.headings.split("\n")]
        self.phrases.update(set(phrases_of(heads)))
        said: set[int] = set()
        for line in (*heads, *text.body[:BODY_CHARACTERS].split("\n")):
            said.update(self.lines.read(line))
        self.documents.update(said)
        self.lines.end_passage()


def _by_server(numbers: NDArray[np.int64], server_of: NDArray[np.int64]) -> Iterator[tuple[int, list[int]]]:
    servers = server_of[numbers - 1]
    for server in np.unique(servers).tolist():
        yield server, numbers[servers == server].tolist()


def _texts(catalog: Catalog, numbers: list[int]) -> Iterable[tuple[int, Text]]:
    """Of the documents among these that say something new."""
    documents, near = catalog.documents(numbers), catalog.near_duplicates(numbers)
    fresh = [number for number, one in documents.items() if not one.duplicate_of and number not in near]
    return catalog.texts(fresh).items()
