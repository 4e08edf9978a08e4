"""What searches read of the newest commit: whole posting lists as arrays over page numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.hits import Vector, decode_vector
from webcrawler.index.postings import Posted, Values
from webcrawler.index.segments import Segment
from webcrawler.text import parts

CACHE_BYTES = 64 << 20  # of posting lists
ANCHORS = ("anchor", "cited")  # the fields of the anchors index that have words
SERVER, LANGUAGE = "server", "language"
ENGLISH_FIELDS = (*ANCHORS, "words")  # analysed as such, whatever the language of the page
DOCUMENT_FIELDS = ("title", "body", "part")  # a document is about the words in these


def joint(parts: Sequence[Posted]) -> Posted:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Posted(np.zeros(0, np.int32), np.zeros(0, np.float32), Values.of(()))
    pages, counts = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return Posted(pages, counts, Values.joint([part.values for part in parts]))


def merged(parts: Sequence[Posted]) -> Posted:
    """Return the posting list of any of several terms: of a page with more than one, each hit once."""
    together = joint(parts)
    if len(parts) < 2:
        return together
    pages, places = np.unique(together.pages, return_inverse=True)
    if len(pages) == len(together.pages):
        return together
    of, hits = np.repeat(places, together.values.counts), together.values.hits()
    once = np.unique(of.astype(np.int64) << 32 | hits)
    counts, hits = np.bincount(once >> 32, minlength=len(pages)), once.astype(np.uint32)
    return Posted(pages, counts.astype(np.float32), Values.of_hits(counts, hits))


def _size_bytes(posted: Posted) -> int:
    values = posted.values
    # 8 bytes a list once its start is known
    held = len(values.joined) + values.lengths.nbytes + 8 * len(values)
    return posted.pages.nbytes + posted.counts.nbytes + held + 200


class Reading:
    """One commit of the index and one of the anchors; for one thread.

    Arrays are by page number; all page numbers are below `size`.
    """

    def __init__(
        self,
        index: Sequence[Segment],
        anchors: Sequence[Segment],
        generation: object,
    ) -> None:
        self.generation = generation
        self._index, self._anchors = index, anchors
        self.documents = sum(int(np.count_nonzero(one.alive)) for one in index)
        highest = (int(one.numbers.max(initial=0)) for one in (*self._index, *self._anchors))
        self.size = 1 + max(highest, default=0)
        self._lengths: dict[str, NDArray[np.float32]] = {}
        self._means: dict[str, float] = {}
        self._pages_in: dict[str, NDArray[np.bool_]] = {}  # a language
        self._lists: dict[tuple[str, str], Posted] = {}
        self._lists_bytes = 0

    @cached_property
    def indexed(self) -> NDArray[np.bool_]:
        """Which pages are documents of the index; the others are only linked to, or unknown."""
        return self._pages(self._index)

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """Which pages are linked to with an anchor text, fetched or not."""
        return self._pages(self._anchors)

    def posted(self, field: str, term: str) -> Posted:
        """Return the pages that have a term in a field, or are of a server.

        A term may be several, joined by "|": `news|fr:new` is one in any page, the other in French ones.

        Takes 20 µs and 5 ns a posting; a search asks for each list several times, so CACHE_BYTES are kept.
        """
        key = field, term
        if key not in self._lists:
            posted = self._read(field, term)
            self._lists_bytes += _size_bytes(posted)
            if self._lists_bytes > CACHE_BYTES:
                self._lists, self._lists_bytes = {}, _size_bytes(posted)
            self._lists[key] = posted
        return self._lists[key]

    def _read(self, field: str, term: str) -> Posted:
        if "|" in term:
            several = [self._in_language(field, *part) for part in parts(term)]
            return merged([posted for posted in several if len(posted.pages)])
        lists = [segment.posted(field, term.encode()) for segment in self._of(field)]
        if field == SERVER:  # pages that are only linked to are in the anchors alone
            for segment in self._anchors:
                if part := segment.posted(field, term.encode()):
                    is_alone = ~self.indexed[part.pages]
                    lists.append(Posted(part.pages[is_alone], part.counts[is_alone], Values.of(())))
        return joint([part for part in lists if part is not None])

    def _in_language(self, field: str, language: str, term: str) -> Posted:
        found = self.posted(field, term)
        if not language or not len(found.pages):
            return found
        kept = np.flatnonzero(self._spoken(language)[found.pages] & (field not in ENGLISH_FIELDS))
        return Posted(found.pages[kept], found.counts[kept], found.values.some(kept))

    def _spoken(self, language: str) -> NDArray[np.bool_]:
        """Return which pages are in a language."""
        if language not in self._pages_in:
            self._pages_in[language] = np.zeros(self.size, np.bool_)
            self._pages_in[language][self.posted(LANGUAGE, language).pages] = True
        return self._pages_in[language]

    def frequency(self, field: str, term: str) -> int:
        """Return how many pages have a term; deleted ones may still count. Reads no posting list.

        Of several terms, joined by "|", a page may count as often as it has any.
        """
        if "|" in term:
            return sum(self._most(field, *part) for part in parts(term))
        return sum(segment.frequency(field, term.encode()) for segment in self._of(field))

    def _most(self, field: str, language: str, term: str) -> int:
        """Return how many pages have a term, at most those of the language, if one is given."""
        if language and field in ENGLISH_FIELDS:
            return 0
        return min(self.frequency(field, term), self.frequency(LANGUAGE, language) if language else self.size)

    def documents_with(self, term: str) -> int:
        """Return how many pages have a term in one of DOCUMENT_FIELDS."""
        held = np.zeros(self.size, np.bool_)
        for field in DOCUMENT_FIELDS:
            held[self.posted(field, term).pages] = True
        return int(held.sum())

    @cached_property
    def languages(self) -> dict[str, int]:
        """How many pages are in each language, ISO 639, the most first; a page may be in none."""
        return dict(sorted(_terms(self._index, LANGUAGE, ""), key=lambda one: (-one[1], one[0])))

    @property
    def main_language(self) -> str:
        """The language of more than half of the documents, "" where there is none."""
        language, pages = next(iter(self.languages.items()), ("", 0))
        return language if 2 * pages > self.documents else ""

    def foreign(self, language: str) -> NDArray[np.bool_]:
        """Return which pages are in another language; none where no page is in this one."""
        pages = np.zeros(self.size, np.bool_)
        for other in self.languages.keys() - {language} if language in self.languages else ():
            pages |= self._spoken(other)
        return pages

    def frequencies(self, field: str, letters: str) -> list[tuple[str, int]]:
        """Return the terms that begin so, ascending, each with its `frequency`; takes 3 µs a term."""
        return list(_terms(self._of(field), field, letters))

    def lengths(self, field: str) -> NDArray[np.float32]:
        """Return how many words each page has in a field.

        Exact for the body; in other fields, numbers above 10 are rounded by some per cent.
        """
        if field not in self._lengths:
            found = np.zeros(self.size, np.float32)
            for segment in self._of(field):
                alive = segment.alive
                found[segment.numbers[alive]] = segment.lengths(field)[alive]
            self._lengths[field] = found
        return self._lengths[field]

    def sections(self, pages: Sequence[int]) -> Values:
        """Return where the sections of each page begin, as hit lists: see `make_schema`.

        Like `vectors`, it reads nothing of other pages. Both are empty where a page is not in the index.
        """
        return Values.of(self._bytes_of("sections", pages))

    def vectors(self, pages: Sequence[int]) -> list[Vector]:
        """Return how often each term occurs at the beginning of each page; takes 20 µs a page."""
        return [decode_vector(data) for data in self._bytes_of("vector", pages)]

    def _bytes_of(self, column: str, pages: Sequence[int]) -> list[bytes]:
        found = dict(one for segment in self._index for one in segment.bytes_of(column, pages))
        return [found.get(page, b"") for page in pages]

    def mean_length(self, field: str) -> float:
        """Return the mean number of words in a field, over the pages that have it; 1 where none has."""
        if field not in self._means:
            lengths = self.lengths(field)
            lengths = lengths[lengths > 0]
            self._means[field] = float(lengths.mean()) if len(lengths) else 1.0
        return self._means[field]

    @cached_property
    def servers(self) -> dict[str, int]:
        """The servers of all pages, also of those only linked to, ascending, each with how many it has.

        A page that is both a document and linked to counts twice.
        """
        return dict(_terms((*self._index, *self._anchors), SERVER, ""))

    @cached_property
    def few_servers(self) -> int:
        """How many servers have documents; counts no further than to 1,000, as that may take long."""
        return sum(1 for _ in islice(_terms(self._index, SERVER, ""), 1000))

    def _pages(self, some: Sequence[Segment]) -> NDArray[np.bool_]:
        found = np.zeros(self.size, np.bool_)
        for segment in some:
            found[segment.numbers[segment.alive]] = True
        return found

    def _of(self, field: str) -> Sequence[Segment]:
        return self._anchors if field in ANCHORS else self._index


def _terms(segments: Sequence[Segment], field: str, letters: str) -> Iterator[tuple[str, int]]:
    """Yield the terms of all segments, ascending, each with how many documents have it."""
    found = merge(*(segment.starting(field, letters.encode()) for segment in segments))
    for term, same in groupby(found, key=itemgetter(0)):
        yield term.decode(), sum(frequency for _, frequency in same)
