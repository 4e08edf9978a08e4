"""Posting lists in memory: their hit lists are one run of bytes, read by a few operations on arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.whoosh.files import FACE

Ints = NDArray[np.int64]
Numbers: TypeAlias = "bytes | tuple[int, ...] | array[int]"

_FEW = 32  # the pickle of an array costs some 60 bytes more than the numbers do


def packed(numbers: Sequence[int]) -> Numbers:
    """Store numbers of 0 to 2^32 - 1, each in as few bytes as the highest needs."""
    highest = max(numbers)
    if highest < 1 << 8:
        return bytes(numbers)
    if len(numbers) < _FEW:
        return tuple(numbers)
    return array("H" if highest < 1 << 16 else "I", numbers)


def unpacked(numbers: Numbers) -> Ints:
    """Return what `packed` was given."""
    if isinstance(numbers, bytes):
        return np.frombuffer(numbers, np.uint8).astype(np.int64)
    return np.array(numbers, np.int64)


class Flat(NamedTuple):
    """The hits of many hit lists: those of list i are [starts[i]:starts[i + 1]], by ascending position."""

    starts: Ints  # one more than there are lists
    positions: NDArray[np.int32]
    sizes: NDArray[np.int8]  # -1 small, 0 plain, 1 bold or em … 6 h1
    capitals: NDArray[np.bool_]


class Values:
    """Encoded hit lists, end to end (see `hit_encoding`).

    They are told apart by how many hits each has, and by which are wide: a wide list has four bytes a hit and
    a closing byte, others have two bytes a hit. Stored in pickles as it is, since Whoosh's own matchers only
    need its items.
    """

    __module__ = FACE  # in pickles

    def __init__(self, counts: Numbers | None, wide: Sequence[int], joined: bytes) -> None:
        """`counts` is None where each list has one hit; `wide` has the places of wide lists."""
        self.wide, self.joined, self._packed = wide, joined, counts
        ones = (len(joined) - 3 * len(wide)) // 2
        self.counts: Ints = np.ones(ones, np.int64) if counts is None else unpacked(counts)
        self._starts: Ints | None = None  # in bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (self._packed, tuple(self.wide), self.joined)

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Values:
        """Join encoded hit lists; b"" is one without hits."""
        counts = [len(value) // 4 if len(value) & 1 else len(value) // 2 for value in values]
        wide = [place for place, value in enumerate(values) if len(value) & 1]
        return cls(packed(counts) if counts else b"", wide, b"".join(values))

    @classmethod
    def joint(cls, parts: Sequence[Values]) -> Values:
        """Return the hit lists of several posting lists, in their order."""
        if len(parts) == 1:
            return parts[0]
        made = cls(b"", (), b"".join(part.joined for part in parts))
        made.counts = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, np.int64)
        bases = np.cumsum([0, *map(len, parts)]).tolist()
        made.wide = [base + place for base, part in zip(bases, parts, strict=False) for place in part.wide]
        return made

    @classmethod
    def of_hits(cls, counts: Ints, hits: NDArray[np.uint32]) -> Values:
        """Encode hit lists, of `counts` hits each, all with four bytes a hit."""
        joined = np.zeros(4 * len(hits) + len(counts), np.uint8)
        closing = np.cumsum(4 * counts + 1) - 1
        joined[np.delete(np.arange(len(joined)), closing)] = hits.astype("<u4").view(np.uint8)
        made = cls(b"", (), joined.tobytes())
        made.counts, made.wide = counts, range(len(counts))
        return made

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, place: int) -> bytes:
        if not 0 <= place < len(self):
            raise IndexError(place)
        starts = self.starts()
        return self.joined[starts[place] : starts[place + 1]]

    def __iter__(self) -> Iterator[bytes]:
        return (self.joined[start:end] for start, end in pairwise(self.starts().tolist()))

    def starts(self) -> Ints:
        """Return where each list begins in `joined`, and the end of the last."""
        if self._starts is None:
            lengths = 2 * self.counts
            wide = list(self.wide)
            lengths[wide] = 4 * self.counts[wide] + 1
            self._starts = _starts(lengths)
        return self._starts

    def some(self, places: Iterable[int] | NDArray[Any]) -> Values:
        """Return the hit lists at these places, in that order."""
        chosen = np.asarray(places, np.int64).reshape(-1)
        starts = self.starts()
        lengths = starts[chosen + 1] - starts[chosen]
        ends = np.cumsum(lengths)
        taken: Ints = np.arange(lengths.sum())
        taken += np.repeat(starts[chosen] - (ends - lengths), lengths)
        made = Values(b"", (), _data(self.joined)[taken].tobytes())
        made.counts = self.counts[chosen]
        made.wide = np.flatnonzero(lengths & 1).tolist()
        return made

    def flat(self) -> Flat:
        """Decode all hit lists at once."""
        hits = self.hits()
        return Flat(
            _starts(self.counts),
            (hits >> 4).astype(np.int32),
            (hits >> 1 & 7).astype(np.int8) - np.int8(1),
            (hits & 1).astype(np.bool_),
        )

    def hits(self) -> NDArray[np.uint32]:
        """Return the hits of all lists as numbers, see `hit_encoding`."""
        if not len(self.wide):
            return np.frombuffer(self.joined, "<u2").astype(np.uint32)
        is_wide = np.zeros(len(self), np.bool_)
        is_wide[list(self.wide)] = True
        starts, data = self.starts(), _data(self.joined)
        in_wide = np.repeat(is_wide, np.diff(starts))
        narrow = data[~in_wide].view("<u2")
        in_wide[starts[1:][is_wide] - 1] = False  # the byte that closes it
        hits = np.empty(int(self.counts.sum()), np.uint32)
        of_wide = np.repeat(is_wide, self.counts)
        hits[of_wide] = data[in_wide].view("<u4")
        hits[~of_wide] = narrow
        return hits


class Postings(NamedTuple):
    """The postings of one term on their way into a segment."""

    documents: list[int]  # Whoosh's document numbers, ascending
    counts: list[int]  # occurrences in each
    values: bytes | None  # their hit lists, end to end; None in a field that has none
    wide: list[int]  # places of wide hit lists

    @classmethod
    def of(cls, documents: list[int], counts: list[int], values: list[bytes]) -> Postings:
        joined = b"".join(values)
        narrow = len(joined) == 2 * sum(counts)
        wide = [] if narrow or not joined else [i for i, value in enumerate(values) if len(value) & 1]
        return cls(documents, counts, joined or None, wide)

    def blocks(self, size: int) -> Iterator[Postings]:
        """Cut the list into parts of at most `size` documents."""
        start = 0
        for first in range(0, len(self.documents), size):
            last = first + size
            counts, values = self.counts[first:last], None
            places = slice(bisect_left(self.wide, first), bisect_left(self.wide, last))
            wide = [place - first for place in self.wide[places]]
            if self.values:
                end = start + 2 * sum(counts) + sum(2 * counts[i] + 1 for i in wide)
                start, values = end, self.values[start:end]
            yield Postings(self.documents[first:last], counts, values, wide)

    def renumbered(self, numbers: list[int], complete: bool) -> Postings:
        """Return the postings with the numbers that a table gives; -1 there leaves a document out.

        Args:
            complete: the table leaves no document out.
        """
        documents = [numbers[document] for document in self.documents]
        if complete:
            return self._replace(documents=documents)
        kept = [place for place, document in enumerate(documents) if document >= 0]
        values, wide = self.values, self.wide
        if values:
            some = Values(packed(self.counts), wide, values).some(kept)
            values, wide = some.joined, list(some.wide)
        return Postings([documents[i] for i in kept], [self.counts[i] for i in kept], values, wide)


def _starts(lengths: Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _data(joined: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(joined, np.uint8)
