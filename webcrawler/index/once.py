"""Documents of the index, made once for all views of a process that want them.

To analyse a text takes most of the time of each. The view that is first makes a document and leaves it here
until the last one takes it, or others push it out.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from webcrawler.index.schema import Indexable, index_document

MOST = 700  # that wait here, some 200 kB each: two views read 500 at a time, one 200
_waiting: dict[int, tuple[Indexable, dict[str, Any], int]] = {}
_takers = 1  # the index
_lock = Lock()


def share() -> None:
    """One more view makes documents in this process from now on."""
    global _takers
    _takers += 1


def made(one: Indexable) -> dict[str, Any]:
    """Return what `index_document` makes of it; not to be changed."""
    number = one.document.number
    with _lock:
        before, document, left = _waiting.pop(number, (None, {}, 0))
    if before != one:
        document, left = index_document(*one), _takers
    with _lock:
        if left > 1:
            _waiting[number] = one, document, left - 1
        while len(_waiting) > MOST:
            del _waiting[next(iter(_waiting))]
    return document
