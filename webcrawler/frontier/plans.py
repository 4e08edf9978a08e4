"""What an ordering that learns has planned, and the frontier was not told yet."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from webcrawler.orderings import Ordering
from webcrawler.records import Link


class Plans:
    """One for each ordering, shared by the threads that tell its plans: the newest is told last."""

    def __init__(self, ordering: Ordering) -> None:
        self._ordering = ordering
        self._links: list[Link] = []
        self._priorities: list[int] = []
        self._lock = Lock()

    def tell(self, rescore: Callable[[list[Link], list[int]], object]) -> None:
        """Asks for a plan and tells it; what could not be told goes first with the next one."""
        with self._lock:
            links, priorities = self._ordering.plan()
            self._links += links
            self._priorities += priorities
            rescore(self._links, self._priorities)
            self._links, self._priorities = [], []
