"""An ordering as other people write it, after docs/how-to/add-an-ordering.md; its mode is its class path."""

from __future__ import annotations

from webcrawler.frontier import Ordering


class ShortestFirst(Ordering):
    def first_priority(self, link, source=None):
        return -len(link.url)
