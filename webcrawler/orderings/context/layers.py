"""How many links lie between a page and the nearest one on the topic, as far as pages were fetched?"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection

PAGES_MAX = 50_000  # some 200 MB with 30 links each; later pages are not part of the graph


class Layers:
    """The layers of a context graph: 0 on the topic, 1 links to such a page, 2 links to one in layer 1.

    Where Diligenti asks a search engine who links to the examples, this keeps the links of the pages that
    were fetched, and follows them backwards.

    Source: Diligenti and others 2000, "Focused Crawling Using Context Graphs", section 3.1.

    Args:
        depth: the last layer; what is farther is in layer depth + 1.
    """

    def __init__(self, depth: int) -> None:
        self.far = depth + 1
        self._layers: dict[int, int] = {}  # by URL id, of the pages fetched
        self._linked_by: defaultdict[int, set[int]] = defaultdict(set)  # URL id -> pages fetched
        self._tried: set[int] = set()  # pages of which a link was fetched
        self._targets: dict[int, int] = {}  # of redirects

    def of(self, page: int) -> int | None:
        """The layer of a page; None: none of its links was fetched, so nothing is known of its distance."""
        layer = self._layers.get(page, self.far)
        return layer if layer < self.far or page in self._tried else None

    def add(self, page: int, links: Collection[int], is_wanted: bool) -> set[int]:
        """Adds a page that was fetched; returns the pages of whose layer more is known now.

        Args:
            links: ids of the URLs that it links to.
            is_wanted: is it on the topic?
        """
        if page not in self._layers and len(self._layers) >= PAGES_MAX:
            return set()
        ends = {self._end(link) for link in links} - {page}
        for end in ends:
            self._linked_by[end].add(page)
        if any(end in self._layers for end in ends):
            self._tried.add(page)
        nearest = min((self._layers.get(end, self.far) for end in ends), default=self.far)
        layer = 0 if is_wanted else min(nearest + 1, self.far)
        self._layers[page] = min(layer, self._layers.get(page, self.far))
        return {page} | self._tell(page)

    def redirect(self, url: int, target: int) -> set[int]:
        """What links to a redirect links to its target; returns as `add`."""
        end = self._end(target)
        if end == url:
            return set()
        self._targets[url] = end
        self._linked_by[end] |= self._linked_by.pop(url, set()) - {end}
        return self._tell(end) if end in self._layers else set()

    def _end(self, url: int) -> int:
        while url in self._targets:
            url = self._targets[url]
        return url

    def _tell(self, page: int) -> set[int]:
        """Lets those who link to a page know of its layer, and those who link to them."""
        changed = self._linked_by.get(page, set()) - self._tried
        self._tried |= changed
        waiting = deque([page])
        while waiting:
            one = waiting.popleft()
            for source in self._linked_by.get(one, ()):
                if self._layers[source] > self._layers[one] + 1:
                    self._layers[source] = self._layers[one] + 1
                    changed.add(source)
                    waiting.append(source)
        return changed
