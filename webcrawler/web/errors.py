"""What a visitor is told of a passing fault, and what is for the log alone."""

from __future__ import annotations

import logging
import time
from functools import lru_cache

from webcrawler.errors import Unavailable

UNREADABLE = "the index cannot be read right now; the operator finds more in the log"
MINUTE_SECONDS = 60

_log = logging.getLogger(__name__)


class NotNow(Unavailable):
    """Raised with a line for visitors; what other rooms say of a fault may name files: it is for the log."""


def note(line: str) -> None:
    """Log a fault that every request meets, once a minute."""
    _note(line, int(time.monotonic() // MINUTE_SECONDS))


@lru_cache(maxsize=100)
def _note(line: str, minute: int) -> None:
    _log.error("%s", line)
