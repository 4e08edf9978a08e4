"""Runs of words of a crawl, in which words may stand together; as numbers, to fit into memory."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

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
