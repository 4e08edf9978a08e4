"""Who is in a collection of fixed size? Better pages replace the least important ones.

Source: SV, "Incremental Crawler" (Cho and Garcia-Molina 2000): the refinement decision.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import numpy as np

from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import WAITING, Again, Frontier
from webcrawler.linkgraph import stored
from webcrawler.refresh.collection import Collection

Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]  # in a `Collection`
SHARE = 0.2  # of the fetches, at most, bring replacements: else they would be all of them
TIMES = 2.0  # the rank of what it replaces: ranks are estimates, and two pages would take turns
AT_ONCE = 500  # documents discarded in one transaction


class Replacement:
    """Keeps a collection at its size.

    Args:
        most: documents; 0: any number, and then nothing is done.
    """

    def __init__(
        self, collection: Collection, catalog: Catalog, frontier: Frontier, crawl_dir: Path, most: int
    ) -> None:
        self._collection, self._catalog, self._frontier = collection, catalog, frontier
        self._crawl_dir, self._most = crawl_dir, most
        self._turns = frontier.turns()
        self._credit = 0.0  # replacements that the fetches so far allow
        self._ranked = -1  # the change that the ranks behind `_candidates` hold
        self._candidates: list[int] = []  # page numbers of what waits, the best last

    def step(self) -> None:
        """Queue replacements ahead of all that waits, or discard what is too much."""
        if not self._most:
            return
        turns = self._frontier.turns()
        self._credit = min(self._credit + SHARE * (turns - self._turns), AT_ONCE)
        self._turns = turns
        if (ranks := self._ranks()) is None:
            return
        if (excess := self._collection.documents - self._most) > 0:
            self._discard(self._least(ranks, min(excess, AT_ONCE)))
        elif excess == 0 and self._credit >= 1:
            self._promote(ranks, self._least(ranks, int(self._credit)))

    def settle(self) -> None:
        """Discard all that is too much."""
        if (ranks := self._ranks()) is None:
            return
        excess = self._collection.documents - self._most
        for least in np.array_split(self._least(ranks, excess), -(-excess // AT_ONCE)):
            self._discard(least)

    def _ranks(self) -> stored.Ranks | None:
        return stored.load(self._crawl_dir / "ranks", self._catalog.identity)

    def _least(self, ranks: stored.Ranks, count: int) -> Places:
        members = np.flatnonzero(self._collection.schedule.weights > 0)
        worth = ranks.of(self._collection.numbers[members])
        return members[np.argsort(worth, kind="stable")[:count]]

    def _promote(self, ranks: stored.Ranks, least: Places) -> None:
        """Queue the best of what waits, each for at least twice the rank of a member that it will replace."""
        if ranks.seq != self._ranked:
            waiting = np.array(self._catalog.urls.unexplored(), np.int64)
            self._candidates = waiting[np.argsort(ranks.of(waiting), kind="stable")].tolist()
            self._ranked = ranks.seq
        best = np.array(self._candidates[-len(least) :][::-1], np.int64)
        worth = ranks.of(self._collection.numbers[least[: len(best)]])
        chosen = best[ranks.of(best) >= TIMES * worth]
        if len(chosen):
            del self._candidates[-len(chosen) :]
            urls = self._catalog.urls.of(chosen.tolist())
            promoted = self._frontier.again([Again(urls[number], WAITING) for number in chosen.tolist()])
            self._credit -= promoted

    def _discard(self, places: Places) -> None:
        """Those that are being checked at this moment stay for now."""
        due = self._catalog.checks.due(self._collection.numbers[places].tolist())
        checked = self._frontier.withdraw([one.url for one in due])
        stay = [one.number for one in due if one.url in checked]
        leaving = places[~np.isin(self._collection.numbers[places], stay)]
        with closing(Catalog(self._crawl_dir / "catalog.sqlite")) as catalog:
            catalog.discard(self._collection.numbers[leaving].tolist())
        self._collection.schedule.weights[leaving] = 0
        gone = [Again(one.url, one.was) for one in due if one.url not in checked]
        self._frontier.recount(gone, "done/discarded")
