"""What searches read of the index: whole posting lists as arrays over page numbers, of the newest commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import IndexReader

from webcrawler.errors import Unavailable
from webcrawler.index.whoosh import Cache, Key, LiveIndex, Posted, Segment, Values, joint, readable, segments

__all__ = ["Live", "Posted", "Reading"]

CACHE_BYTES = 32 << 20  # of lists of segments, and as much of whole lists
ANCHORS = ("anchor", "cited")  # the fields of the anchors index that have words
SERVER = "server"


class Reading:
    """One commit of the index and one of the anchors; for one thread.

    Arrays are by page number, which all are below `size`. What cannot be read raises Unavailable.
    """

    @readable()
    def __init__(
        self,
        index: IndexReader,
        anchors: IndexReader | None,
        generation: object,
        before: Reading | None = None,
    ) -> None:
        """Closes neither of the two; takes over what the reading `before` has of the same segments."""
        self.generation = generation
        known: dict[Key, Segment] = before._segments if before else {}
        self._read: Cache = before._read if before else Cache(CACHE_BYTES)
        ours = segments(index, known, self._read)
        theirs = segments(anchors, known, self._read) if anchors else {}
        self._segments: dict[Key, Segment] = ours | theirs
        self._read.keep(self._segments)
        self._index, self._anchors = list(ours.values()), list(theirs.values())
        self.documents = int(index.doc_count())
        self.size = 1 + max((segment.highest() for segment in (*self._index, *self._anchors)), default=0)
        self._lengths: dict[str, NDArray[np.float32]] = {}
        self._means: dict[str, float] = {}
        self._cache = Cache(CACHE_BYTES)  # of whole lists: those of several segments are joined anew
        self._indexed: NDArray[np.bool_] | None = None
        self._servers: list[str] | None = None

    def indexed(self) -> NDArray[np.bool_]:
        """Which pages are documents of the index; the others are only linked to, or unknown."""
        if self._indexed is None:
            self._indexed = np.zeros(self.size, np.bool_)
            for segment in self._index:
                self._indexed[segment.pages()] = True
        return self._indexed

    @readable()
    def posted(self, field: str, term: str) -> Posted:
        """The pages that have a term in title, body, words, meta, anchor or cited, or are of a server.

        Empty where there are none. Some 20 µs and 5 ns a posting; kept, the newest CACHE_BYTES of them.
        """
        key = field, term
        if (known := self._cache.get(key)) is None:
            parts = [segment.posted(field, term.encode()) for segment in self._of(field)]
            if field == SERVER:
                parts += [
                    self._without_indexed(segment.posted(field, term.encode())) for segment in self._anchors
                ]
            known = joint([part for part in parts if part is not None])
            self._cache.put(key, known)
        return known

    @readable()
    def frequency(self, field: str, term: str) -> int:
        """How many pages have it, from the term's entry; some that are deleted may still count."""
        return sum(segment.frequency(field, term.encode()) for segment in self._of(field))

    @readable()
    def starting(self, field: str, letters: str, limit: int) -> list[str]:
        """Terms that begin so, ascending; some may have lost their last page."""
        return [term for term, _ in islice(_terms(self._of(field), field, letters), limit)]

    @readable()
    def frequencies(self, field: str, letters: str) -> list[tuple[str, int]]:
        """The terms that begin so, ascending, each with its `frequency`; 3 µs a term."""
        return list(_terms(self._of(field), field, letters))

    @readable()
    def lengths(self, field: str) -> NDArray[np.float32]:
        """Words in that field, stop words left out; 0 where it has none.

        Exact for the body; others above 10 words are rounded by some per cent.
        """
        if field not in self._lengths:
            found = np.zeros(self.size, np.float32)
            for segment in self._of(field):
                alive = segment.alive
                found[segment.numbers[alive]] = segment.lengths(field)[alive]
            self._lengths[field] = found
        return self._lengths[field]

    def mean_length(self, field: str) -> float:
        """Words in that field, over the pages that have it; 1 where none has."""
        if field not in self._means:
            lengths = self.lengths(field)
            lengths = lengths[lengths > 0]
            self._means[field] = float(lengths.mean()) if len(lengths) else 1.0
        return self._means[field]

    @readable()
    def servers(self) -> list[str]:
        """Of all pages, also those only linked to; ascending."""
        if self._servers is None:
            self._servers = [term for term, _ in _terms((*self._index, *self._anchors), SERVER, "")]
        return self._servers

    def _of(self, field: str) -> list[Segment]:
        return self._anchors if field in ANCHORS else self._index

    def _without_indexed(self, part: Posted | None) -> Posted | None:
        if part is None:
            return None
        kept = ~self.indexed()[part.pages]
        return Posted(part.pages[kept], part.counts[kept], Values.of(()))


class Live:
    """Opens index and anchors again whenever they have a new commit. Not safe between threads."""

    def __init__(self, crawl_dir: Path, fresh_seconds: float = 0.0) -> None:
        """`fresh_seconds`: how old the last look for new commits may be."""
        self._index = LiveIndex(crawl_dir / "index")
        self._anchors = LiveIndex(crawl_dir / "anchors")
        self._reading: Reading | None = None
        self._fresh_seconds, self._fresh_until = fresh_seconds, 0.0

    @property
    def catalog(self) -> str:
        """The identity of the one that the reading's index follows."""
        return self._index.catalog

    def reading(self) -> Reading | None:
        """The newest commits that can be read; None where nothing is indexed.

        Without anchors, where those cannot be read: an answer is worth more than the best answer.

        Raises:
            Unavailable: there is an index, and no commit of it could be read.
        """
        now = monotonic()
        if self._reading and now < self._fresh_until:
            return self._reading
        self._fresh_until = now + self._fresh_seconds
        index = self._index.reader()
        try:
            anchors = self._anchors.reader()
        except Unavailable:
            anchors = None
        if index is None:
            return None
        if self._anchors.catalog != self.catalog:
            anchors = None
        generation = self._index.shows, self._anchors.shows if anchors else None
        if self._reading is None or self._reading.generation != generation:
            self._reading = Reading(index, anchors, generation, self._reading)
        return self._reading


def _terms(segments: Sequence[Segment], field: str, letters: str) -> Iterator[tuple[str, int]]:
    """Terms of all segments, ascending, each with how many documents have it."""
    found = merge(*(segment.starting(field, letters.encode()) for segment in segments))
    for term, same in groupby(found, key=itemgetter(0)):
        yield term.decode(), sum(frequency for _, frequency in same)
