"""What the follower writes through: documents into one folder, anchors into another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from webcrawler.index.engine import Anchored
from webcrawler.index.tantivy import state
from webcrawler.index.tantivy.folder import Folder, exchange
from webcrawler.index.tantivy.schema import ANCHORS, TEXTS, anchors_document, index_document
from webcrawler.records import Document, Text


class TantivyEngine:
    """As `webcrawler.index.engine.Engine` says; tantivy syncs each commit to the disk."""

    def __init__(self, crawl_dir: Path, catalog: str, aside: bool = False) -> None:
        ending = ".new" if aside else ""
        self._index = Folder(crawl_dir / f"index{ending}", TEXTS, catalog)
        self._anchors = Folder(crawl_dir / f"anchors{ending}", ANCHORS, catalog)
        self.applied, self.anchors_applied = self._index.applied, self._anchors.applied

    def commit(self, gone: Collection[int], documents: Sequence[tuple[Document, Text]], seq: int) -> None:
        numbers = {*gone, *(document.number for document, _ in documents)}
        self._index.commit(numbers, (index_document(*pair) for pair in documents), seq)
        self.applied = seq

    def commit_anchors(self, gone: Collection[int], anchors: Sequence[Anchored], seq: int) -> None:
        numbers = {*gone, *(anchored.number for anchored in anchors)}
        self._anchors.commit(numbers, map(anchors_document, anchors), seq)
        self.anchors_applied = seq

    def optimize(self) -> None:
        """Waits for the merges under way: eight segments of a size become one, of its own accord."""
        self._index.settle()
        self._anchors.settle()

    def close(self) -> None:
        self._index.close()
        self._anchors.close()

    @staticmethod
    def applied_in(crawl_dir: Path, catalog: str | None = None) -> tuple[int, int]:
        index, anchors = (state.applied_seq(crawl_dir / name, catalog) for name in ("index", "anchors"))
        return index, anchors

    @staticmethod
    def exchange(crawl_dir: Path) -> None:
        for name in ("index", "anchors"):
            exchange(crawl_dir / f"{name}.new", crawl_dir / name)
