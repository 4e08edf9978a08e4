"""Many hit lists as one: the values of a posting list, read by a few operations on arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from webcrawler.index.whoosh.pickles import FACE

Numbers: TypeAlias = "bytes | tuple[int, ...] | array[int]"

_FEW = 32  # the pickle of an array costs some 60 bytes more than the numbers do


def packed(numbers: Sequence[int]) -> Numbers:
    """Numbers of 0 to 2^32 - 1, each in as few bytes as the highest needs."""
    highest = max(numbers)
    if highest < 1 << 8:
        return bytes(numbers)
    if len(numbers) < _FEW:
        return tuple(numbers)
    return array("H" if highest < 1 << 16 else "I", numbers)


def unpacked(numbers: Numbers) -> NDArray[np.int64]:
    match numbers:
        case bytes():
            return np.frombuffer(numbers, np.uint8).astype(np.int64)
        case tuple():
            return np.array(numbers, np.int64)
        case _:
            return np.frombuffer(numbers, numbers.typecode).astype(np.int64)


Ints = NDArray[np.int64]


class Flat(NamedTuple):
    """The hits of many values: those of value i are [starts[i]:starts[i + 1]], by ascending position."""

    starts: Ints  # one more than there are values
    positions: NDArray[np.int32]
    sizes: NDArray[np.int8]  # -1 small, 0 plain, 1 bold or em … 6 h1
    capitals: NDArray[np.bool_]


class Values(Sequence[bytes]):
    """Encoded hit lists one behind the other. What cuts them is how many hits each has, and which are wide.

    A wide one has four bytes a hit and one that closes it, others two bytes a hit (`hitlists`). Pickles
    hold it as it is, so Whoosh's own matchers find a sequence of bytes here.
    """

    __module__ = FACE  # in pickles

    def __init__(self, counts: Numbers | None, wide: Sequence[int], joined: bytes) -> None:
        """None: one hit each."""
        self.wide, self.joined, self._packed = wide, joined, counts
        ones = (len(joined) - 3 * len(wide)) // 2
        self.counts: Ints = np.ones(ones, np.int64) if counts is None else unpacked(counts)
        self._starts: Ints | None = None  # in bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return Values, (self._packed, tuple(self.wide), self.joined)

    @classmethod
    def of(cls, values: Sequence[bytes]) -> Values:
        """b"" is a list without hits."""
        counts = [len(value) // 4 if len(value) & 1 else len(value) // 2 for value in values]
        wide = [place for place, value in enumerate(values) if len(value) & 1]
        return cls(packed(counts) if counts else b"", wide, b"".join(values))

    @classmethod
    def joint(cls, parts: Sequence[Values]) -> Values:
        """Those of several posting lists, in their order."""
        if len(parts) == 1:
            return parts[0]
        made = cls(b"", (), b"".join(part.joined for part in parts))
        made.counts = np.concatenate([part.counts for part in parts]) if parts else np.zeros(0, np.int64)
        bases = np.cumsum([0, *map(len, parts)]).tolist()
        made.wide = [base + place for base, part in zip(bases, parts, strict=False) for place in part.wide]
        return made

    def __len__(self) -> int:
        return len(self.counts)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> list[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | list[bytes]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        starts, place = self.starts(), place % len(self)
        return self.joined[starts[place] : starts[place + 1]]

    def starts(self) -> Ints:
        """Where each begins in `joined`, and its end."""
        if self._starts is None:
            lengths = 2 * self.counts
            wide = list(self.wide)
            lengths[wide] = 4 * self.counts[wide] + 1
            self._starts = _starts(lengths)
        return self._starts

    def some(self, places: Iterable[int] | NDArray[Any]) -> Values:
        """Those at these places, in that order."""
        chosen = np.asarray(places, np.int64).reshape(-1)
        starts = self.starts()
        lengths = starts[chosen + 1] - starts[chosen]
        made = Values(b"", (), _data(self.joined)[_spans(starts[chosen], lengths)].tobytes())
        made.counts = self.counts[chosen]
        made.wide = np.flatnonzero(lengths & 1).tolist()
        return made

    def flat(self) -> Flat:
        hits = self._hits()
        return Flat(
            _starts(self.counts),
            (hits >> 4).astype(np.int32),
            (hits >> 1 & 7).astype(np.int8) - np.int8(1),
            (hits & 1).astype(np.bool_),
        )

    def _hits(self) -> NDArray[np.uint32]:
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


def flat(values: Sequence[bytes]) -> Flat:
    """The hits of all these values at once."""
    return (values if isinstance(values, Values) else Values.of(values)).flat()


def _starts(lengths: Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _spans(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of all spans, one span behind the other."""
    ends = np.cumsum(lengths)
    places: Ints = np.arange(lengths.sum())
    places += np.repeat(starts - (ends - lengths), lengths)
    return places


def _data(joined: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(joined, np.uint8)
