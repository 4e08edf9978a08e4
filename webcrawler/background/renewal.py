"""When is a view of the whole catalog built again?"""

from __future__ import annotations

import logging
import sqlite3
import time
from abc import abstractmethod
from collections.abc import Callable

REST = 20  # times as long as the making took it waits, at least, until the next
LEAST_SECONDS = 60.0  # between two
_log = logging.getLogger(__name__)


class Renewal:
    """Subclasses say what is made.

    Args:
        last_seq: asks for the newest change there is.
        seq: the last change that was to be in it.
        growth: of the changes, until it is due. So all the making of a growing crawl costs what the last one
            does, times growth / (growth - 1).
    """

    def __init__(self, last_seq: Callable[[], int], seq: int, growth: float) -> None:
        self._last_seq, self._seq, self._growth = last_seq, seq, growth
        self._not_before = time.monotonic() + LEAST_SECONDS

    @abstractmethod
    def make(self, seq: int) -> str:
        """Make the view, of the catalog as of that change or later. Returns what was made, for the log."""

    def is_behind(self) -> bool:
        return self._last_seq() != self._seq  # lower: it was restored from a backup

    def is_due(self) -> bool:
        """Is it old enough to be renewed while a crawl goes on?"""
        if time.monotonic() < self._not_before:
            return False
        return not self._seq <= self._last_seq() <= self._seq * self._growth

    def renew(self) -> None:
        """Where that fails (the disk is full) the old one stays, until it is due again."""
        began = time.monotonic()
        self._seq = self._last_seq()  # asked before all else is read: what is newer is not missed
        try:
            made = self.make(self._seq)
            _log.info("stored %s, in %.1f s", made, time.monotonic() - began)
        except (OSError, sqlite3.Error) as error:
            _log.warning("%s failed: %s", type(self).__name__, error)
        now = time.monotonic()
        self._not_before = now + max(REST * (now - began), LEAST_SECONDS)
