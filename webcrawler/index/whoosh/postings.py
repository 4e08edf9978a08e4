"""The postings of one term on their way into a segment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from webcrawler.index.whoosh.values import Values, packed


class Postings(NamedTuple):
    """Whoosh document numbers, ascending, with a term's occurrences and encoded value in each."""

    documents: list[int]
    counts: list[int]
    values: bytes | None  # one behind the other; None: there are none in this field
    wide: list[int]  # places of those of four-byte hits

    @classmethod
    def of(cls, documents: list[int], counts: list[int], values: list[bytes]) -> Postings:
        joined = b"".join(values)
        narrow = len(joined) == 2 * sum(counts)
        wide = [] if narrow or not joined else [i for i, value in enumerate(values) if len(value) & 1]
        return cls(documents, counts, joined or None, wide)

    def blocks(self, size: int) -> Iterator[Postings]:
        start = 0
        for first in range(0, len(self.documents), size):
            last = first + size
            counts, values = self.counts[first:last], None
            wide = [
                i - first for i in self.wide[bisect_left(self.wide, first) : bisect_left(self.wide, last)]
            ]
            if self.values:
                end = start + 2 * sum(counts) + sum(2 * counts[i] + 1 for i in wide)
                start, values = end, self.values[start:end]
            yield Postings(self.documents[first:last], counts, values, wide)

    def renumbered(self, numbers: list[int], complete: bool) -> Postings:
        """By a table; -1 there leaves a document out."""
        documents = [numbers[document] for document in self.documents]
        if complete:
            return self._replace(documents=documents)
        kept = [place for place, document in enumerate(documents) if document >= 0]
        values, wide = self.values, self.wide
        if values:
            some = Values(packed(self.counts), wide, values).some(kept)
            values, wide = some.joined, list(some.wide)
        return Postings([documents[i] for i in kept], [self.counts[i] for i in kept], values, wide)
