"""Posting lists in memory: their hit lists are one run of bytes, read by a few operations on arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.files import FACE

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
    """Encoded hit lists, end to end (see `hits`).

    They are told apart by their lengths: a wide list has four bytes a hit and a closing byte, so an odd
    length; others have two bytes a hit. Stored in pickles as it is, since Whoosh's own matchers only need its
    items.
    """

    __module__ = FACE  # in pickles

    def __init__(self, lengths: Numbers | Ints | None, joined: bytes) -> None:
        """`lengths` in bytes; None where each list has one hit of two bytes."""
        self.joined, self._packed = joined, lengths
        if lengths is None:
            self.lengths: Ints = np.full(len(joined) // 2, 2, np.int64)
        else:
            self.lengths = lengths if isinstance(lengths, np.ndarray) else unpacked(lengths)
        self._starts: Ints | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (self._packed, self.joined)

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Values:
        """Join encoded hit lists; b"" is one without hits."""
        return cls(np.array(list(map(len, values)), np.int64), b"".join(values))

    @classmethod
    def joint(cls, parts: Sequence[Values]) -> Values:
        """Return the hit lists of several posting lists, in their order."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
        return cls(lengths, b"".join(part.joined for part in parts))

    @classmethod
    def of_hits(cls, counts: Ints, hits: NDArray[np.uint32]) -> Values:
        """Encode hit lists, of `counts` hits each, all with four bytes a hit."""
        lengths = 4 * counts + 1
        joined = np.zeros(lengths.sum(), np.uint8)
        joined[np.delete(np.arange(len(joined)), np.cumsum(lengths) - 1)] = hits.astype("<u4").view(np.uint8)
        return cls(lengths, joined.tobytes())

    @property
    def counts(self) -> Ints:
        """How many hits each list has."""
        return np.where(self.lengths & 1, self.lengths // 4, self.lengths // 2)

    def __len__(self) -> int:
        return len(self.lengths)

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
            self._starts = _starts(self.lengths)
        return self._starts

    def some(self, places: Iterable[int] | NDArray[Any]) -> Values:
        """Return the hit lists at these places, in that order."""
        chosen = np.asarray(places, np.int64).reshape(-1)
        lengths = self.lengths[chosen]
        taken: Ints = np.arange(lengths.sum())
        taken += np.repeat(self.starts()[chosen] - (np.cumsum(lengths) - lengths), lengths)
        return Values(lengths, _data(self.joined)[taken].tobytes())

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
        """Return the hits of all lists as numbers, see `hits`."""
        is_wide, data = (self.lengths & 1).astype(np.bool_), _data(self.joined)
        if not is_wide.any():
            return data.view("<u2").astype(np.uint32)
        in_wide = np.repeat(is_wide, self.lengths)
        narrow = data[~in_wide].view("<u2")
        in_wide[self.starts()[1:][is_wide] - 1] = False  # the byte that closes it
        of_wide = np.repeat(is_wide, self.counts)
        hits = np.empty(len(of_wide), np.uint32)
        hits[of_wide] = data[in_wide].view("<u4")
        hits[~of_wide] = narrow
        return hits


class Posted(NamedTuple):
    """The posting list of one term in one field."""

    pages: NDArray[np.int32]  # page numbers, each once, in no promised order
    counts: NDArray[np.float32]  # occurrences
    values: Values  # hit lists


class Postings(NamedTuple):
    """The postings of one term on their way into a segment."""

    documents: list[int]  # Whoosh's document numbers, ascending
    counts: list[int]  # occurrences in each
    lengths: list[int]  # of their hit lists, in bytes
    values: bytes  # their hit lists, end to end; empty in a field that has none

    def blocks(self, size: int) -> Iterator[Postings]:
        """Cut the list into parts of at most `size` documents."""
        start = 0
        for first in range(0, len(self.documents), size):
            part = slice(first, first + size)
            lengths = self.lengths[part]
            end = start + sum(lengths)
            yield Postings(self.documents[part], self.counts[part], lengths, self.values[start:end])
            start = end


def _starts(lengths: Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _data(joined: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(joined, np.uint8)
