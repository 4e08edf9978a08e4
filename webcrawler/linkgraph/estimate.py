"""How important are pages by the links seen so far, and which priorities does that change?"""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from webcrawler.linkgraph.graph import FloatArray, IntArray, distinct
from webcrawler.orderings import DAMPING, LEAST, UNTOLD, Known, Ordering

ROOM = 1024  # of a new array
MISSES_MAX = 30
Scalar = TypeVar("Scalar", bound=np.generic)


class Growable(Generic[Scalar]):
    """An array that grows. Appending costs amortised O(what is appended): a full array doubles its room."""

    def __init__(self, dtype: type[Scalar]) -> None:
        self._room: NDArray[Scalar] = np.empty(ROOM, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Scalar]:
        """A view that can be written to; it is of no use after the next growth."""
        return self._room[: self._size]

    def append(self, values: NDArray[Scalar]) -> None:
        self.extend_to(self._size + len(values), values)

    def extend_to(self, size: int, fill: float | NDArray[Scalar]) -> None:
        """Makes the array at least this long; new places hold `fill`."""
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        if size > self._size:
            self._room[self._size : size] = fill
            self._size = size


class Estimate:
    """IR' and IB' of all known pages, also of those not crawled yet. Pages are numbers from 0 on.

    x = 0.1 + 0.9 · Σ x(source) / c(source) over the crawled pages that link here, c: the pages it links to.
    There is no rule for dangling pages: it would raise all ranks by one factor, which changes no order. So
    use these ranks for ordering only, and `pagerank` for everything else.

    Memory: 12 bytes a link, of which there may be 2^31, and 36 a page. Old links of a page that is added
    again still take room.
    """

    def __init__(self) -> None:
        self._ranks, self._backlinks = Growable(np.float64), Growable(np.int32)
        self._column = Growable(np.int32)  # of each page: where its outlinks stand, -1 not crawled
        self._namer = Growable(np.int32)  # of each page: the crawled page that linked to it first, -1 none
        # One column a crawled page, in the order of crawling: a matrix that is only ever appended to.
        self._sources, self._shares = Growable(np.int32), Growable(np.float64)
        self._ends, self._targets, self._ones = Growable(np.int32), Growable(np.int32), Growable(np.float64)
        self._ends.append(np.zeros(1, np.int32))
        self._waiting: dict[int, NDArray[np.int32]] = {}

    def add(self, source: int, targets: NDArray[np.int32]) -> None:
        """Page `source` was crawled and has these outlinks; they replace any that it had.

        Repeats and links to itself do not count. The work is left to the next question.
        """
        self._waiting[source] = targets

    def know(self, pages: int) -> None:
        """Makes pages 0 … pages - 1 known, whether anything links to them or not."""
        self._ranks.extend_to(pages, LEAST)
        self._backlinks.extend_to(pages, 0)
        self._column.extend_to(pages, -1)
        self._namer.extend_to(pages, -1)

    def update(self, tolerance: float = 1e-3) -> int:
        """Brings the ranks up to date, starting from what they are.

        One pass over all links, then changes are pushed on from page to page while they are large enough:
        a third of the time of repeated passes over all links.

        Args:
            tolerance: share of a rank, at least 1e-12, below which a change is not pushed on; the ranks
                together are then wrong by at most ten times that share of their sum.
        Returns:
            How many rounds it took.
        """
        from scipy.sparse import csc_array  # slow to import

        self.take_in()
        ranks, column, shares = self._ranks.values, self._column.values, self._shares.values
        columns = (self._ones.values, self._targets.values, self._ends.values)
        links = csc_array(columns, shape=(len(self._ranks), len(self._sources)), copy=False)
        new = LEAST + np.asarray(links @ (ranks[self._sources.values] * shares))
        kept_back = new - ranks
        ranks[:] = new
        rounds = 0
        while True:
            rounds += 1
            pages = np.flatnonzero((np.abs(kept_back) > tolerance * ranks) & (column >= 0))
            if not pages.size:
                return rounds
            passed_on = kept_back[pages] * shares[column[pages]]
            kept_back[pages] = 0
            change = np.asarray(links[:, column[pages]] @ passed_on)
            ranks += change
            kept_back += change

    @property
    def ranks(self) -> FloatArray:
        """IR' of each known page at the last update, at least 0.1."""
        self.take_in()
        return self._ranks.values

    @property
    def backlinks(self) -> NDArray[np.int32]:
        """IB' of each known page: how many crawled pages link to it."""
        self.take_in()
        return self._backlinks.values

    @property
    def crawled(self) -> NDArray[np.bool_]:
        self.take_in()
        return self._column.values >= 0

    @property
    def yields(self) -> FloatArray:
        """How many new pages each known page may be expected to name.

        (1 + pages first named by its siblings) / (1 + siblings crawled), where siblings are pages first named
        by the same page; 1 for a page that nobody has named. Cost: a few passes over all known pages.
        """
        self.take_in()
        namer, pages = self._namer.values, len(self._namer)
        named = np.bincount(namer[namer >= 0], minlength=pages)
        siblings = np.flatnonzero((self._column.values >= 0) & (namer >= 0))
        crawled = np.bincount(namer[siblings], minlength=pages)
        found = np.bincount(namer[siblings], weights=named[siblings], minlength=pages)
        return np.asarray(np.where(namer >= 0, ((1 + found) / (1 + crawled))[namer], 1.0))

    def take_in(self) -> None:
        """Appends a column for each page that was added, as each question does."""
        if not self._waiting:
            return
        sources = np.fromiter(self._waiting, np.int32, len(self._waiting))
        counts = np.fromiter(map(len, self._waiting.values()), np.int64, len(sources))
        targets = np.concatenate(list(self._waiting.values())).astype(np.int32)
        self._waiting.clear()
        self.know(int(max(sources.max(), targets.max(initial=0))) + 1)
        columns = np.repeat(np.arange(len(sources)), counts)
        kept = targets != sources[columns]
        links = distinct(columns[kept] << 32 | targets[kept])
        columns, targets = links >> 32, (links & 0xFFFFFFFF).astype(np.int32)
        self._forget(sources[self._column.values[sources] >= 0])
        self._append(sources, columns, targets)

    def _append(self, sources: NDArray[np.int32], columns: IntArray, targets: NDArray[np.int32]) -> None:
        """Appends columns with the links columns[i] of `sources` to targets[i], by column, each once."""
        # Links are in the order of crawling: who named a page first is assigned last.
        new = np.flatnonzero(self._namer.values[targets] < 0)[::-1]
        self._namer.values[targets[new]] = sources[columns[new]]
        crawled, links = len(self._sources), len(self._targets)
        counts = np.bincount(columns, minlength=len(sources))
        self._column.values[sources] = np.arange(crawled, crawled + len(sources))
        self._sources.append(sources)
        self._shares.append(DAMPING / np.maximum(counts, 1))
        self._ends.append((links + np.cumsum(counts)).astype(np.int32))
        self._targets.append(targets)
        self._ones.extend_to(len(self._targets), 1)
        self._count(targets, 1)

    def _forget(self, sources: NDArray[np.int32]) -> None:
        """Takes back what earlier fetches of these pages gave."""
        if not sources.size:
            return
        columns, ends = self._column.values[sources], self._ends.values
        self._shares.values[columns] = 0
        links = [np.arange(ends[column], ends[column + 1]) for column in columns]
        self._count(self._targets.values[np.concatenate(links)], -1)

    def _count(self, targets: NDArray[np.int32], by: int) -> None:
        np.add.at(self._backlinks.values, targets, by)


class Rescorer:
    """Finds priorities that changed since the frontier was last told them.

    It remembers what it told, 9 bytes a page; a new one tells every waiting URL once. A URL that did not wait
    when it was told (leased, not queued yet, or failed for good) is told again after 2, 4, 8, … calls of
    `changed`, as it may have come back; so a URL that never does costs little.

    Weakness: it does not know of priorities that the frontier changes by itself (`Ordering.on_repeat`); such
    a priority stays until the page's own changes here.

    Args:
        least: the smallest change of a priority that is told.
    """

    def __init__(self, ordering: Ordering, estimate: Estimate, least: int = 1) -> None:
        self._ordering, self._estimate, self._least = ordering, estimate, least
        self._told = Growable(np.int64)
        self._misses = Growable(np.int8)  # in a row
        self._asked = 0

    def changed(self, ids: IntArray, waiting: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """What to tell `Frontier.rescore`.

        Args:
            ids: the URL id of each page, shape (pages,).
            waiting: may the page wait in the frontier? The same shape.
        Returns:
            Page numbers, and their new priorities.
        """
        estimate = self._estimate
        estimate.know(len(ids))
        self._told.extend_to(len(ids), UNTOLD)
        self._misses.extend_to(len(ids), 0)
        self._asked += 1
        numbers = np.flatnonzero(waiting)
        known = Known(ids, estimate.ranks, estimate.backlinks, estimate.yields)
        priorities = self._ordering.priorities(Known(*(column[numbers] for column in known)))
        changed = np.abs(priorities - self._told.values[numbers]) >= self._least
        # After m misses in a row, a page is told in every 2^m-th call; pages take different calls.
        every = 1 << self._misses.values[numbers].astype(np.int64)
        changed |= (every > 1) & ((numbers + self._asked) % every == 0)
        numbers, priorities = numbers[changed], priorities[changed]
        self._told.values[numbers] = priorities
        return numbers, priorities

    def told(self, numbers: IntArray, all_waited: bool) -> None:
        """Notes whether these pages waited when the frontier was told their priorities."""
        misses = self._misses.values
        misses[numbers] = 0 if all_waited else np.minimum(misses[numbers] + 1, MISSES_MAX)
