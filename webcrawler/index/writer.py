"""Writing a commit to the two Whoosh indexes of a data folder: `index/` and `anchors/`.

Postings are collected by term and written a term at a time.
"""

from __future__ import annotations

import heapq
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.codec.whoosh3 import LENGTHS_COLUMN
from whoosh.index import FileIndex
from whoosh.reading import IndexReader
from whoosh.writing import OPTIMIZE, SegmentWriter

from webcrawler.index import once
from webcrawler.index.codec import BulkCodec, Row
from webcrawler.index.folder import applied_seq, open_index
from webcrawler.index.postings import Postings
from webcrawler.index.schema import (
    Anchored,
    Indexable,
    anchors_document,
    make_anchors_schema,
    make_schema,
)

SEGMENTS_PER_TIER = 8
FEW_SEGMENTS = 7  # not worth an optimize: it costs half of what writing them did, a search gains a fiftieth
_by_term = itemgetter(0, 1)
PATIENCE_SECONDS = 10.0
_MOST_MERGED = 5_000  # documents in one commit while a crawl may be alive: five seconds or so
_MOST_MERGED_ANCHORS = 50_000  # they are short


class BulkWriter(SegmentWriter):  # type: ignore[misc]
    """Writes one commit, without Whoosh's sorting pool.

    Holds the postings of new documents in memory, tens of megabytes for 500 pages. Merging segments takes the
    memory of one posting list.
    """

    def __init__(self, index: FileIndex) -> None:
        # One that was told to end frees its lock of the views a moment before that of the index.
        super().__init__(index, timeout=PATIENCE_SECONDS, codec=BulkCodec(compression=1))
        self.pool = _Pool()
        self._merged: list[tuple[Any, NDArray[np.int64]]] = []

    def delete_numbers(self, numbers: Iterable[int]) -> None:
        """Delete the committed documents with these page numbers."""
        wanted, offset = np.fromiter(numbers, np.int64), 0
        for segment in self.segments:
            with closing(segment.open_compound_file(self.storage)) as storage:
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
            numbers = np.arange(startdoc, startdoc + count)
        else:
            numbers = np.array([docmap.get(document, -1) for document in range(count)])
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

    def _rows(self, segment: Any, numbers: NDArray[np.int64]) -> Iterator[Row]:
        with (
            closing(segment.open_compound_file(self.storage)) as storage,
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


class WhooshEngine:
    """Two views of a catalog: its documents, and the anchors of its links. One writer for a data folder.

    A commit is written as a whole or not at all, and has the seq of the last change that it applied; after a
    crash, later changes are committed again. Documents replace those with the same page number.
    """

    def __init__(self, crawl_dir: Path, catalog: str, aside: bool = False) -> None:
        """Open both, made new where they are damaged, of another version or of another catalog.

        Args:
            catalog: its identity.
            aside: build new ones beside those that are searched.
        """
        ending = ".new" if aside else ""
        self._index = open_index(crawl_dir / f"index{ending}", catalog, make_schema)
        self._anchors = open_index(crawl_dir / f"anchors{ending}", catalog, make_anchors_schema)
        self.applied = int(self._index.schema.applied_seq)  # in a durable commit of documents
        self.anchors_applied = int(self._anchors.schema.applied_seq)
        self.elsewhere_applied = int(getattr(self._anchors.schema, "elsewhere_seq", 0))

    def commit(
        self,
        gone: Collection[int],
        documents: Sequence[Indexable],
        seq: int,
    ) -> None:
        """Commit documents, and that all changes up to `seq` are applied."""
        numbers = {*gone, *(one.document.number for one in documents)}
        _commit(self._index, numbers, map(once.made, documents), seq, _MOST_MERGED)
        sys.audit("webcrawler.index.committed")
        self.applied = seq

    def sampled(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return all page numbers, and of each how many pages told what repeats over its server."""
        with closing(self._index.reader()) as reader:
            return stored(reader, "number", ">u4"), stored(reader, "sampled", "u1")

    def commit_anchors(
        self, gone: Collection[int], anchors: Sequence[Anchored], seq: int, elsewhere_seq: int = 0
    ) -> None:
        """Commit anchors, and up to where catalog and other folders are followed."""
        numbers = {*gone, *(anchored.number for anchored in anchors)}
        documents = map(anchors_document, anchors)
        _commit(self._anchors, numbers, documents, seq, _MOST_MERGED_ANCHORS, elsewhere_seq)
        sys.audit("webcrawler.anchors.committed")
        self.anchors_applied, self.elsewhere_applied = seq, elsewhere_seq

    def optimize(self) -> None:
        """Merge all segments into one, where there are more than a few."""
        for index in (self._index, self._anchors):
            if len(index._segments()) > FEW_SEGMENTS:
                sys.audit("webcrawler.index.optimizing")
                BulkWriter(index).commit(optimize=True)

    def close(self) -> None:
        self._index.close()
        self._anchors.close()

    @staticmethod
    def applied_in(crawl_dir: Path, catalog: str | None = None) -> tuple[int, int]:
        """Return both seqs of what searchers see; 0 without an index of this catalog."""
        return applied_seq(crawl_dir / "index", catalog), applied_seq(crawl_dir / "anchors", catalog)


def stored(reader: IndexReader, column: str, kind: str) -> NDArray[Any]:
    """Return what a column has of each document that is not deleted."""
    arrays = [np.zeros(0, kind)]
    for leaf, _ in reader.leaf_readers() if reader.doc_count_all() else ():
        alive = np.ones(leaf.doc_count_all(), np.bool_)
        alive[list(leaf._perdoc.deleted_docs())] = False
        arrays.append(leaf._perdoc.array(column, kind)[alive])
    return np.concatenate(arrays)


def _commit(
    index: Any,
    numbers: Collection[int],
    documents: Iterable[dict[str, Any]],
    seq: int,
    most_merged: int,
    elsewhere_seq: int = 0,
) -> None:
    writer = BulkWriter(index)
    try:
        writer.delete_numbers(numbers)
        for document in documents:
            writer.add_document(**document)
    except BaseException:
        writer.cancel()
        raise
    sys.audit("webcrawler.index.added")
    writer.schema.applied_seq, writer.schema.elsewhere_seq = seq, elsewhere_seq
    writer.commit(mergetype=tiered(most_merged))
