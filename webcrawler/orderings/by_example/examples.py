"""Which pages are the examples? The seeds of a crawl, and what these redirect to."""

from __future__ import annotations

from webcrawler.orderings import Seen


class Examples:
    """Known by their ids. What was discovered without a source is one.

    A process that goes on with a crawl knows those seeds only that it is given again.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._awaited: set[int] = set()

    def __contains__(self, id: object) -> bool:
        return id in self._known

    @property
    def awaited(self) -> bool:
        """Is the text of one still to come?"""
        return bool(self._awaited)

    def add(self, id: int) -> bool:
        """Returns whether it is a new one."""
        if id in self._known:
            return False
        self._known.add(id)
        self._awaited.add(id)
        return True

    def decided(self, one: Seen) -> bool:
        """Nothing is awaited of it any more, but the page that it redirects to. Returns whether it was."""
        for link in one.links if one.id in self._known else ():
            if link.rel == "redirect":
                self.add(link.id)
        was_awaited = one.id in self._awaited
        self._awaited.discard(one.id)
        return was_awaited
