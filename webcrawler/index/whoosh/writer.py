"""Whoosh's segment writer without its sorting pool: postings gather by term and are written by term."""

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
from webcrawler.index.whoosh.postings import Postings

_by_term = itemgetter(0, 1)


class BulkWriter(SegmentWriter):  # type: ignore[misc]
    """One commit. Holds its new documents' postings in memory: tens of megabytes for 500 pages.

    Segments are merged by streaming them term by term, in memory of one posting list.
    """

    def __init__(self, index: FileIndex) -> None:
        super().__init__(index, codec=BulkCodec(compression=1))
        self.pool = _Pool()
        self._merged: list[tuple[Any, list[int]]] = []

    def delete_numbers(self, numbers: Iterable[int]) -> None:
        """Deletes the committed documents with these page numbers."""
        wanted, offset = np.fromiter(numbers, np.int64), 0
        for segment in self.segments:
            with opened(self.storage, segment) as storage:
                reader = segment.codec().per_document_reader(storage, segment)
                known = reader.array("number", ">u4")
                for document in np.flatnonzero(np.isin(known, wanted)).tolist():
                    self.delete_document(offset + document)
                reader.close()
            offset += segment.doc_count_all()

    def add_postings_to_pool(self, reader: Any, startdoc: int, docmap: dict[int, int] | None) -> None:
        """Called per merged segment, after its stored fields and columns were copied."""
        count = reader.doc_count_all()
        table = list(range(startdoc, startdoc + count))
        if docmap is not None:
            table = [docmap.get(document, -1) for document in range(count)]
        self._merged.append((reader.segment(), table))

    def _flush_segment(self) -> None:
        self.perdocwriter.close()
        sources = [self.pool.rows(), *(self._rows(*merged) for merged in self._merged)]
        self.fieldwriter.add_rows(self.schema, _join(sources), self._lengths())
        self.fieldwriter.close()
        sys.audit("webcrawler.index.written")

    def _rows(self, segment: Any, table: list[int]) -> Iterator[Row]:
        with (
            opened(self.storage, segment) as storage,
            closing(segment.codec().terms_reader(storage, segment)) as terms,
        ):
            yield from terms.rows(table)

    def _lengths(self) -> dict[str, bytes]:
        reader, lengths = self.per_document_reader(), {}
        for name in self.schema.names():
            column = f"_{name}_len"
            known = reader.has_column(column)
            lengths[name] = (
                bytes(reader.column_reader(column, LENGTHS_COLUMN)) if known else bytes(self.docnum)
            )
        reader.close()
        return lengths


@contextmanager
def opened(storage: Any, segment: Any) -> Iterator[Any]:
    """Where the files of a segment are; unmapped in the end."""
    if segment.is_compound():
        with closing(segment.open_compound_file(storage)) as compound:
            yield compound
    else:
        yield storage


class _Pool:
    """Field to term to a flat list of document, weight, value, document, …"""

    def __init__(self) -> None:
        self._fields: defaultdict[str, defaultdict[bytes, list[Any]]] = defaultdict(lambda: defaultdict(list))

    def add(self, item: tuple[str, bytes, int, float, bytes]) -> None:
        self._fields[item[0]][item[1]] += item[2:]

    def rows(self) -> Iterator[Row]:
        for field, found in sorted(self._fields.items()):
            for term in sorted(found):
                flat = found[term]
                yield field, term, Postings.of(flat[::3], list(map(int, flat[1::3])), flat[2::3])

    def cleanup(self) -> None:
        self._fields.clear()


def _join(sources: list[Iterator[Row]]) -> Iterable[Row]:
    """Rows of the same term become one; sources hold ascending documents, one source after the other."""
    if len(sources) == 1:
        return sources[0]
    grouped = groupby(heapq.merge(*sources, key=_by_term), key=_by_term)
    return ((field, term, _concatenate(rows)) for (field, term), rows in grouped)


def _concatenate(rows: Iterable[Row]) -> Postings:
    joined, values = Postings([], [], b"", []), []
    for _, _, part in rows:
        base = len(joined.documents)
        joined.documents.extend(part.documents)
        joined.counts.extend(part.counts)
        joined.wide.extend(base + place for place in part.wide)
        values.append(part.values or b"")
    return joined._replace(values=b"".join(values) or None)


SEGMENTS_PER_TIER = 8
FEW_SEGMENTS = 3  # not worth an optimize

MergePolicy = Callable[[Any, list[Any]], list[Any]]


def tiered(max_documents: int) -> MergePolicy:
    """Merges the segments of a size class once there are eight; a class holds eight times the one before.

    So a document is written again once a class, log8(documents) times in all. `max_documents` caps what one
    commit merges.
    """

    def policy(writer: Any, segments: list[Any]) -> list[Any]:
        merged: list[Any] = []
        for members in _tiers(segments):
            if len(members) >= SEGMENTS_PER_TIER and _documents(merged + members) <= max_documents:
                merged += members
        if merged:
            sys.audit("webcrawler.index.merging")
        OPTIMIZE(writer, merged)
        return [segment for segment in segments if segment not in merged]

    return policy


def _tiers(segments: list[Any]) -> list[list[Any]]:
    tiers: defaultdict[int, list[Any]] = defaultdict(list)
    for segment in segments:
        tiers[(max(segment.doc_count(), 1).bit_length() - 1) // 3].append(segment)
    return [tiers[tier] for tier in sorted(tiers)]


def _documents(segments: list[Any]) -> int:
    return sum(segment.doc_count_all() for segment in segments)
