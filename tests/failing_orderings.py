"""An ordering that fails in the middle of a crawl, as a user's own may."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from webcrawler.frontier import Ordering, Seen, Source
from webcrawler.records import Lease, Link, Text


class FailsLater(Ordering):
    """Each method is right for a while, and then always fails.

    Args:
        method: the one that fails.
        answer: what it gives then; "": it raises.
    """

    takes_notes = True

    def __init__(self, method: str, answer: str = "", calls: str = "20") -> None:
        self.learns = method in ("learn", "plan")
        self._method, self._answer, self._right = method, answer, int(calls)
        self._calls = count(1)

    def first_priority(self, link: Link, source: Source | None = None) -> int:
        return self._fail_in("first_priority", -len(link.url))

    def note(self, link: Link, source: Source) -> int:
        return self._fail_in("note", source.note)

    def page_note(self, text: Text | None, lease: Lease) -> int:
        return self._fail_in("page_note", 1)

    def learn(self, seen: Sequence[Seen]) -> None:
        self._fail_in("learn", None)

    def plan(self) -> tuple[list[Link], list[int]]:
        return self._fail_in("plan", ([], []))

    def _fail_in(self, method: str, answer: Any) -> Any:
        if method != self._method or next(self._calls) < self._right:
            return answer
        return self._answer or 1 // 0
