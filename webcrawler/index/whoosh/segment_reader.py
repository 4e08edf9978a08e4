"""The segments of one commit, read a term at a time into arrays over page numbers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import IndexReader
from whoosh.util.numeric import byte_to_length

from webcrawler.errors import Unavailable
from webcrawler.index.whoosh.values import Values

P = ParamSpec("P")
T = TypeVar("T")

_LENGTHS = np.array([byte_to_length(byte) for byte in range(256)], np.float32)


def readable(read: Callable[P, T]) -> Callable[P, T]:
    """Raise Unavailable in place of what a damaged segment ends in, nearly any exception."""

    @wraps(read)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except Unavailable:
            raise
        except Exception as damage:
            fault = f"{type(damage).__name__}: {damage}"
            raise Unavailable(
                f"cannot read the index ({fault}): `webcrawler reindex` builds it anew"
            ) from damage

    return checked


class Posted(NamedTuple):
    """The posting list of one term in one field."""

    pages: NDArray[np.int32]  # page numbers, each once, in no promised order
    counts: NDArray[np.float32]  # occurrences
    values: Values  # hit lists


class Segment:
    """Turns Whoosh's document numbers into page numbers."""

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
        if len(values) and not len(values) == len(counts) == len(documents):
            raise ValueError(f"postings of {field}:{term!r} are torn")
        if int(values.starts()[-1]) != len(values.joined):
            raise ValueError(f"hits of {field}:{term!r} are torn")
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
        """Yield each of those pages that are here, with what it has in a column of bytes."""
        for document in np.flatnonzero(self.alive & np.isin(self.numbers, pages)).tolist():
            yield int(self.numbers[document]), self._documents.bytes_of(column, document)


class Cache:
    """Posting lists, the least recently used first."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes, self._bytes = most_bytes, 0
        self._known: OrderedDict[tuple[object, ...], Posted] = OrderedDict()

    def get(self, key: tuple[object, ...]) -> Posted | None:
        if key in self._known:
            self._known.move_to_end(key)
        return self._known.get(key)

    def put(self, key: tuple[object, ...], posted: Posted) -> None:
        self._known[key] = posted
        self._bytes += _size_bytes(posted)
        while self._bytes > self._most_bytes and len(self._known) > 1:
            self._bytes -= _size_bytes(self._known.popitem(last=False)[1])


def segments(reader: IndexReader) -> list[Segment]:
    """Return the segments of a commit that have documents."""
    return [Segment(leaf) for leaf, _ in reader.leaf_readers() if leaf.doc_count()]


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
