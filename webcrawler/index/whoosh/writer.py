"""Writing one commit: postings are collected by term and written a term at a time."""

from __future__ import annotations

import heapq
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from whoosh.codec.whoosh3 import LENGTHS_COLUMN
from whoosh.index import FileIndex
from whoosh.writing import OPTIMIZE, SegmentWriter

from webcrawler.index.whoosh.codec import BulkCodec, Row
from webcrawler.index.whoosh.values import Postings

SEGMENTS_PER_TIER = 8
FEW_SEGMENTS = 3  # not worth an optimize
_by_term = itemgetter(0, 1)
PATIENCE_SECONDS = 10.0


class BulkWriter(SegmentWriter):  # type: ignore[misc]
    """Writes one commit, without Whoosh's sorting pool.

    Holds the postings of new documents in memory, tens of megabytes for 500 pages. Merging segments takes the
    memory of one posting list.
    """

    def __init__(self, index: FileIndex) -> None:
        # One that was told to end frees its lock of the views a moment before that of the index.
        super().__init__(index, timeout=PATIENCE_SECONDS, codec=BulkCodec(compression=1))
        self.pool = _Pool()
        self._merged: list[tuple[Any, list[int]]] = []

    def delete_numbers(self, numbers: Iterable[int]) -> None:
        """Delete the committed documents with these page numbers."""
        wanted, offset = np.fromiter(numbers, np.int64), 0
        for segment in self.segments:
            with _opened(self.storage, segment) as storage:
                reader = segment.codec().per_document_reader(storage, segment)
                known = reader.array("number", ">u4")
                for document in np.flatnonzero(np.isin(known, wanted)).tolist():
                    self.delete_document(offset + document)
                reader.close()
            offset += segment.doc_count_all()

    def add_postings_to_pool(self, reader: Any, startdoc: int, docmap: dict[int, int] | None) -> None:
        """Note which postings to copy. Whoosh calls this once it has copied a segment's stored fields."""
        count = reader.doc_count_all()
        if docmap is None:
            numbers = list(range(startdoc, startdoc + count))
        else:
            numbers = [docmap.get(document, -1) for document in range(count)]
        self._merged.append((reader.segment(), numbers))

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        sources = [self.pool.rows(), *(self._rows(*merged) for merged in self._merged)]
        # The documents of each source have higher numbers than those of the sources before it.
        rows = groupby(heapq.merge(*sources, key=_by_term), key=_by_term)
        joined = ((field, term, _joint(row[2] for row in same)) for (field, term), same in rows)
        self.fieldwriter.add_rows(self.schema, joined if self._merged else sources[0], self._lengths())
        self.fieldwriter.close()
        sys.audit("webcrawler.index.written")

    def _rows(self, segment: Any, numbers: list[int]) -> Iterator[Row]:
        with (
            _opened(self.storage, segment) as storage,
            closing(segment.codec().terms_reader(storage, segment)) as terms,
        ):
            yield from terms.rows(numbers)

    def _lengths(self) -> dict[str, bytes]:
        """Return the field lengths of all documents, by field."""
        reader, lengths = self.per_document_reader(), {}
        for name in self.schema.names():
            column = f"_{name}_len"
            lengths[name] = bytes(self.docnum)
            if reader.has_column(column):
                lengths[name] = bytes(reader.column_reader(column, LENGTHS_COLUMN))
        reader.close()
        return lengths


@contextmanager
def _opened(storage: Any, segment: Any) -> Iterator[Any]:
    """Where the files of a segment are; unmapped in the end."""
    if segment.is_compound():
        with closing(segment.open_compound_file(storage)) as compound:
            yield compound
    else:
        yield storage


class _Pool:
    """Collects postings by field and term, each as three items of a list: document, weight, value."""

    def __init__(self) -> None:
        self._fields: defaultdict[str, defaultdict[bytes, list[Any]]] = defaultdict(lambda: defaultdict(list))

    def add(self, item: tuple[str, bytes, int, float, bytes]) -> None:
        self._fields[item[0]][item[1]] += item[2:]

    def rows(self) -> Iterator[Row]:
        for field, found in sorted(self._fields.items()):
            for term in sorted(found):
                flat = found[term]
                values = flat[2::3]
                postings = flat[::3], list(map(int, flat[1::3])), list(map(len, values)), b"".join(values)
                yield field, term, Postings(*postings)

    def cleanup(self) -> None:
        self._fields.clear()


def _joint(parts: Iterable[Postings]) -> Postings:
    """Return postings of the same term, in different documents, as one list."""
    joint, values = Postings([], [], [], b""), []
    for part in parts:
        joint.documents.extend(part.documents)
        joint.counts.extend(part.counts)
        joint.lengths.extend(part.lengths)
        values.append(part.values)
    return joint._replace(values=b"".join(values))


def tiered(max_documents: int) -> Callable[[Any, list[Any]], list[Any]]:
    """Return a merge policy: eight segments of a size class are merged into one.

    The segments of a class are eight times as large as those of the class before, so a document is written
    log8(documents) times in all. `max_documents` limits what one commit merges.
    """

    def policy(writer: Any, segments: list[Any]) -> list[Any]:
        tiers: defaultdict[int, list[Any]] = defaultdict(list)
        for segment in segments:
            tiers[(max(segment.doc_count(), 1).bit_length() - 1) // 3].append(segment)
        merged: list[Any] = []
        for _, members in sorted(tiers.items()):
            documents = sum(segment.doc_count_all() for segment in (*merged, *members))
            if len(members) >= SEGMENTS_PER_TIER and documents <= max_documents:
                merged += members
        if merged:
            sys.audit("webcrawler.index.merging")
        OPTIMIZE(writer, merged)
        return [segment for segment in segments if segment not in merged]

    return policy
