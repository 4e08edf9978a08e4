"""What the documents of a crawl say, read from the catalog one server after the other.

A server repeats itself: its menus stand on every page. So what is counted for completions counts at most
TAPER times a server, and a line that a server has said before adds nothing to the thesaurus.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Text
from webcrawler.text import analysis

DOCUMENTS = 50_000  # of larger crawls every second, third, … is read
BODY_CHARACTERS = 20_000
PASSAGE_WORDS = 80
WORD_CHARACTERS = 3  # at least, in a passage; most words that are shorter are stop words
SERVER_PASSAGES = 5_000  # of one server at most: a large one must not decide alone what goes together
LINES = 200_000  # of one server that are remembered
WORDS = 2_000_000  # different ones
TAPER = 16  # documents of one server that count
PHRASES = 200_000  # in memory at a time
FEW = 3  # pages of a server that have the same heading: what more of them have is "See also"
REPEATED = 0.1  # a part of so large a share of a server's titles is the server's name, or a section's
_AT_ONCE = 500  # documents

# "re — Regular expression operations — Python 3.11 documentation", "Vector | Docs", "Home: FAQ"
_PARTS = re.compile(r"\s+[-–—|·•»:/]+\s+|:\s+|\s*[·•»]\s*")
# No phrase spans one: what punctuation joins, as in code, is no run of words.
_BREAKS = re.compile(rf"{_PARTS.pattern}|_|[^\w\s{analysis.APOSTROPHES}-]+|\s-+|-+\s")
_NAMES = re.compile(r"\w+(?:(?:\.|::|->)\w+)*")
_IS_NAME = re.compile(r"[a-z][A-Z]|[^\W_](?:_+|\.|::|->)[^\W\d_]").search  # camelCase, a_b, a.b, a::b, a->b
_MAY_NAME = re.compile(r"[a-z][A-Z]|_|::|->").search  # whether a line may have such a name without a dot


class Collected:
    """Counts of words and phrases, titles, and passages; reads the whole catalog when made."""

    def __init__(self, catalog: Catalog, until: int) -> None:
        """Read the documents of the changes up to that seq, without finds of searches of the web."""
        self.numbers = _Numbers()  # of lower-case words
        self.documents = array("i")  # with a word, by its number
        self.servers = array("i")  # with a word
        self.tapered = array("i")  # documents with a word, of each server at most TAPER
        self.phrases: Counter[str] = Counter()  # tapered in the same way
        self.names: Counter[str] = Counter()  # in code, in titles and headings; tapered in the same way
        self.heads: dict[str, None] = {}  # headings that few pages of a server have
        self.titles: list[tuple[int, str]] = []  # by page number, without what all pages of a server say
        self.size = 0  # documents added
        self._passage_words = array("i")  # numbers of words, passage after passage
        self._passage_ends = array("q", [0])  # where each passage ends among them
        self._passage_servers = array("i")  # of each passage
        numbers = np.setdiff1d(catalog.changed(0, until), catalog.unseen())
        self.step = max(1, -(-len(numbers) // DOCUMENTS))
        numbers = numbers[:: self.step]
        self.server_of = catalog.urls.servers()[1]  # page number n at n - 1
        servers = self.server_of[numbers - 1]
        for server in np.unique(servers).tolist():
            self._add(server, catalog, numbers[servers == server].tolist())

    def _add(self, server: int, catalog: Catalog, numbers: list[int]) -> None:
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
        self.phrases = _tapered(self.phrases, one.phrases)
        self.names = _tapered(self.names, one.names)
        some = (head for head, documents in one.heads.items() if documents <= FEW)
        self.heads |= dict.fromkeys(islice(some, max(0, PHRASES - len(self.heads))))
        self.titles += distinct_titles(one.titles)
        step = max(1.0, len(one.passages) / SERVER_PASSAGES)
        for place in np.arange(0, len(one.passages), step).astype(int).tolist():
            self._passage_words.extend(one.passages[place])
            self._passage_ends.append(len(self._passage_words))
            self._passage_servers.append(server)

    def passages(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
        """Return words by number; where each passage ends among them, after a 0; its server, ascending."""
        words, servers = (
            np.frombuffer(some, np.int32) for some in (self._passage_words, self._passage_servers)
        )
        return words, np.frombuffer(self._passage_ends, np.int64), servers


class _Numbers(dict[str, int]):
    """Of words: one that is new gets the next."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Server:
    """What one server's documents say; a line that it says again is in no passage: menus, licences."""

    def __init__(self, numbers: _Numbers) -> None:
        self.documents: Counter[int] = Counter()
        self.phrases: Counter[str] = Counter()
        self.names: Counter[str] = Counter()
        self.heads: Counter[str] = Counter()
        self.titles: list[tuple[int, str]] = []
        self.passages: list[array[int]] = []
        self._numbers = numbers
        self._lines: dict[str, tuple[int, ...]] = {}  # the different words of a line
        self._open: list[int] = []  # words of the passage that has not ended
        self._stride, self._ended = 1, 0

    def add(self, page: int, text: Text) -> None:
        title, headings, body = map(analysis.seen, (text.title, text.headings, text.body[:BODY_CHARACTERS]))
        self.titles.append((page, title))
        heads = [title, *headings.split("\n")]
        self.phrases.update(set(phrases_of(heads)))
        self.names.update(set(names_of(heads)))
        if len(self.heads) < LINES:
            self.heads.update(set(heads[1:]))
        said: set[int] = set()
        for line in (*heads, *body.split("\n")):
            said.update(self._read(line))
        self.documents.update(said)
        self._end_passage()

    def _read(self, line: str) -> tuple[int, ...]:
        known = self._lines.get(line)
        if known is not None:
            return known
        if len(self._lines) >= LINES:
            self._lines.clear()
        words, numbers = analysis.words(analysis.lower_case(line)), self._numbers
        if len(numbers) < WORDS:
            found = dict(zip(words, map(numbers.__getitem__, words), strict=True))
        else:  # somebody writes random letters
            found = {word: numbers[word] for word in words if word in numbers}
        self._open += [number for word, number in found.items() if len(word) >= WORD_CHARACTERS]
        if len(self._open) >= PASSAGE_WORDS:
            self._end_passage()
        # Of a text only what is clear without its dots, which addresses and abbreviations have, too.
        if _MAY_NAME(line):
            self.names.update([one for one in _NAMES.findall(line) if "." not in one and _IS_NAME(one)])
        self._lines[line] = tuple(found.values())
        return self._lines[line]

    def _end_passage(self) -> None:
        words, self._open = self._open, []
        for start in range(0, len(words), PASSAGE_WORDS):
            if self._ended % self._stride == 0:
                self.passages.append(array("i", set(words[start : start + PASSAGE_WORDS])))
            self._ended += 1
        if len(self.passages) > 2 * SERVER_PASSAGES:
            self.passages = self.passages[::2]
            self._stride *= 2


def _tapered(counts: Counter[str], of_server: Counter[str]) -> Counter[str]:
    """Add what a server says; of too many, the most frequent half stays."""
    for text, documents in of_server.items():
        counts[text] += min(documents, TAPER)
    return counts if len(counts) <= PHRASES else Counter(dict(counts.most_common(PHRASES // 2)))


def _texts(catalog: Catalog, numbers: list[int]) -> Iterable[tuple[int, Text]]:
    """Return the texts of those that say something new: no duplicates, no near-duplicates."""
    documents, near = catalog.documents(numbers), catalog.near_duplicates(numbers)
    fresh = [number for number, one in documents.items() if not one.duplicate_of and number not in near]
    return catalog.texts(fresh).items()


def phrases_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield runs of two and three words that begin and end with a word other than a stop word; lower case."""
    for line in (part for whole in lines for part in _BREAKS.split(whole)):
        words = analysis.words(line.lower())
        says = [bool(term) and len(term) > 1 for term, _ in analysis.tokens_of(words)]
        for start, says_something in enumerate(says):
            for end in (start + 2, start + 3):
                if says_something and end <= len(says) and says[end - 1]:
                    yield " ".join(words[start:end])


def names_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield names in code as they are spelled: generate_password_hash, std::vector, virDomainCreate."""
    return filter(_IS_NAME, (name for line in lines for name in _NAMES.findall(line)))


def distinct_titles(titles: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the parts of the titles of a server's pages but those that many of them have; no empty ones."""
    parts = [(number, _PARTS.split(title)) for number, title in titles]
    often = Counter(part for _, some in parts for part in set(some))
    limit = max(2, REPEATED * len(titles))
    return [
        (number, part) for number, some in parts for part in some if often[part] <= limit and part.strip()
    ]
