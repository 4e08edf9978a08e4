"""Writing to the two Whoosh indexes of a data folder: `index/` and `anchors/`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from whoosh.reading import IndexReader

from webcrawler.index.whoosh.folder import VIEWS, applied_seq, exchange, open_index
from webcrawler.index.whoosh.schema import (
    Anchored,
    Indexable,
    anchors_document,
    index_document,
    make_anchors_schema,
    make_schema,
)
from webcrawler.index.whoosh.writer import FEW_SEGMENTS, BulkWriter, tiered

_MOST_MERGED = 5_000  # documents in one commit while a crawl may be alive: five seconds or so
_MOST_MERGED_ANCHORS = 50_000  # they are short


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

    def commit(
        self,
        gone: Collection[int],
        documents: Sequence[Indexable],
        seq: int,
    ) -> None:
        """Commit documents, and that all changes up to `seq` are applied."""
        numbers = {*gone, *(one.document.number for one in documents)}
        _commit(self._index, numbers, (index_document(*one) for one in documents), seq, _MOST_MERGED)
        sys.audit("webcrawler.index.committed")
        self.applied = seq

    def sampled(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return all page numbers, and of each how many pages told what repeats over its server."""
        with closing(self._index.reader()) as reader:
            return stored(reader, "number", ">u4"), stored(reader, "sampled", "u1")

    def commit_anchors(self, gone: Collection[int], anchors: Sequence[Anchored], seq: int) -> None:
        numbers = {*gone, *(anchored.number for anchored in anchors)}
        _commit(self._anchors, numbers, map(anchors_document, anchors), seq, _MOST_MERGED_ANCHORS)
        sys.audit("webcrawler.anchors.committed")
        self.anchors_applied = seq

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

    @staticmethod
    def exchange(crawl_dir: Path) -> None:
        """Put what was built aside in place of what is searched."""
        for name in VIEWS:
            exchange(crawl_dir / f"{name}.new", crawl_dir / name)


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
    writer.schema.applied_seq = seq
    writer.commit(mergetype=tiered(most_merged))
