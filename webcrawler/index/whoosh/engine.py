"""Writing to the two Whoosh indexes of a data folder: `index/` and `anchors/`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.archive.catalog import NO_REPEATS, Repeats
from webcrawler.index.whoosh.folder import VIEWS, applied_seq, exchange, open_index
from webcrawler.index.whoosh.schema import (
    Anchored,
    anchors_document,
    early_of,
    index_document,
    make_anchors_schema,
    make_schema,
)
from webcrawler.index.whoosh.writer import FEW_SEGMENTS, BulkWriter, tiered
from webcrawler.records import Document, Text

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
        self.early = early_of(self._index.schema)
        self.anchors_applied = int(self._anchors.schema.applied_seq)

    @property
    def newest(self) -> int:
        """The last change that is applied, in turn or early."""
        return self.early[1] if self.early else self.applied

    def commit(
        self,
        gone: Collection[int],
        documents: Sequence[tuple[Document, Text]],
        seq: int,
        early: tuple[int, int] | None = None,
        repeats: Mapping[str, Repeats] = MappingProxyType({}),
    ) -> None:
        """Commit documents, and that all changes up to `seq` are applied, and those of `early`.

        Args:
            repeats: which blocks repeat over the pages of each server.
            early: after which change, and up to which; above `seq`.
        """
        numbers = {*gone, *(document.number for document, _ in documents)}
        made = (
            index_document(document, text, repeats.get(document.server, NO_REPEATS))
            for document, text in documents
        )
        _commit(self._index, numbers, made, seq, _MOST_MERGED, early)
        sys.audit("webcrawler.index.committed")
        self.applied, self.early = seq, early

    def sampled(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return all page numbers, and of each how many pages told what repeats over its server."""
        numbers, sampled = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint8)]
        with closing(self._index.reader()) as reader:
            for leaf, _ in reader.leaf_readers() if reader.doc_count_all() else ():
                documents = leaf._perdoc
                alive = np.ones(leaf.doc_count_all(), np.bool_)
                alive[list(documents.deleted_docs())] = False
                numbers.append(documents.array("number", ">u4")[alive])
                sampled.append(documents.array("sampled", "u1")[alive])
        return np.concatenate(numbers), np.concatenate(sampled)

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


def _commit(
    index: Any,
    numbers: Collection[int],
    documents: Iterable[dict[str, Any]],
    seq: int,
    most_merged: int,
    early: tuple[int, int] | None = None,
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
    writer.schema.applied_seq, writer.schema.early = seq, early
    writer.commit(mergetype=tiered(most_merged))
    # Whoosh's readers stand in cycles and keep merged segments mapped: 1.3 GB after 33,000 documents.
    gc.collect()
