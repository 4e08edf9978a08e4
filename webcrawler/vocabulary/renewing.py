"""When the vocabulary is made anew."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

from webcrawler.catalog import Catalog
from webcrawler.vocabulary.building import build
from webcrawler.vocabulary.stored import store, stored_seq

GROWTH = 1.2  # so all the making of a growing crawl costs what the last one does, times six
REST = 20  # and takes at most so small a part of the time
LEAST_SECONDS = 60.0  # between two
_log = logging.getLogger(__name__)


class Renewing:
    """Makes it of the whole catalog each time."""

    def __init__(self, catalog: Catalog, folder: Path) -> None:
        self._catalog, self._folder = catalog, folder
        self._seq = stored_seq(folder, catalog.identity)  # the last change that was to be in it
        self._not_before = time.monotonic() + LEAST_SECONDS

    def is_behind(self) -> bool:
        return self._catalog.last_seq() != self._seq  # lower: it was restored from a backup

    def is_due(self) -> bool:
        """Is it old enough to be renewed while a crawl goes on?"""
        if time.monotonic() < self._not_before:
            return False
        return not self._seq <= self._catalog.last_seq() <= self._seq * GROWTH

    def renew(self) -> None:
        """Where that fails the old one stays, until it is due again."""
        began = time.monotonic()
        self._seq = self._catalog.last_seq()
        try:
            make(self._catalog, self._folder)
            _log.info("made the vocabulary, in %.1f s", time.monotonic() - began)
        except (OSError, sqlite3.Error) as error:
            _log.warning("the vocabulary cannot be made: %s", error)
        now = time.monotonic()
        self._not_before = now + max(REST * (now - began), LEAST_SECONDS)


def make(catalog: Catalog, folder: Path) -> None:
    """Put a new vocabulary in the place of the one that is there.

    Raises:
        OSError: it cannot be stored; the old one stays.
    """
    seq = catalog.last_seq()  # asked before the texts: what is newer is not missed
    store(folder, build(catalog, seq), seq, catalog.identity)
