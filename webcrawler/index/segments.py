"""What a segment tells of its pages, and those of Whoosh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import IndexReader
from whoosh.util.numeric import byte_to_length

from webcrawler.index.postings import Posted

_LENGTHS = np.array([byte_to_length(byte) for byte in range(256)], np.float32)


class Segment(Protocol):
    """A part of an index; a page that is alive is in one of them only."""

    numbers: NDArray[np.int32]  # page numbers, by document
    alive: NDArray[np.bool_]  # which documents are not deleted

    def posted(self, field: str, term: bytes) -> Posted | None:
        """Return the posting list of a term, without deleted documents."""

    def frequency(self, field: str, term: bytes) -> int:
        """Return how many documents have a term; deleted ones may still count."""

    def starting(self, field: str, letters: bytes) -> Iterable[tuple[bytes, int]]:
        """Return the terms that begin so, ascending, each with its `frequency`."""

    def lengths(self, field: str) -> NDArray[Any]:
        """Return how many words each document has in a field."""

    def bytes_of(self, column: str, pages: Sequence[int]) -> Iterable[tuple[int, bytes]]:
        """Return each of those pages that are here, with what it has in a column of bytes."""


class Stored:
    """A segment of Whoosh's: turns its document numbers into page numbers."""

    def __init__(self, leaf: Any) -> None:
        self._terms, self._documents = leaf._terms, leaf._perdoc
        self.numbers: NDArray[np.int32] = self._documents.array("number", ">u4").astype(np.int32)
        self.alive = np.ones(len(self.numbers), np.bool_)
        self.alive[list(self._documents.deleted_docs())] = False

    def posted(self, field: str, term: bytes) -> Posted | None:
        found = self._terms.arrays(field, term)
        if found is None:
            return None
        documents, counts, values = found
        if not self.alive.all():
            kept = np.flatnonzero(self.alive[documents])
            documents, counts = documents[kept], counts[kept]
            values = values.some(kept) if len(values) else values
        return Posted(self.numbers[documents], counts.astype(np.float32), values)

    def frequency(self, field: str, term: bytes) -> int:
        try:
            return int(self._terms.doc_frequency(field, term))
        except KeyError:
            return 0

    def starting(self, field: str, letters: bytes) -> Iterator[tuple[bytes, int]]:
        found: Iterator[tuple[bytes, int]] = self._terms.starting(field, letters)
        return found

    def lengths(self, field: str) -> NDArray[Any]:
        if field == "body":
            exact: NDArray[np.uint32] = self._documents.array("length", ">u4")
            return exact
        coded: NDArray[np.uint8] = self._documents.array(f"_{field}_len", "u1")
        return _LENGTHS[coded]

    def bytes_of(self, column: str, pages: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        for document in np.flatnonzero(self.alive & np.isin(self.numbers, pages)).tolist():
            yield int(self.numbers[document]), self._documents.bytes_of(column, document)


def segments(reader: IndexReader) -> list[Stored]:
    """Return the segments of a commit that have documents."""
    return [Stored(leaf) for leaf, _ in reader.leaf_readers() if leaf.doc_count()]
