"""Documents of the index, made once for two views of a process that both want them.

To analyse a text takes most of the time of either. The view that is first makes a document and leaves it here
until the other one takes it, or others push it out.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from webcrawler.index.schema import Indexable, index_document

MOST = 256  # that wait here, some 200 kB each
_waiting: dict[int, tuple[Indexable, dict[str, Any]]] = {}
_is_shared = False
_lock = Lock()


def share() -> None:
    """Two views make documents in this process from now on."""
    global _is_shared
    _is_shared = True


def made(one: Indexable) -> dict[str, Any]:
    """Return what `index_document` makes of it; not to be changed."""
    number = one.document.number
    with _lock:
        before, document = _waiting.pop(number, (None, None))
    if document is not None and before == one:
        return document
    document = index_document(*one)
    with _lock:
        if _is_shared:
            _waiting[number] = one, document
        while len(_waiting) > MOST:
            del _waiting[next(iter(_waiting))]
    return document
