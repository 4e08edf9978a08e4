"""Applying the catalog's changes to the index, a commit at a time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from webcrawler import failpoints
from webcrawler.catalog import Catalog
from webcrawler.index.folder import open_index
from webcrawler.index.merging import FEW_SEGMENTS, MergePolicy, tiered
from webcrawler.index.schema import index_document
from webcrawler.index.writer import BulkWriter
from webcrawler.records import Document

BATCH = 500  # changes to a commit (WC: "every few hundred documents")
PATIENCE_SECONDS = 5.0  # how long the first waiting change waits for the others
POLL_SECONDS = 0.5
_WHILE_CRAWLING = tiered(max_documents=5_000)  # to a commit: five seconds or so


class Follower:
    """Applies changes in their order and remembers the last one in the same commit.

    So a crash at any moment can only repeat what no commit holds; what is repeated replaces by number.
    Changes of documents that are no longer to be found (gone, duplicates, noindex, without text) remove them.
    """

    def __init__(self, catalog_path: Path, index_folder: Path) -> None:
        self._catalog = Catalog(catalog_path, readonly=True)
        self._index = open_index(index_folder, self._catalog.identity)
        self.applied = int(self._index.schema.applied_seq)

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._catalog.close()

    def waiting(self) -> int:
        """How many changes no commit holds yet, at most."""
        return self._catalog.last_seq() - self.applied

    def step(self, merge: MergePolicy = _WHILE_CRAWLING) -> int:
        """Commits the next changes, at most BATCH; returns how many."""
        changes = self._catalog.changes(self.applied, BATCH)
        if changes:
            self._commit({change.number for change in changes}, changes[-1].seq, merge)
        return len(changes)

    def run(
        self,
        alive: Callable[[], bool],
        stopped: Callable[[], bool],
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Follows until all is applied while nothing is `alive`, or until it is `stopped` between commits."""
        # What is there at the start has waited long enough.
        waits_since: float | None = time.monotonic() - patience_seconds
        while not stopped():
            crawling, waiting, now = alive(), self.waiting(), time.monotonic()
            waits_since = (waits_since or now) if waiting else None
            if waiting >= BATCH or (waits_since and (not crawling or now - waits_since >= patience_seconds)):
                self.step()
                waits_since = None
            elif not crawling and not waiting:
                return
            else:
                time.sleep(POLL_SECONDS)

    def optimize(self) -> None:
        """Makes one segment of more than a few; takes about 1.3 ms a document."""
        if len(self._index._segments()) > FEW_SEGMENTS:
            failpoints.reach("index.optimizing")
            BulkWriter(self._index).commit(optimize=True)

    def _commit(self, numbers: set[int], seq: int, merge: MergePolicy) -> None:
        failpoints.reach("index.read")
        documents = self._catalog.documents(sorted(numbers))
        texts = self._catalog.texts([number for number in documents if _indexable(documents[number])])
        writer = BulkWriter(self._index)
        try:
            writer.delete_numbers(numbers)
            for number, text in sorted(texts.items()):
                writer.add_document(**index_document(documents[number], text))
        except BaseException:
            writer.cancel()
            raise
        failpoints.reach("index.added")
        writer.schema.applied_seq = seq
        writer.commit(mergetype=merge)
        failpoints.reach("index.committed")
        self.applied = seq
        failpoints.reach("index.applied")
        # Whoosh's readers stand in cycles and keep merged segments mapped: 1.3 GB after 33,000 documents.
        gc.collect()


def _indexable(document: Document) -> bool:
    return not document.duplicate_of and not document.noindex
