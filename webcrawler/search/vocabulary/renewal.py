"""When the vocabulary is made anew."""

from __future__ import annotations

from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.background import Renewal
from webcrawler.search.vocabulary.build import build
from webcrawler.search.vocabulary.stored import store, stored_seq

GROWTH = 1.2


class Renewing(Renewal):
    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder = catalog, folder
        super().__init__(catalog.last_seq, stored_seq(folder, catalog.identity), GROWTH)

    def make(self, seq: int) -> str:
        _store(self._catalog, self._folder, seq)
        return "the vocabulary"


def make(catalog: Catalog, folder: Path) -> None:
    """Put a new vocabulary in the place of the one that is there.

    Raises:
        OSError: it cannot be stored; the old one stays.
    """
    _store(catalog, folder, catalog.last_seq())


def _store(catalog: Catalog, folder: Path, seq: int) -> None:
    store(folder, build(catalog, seq), seq, catalog.identity)
