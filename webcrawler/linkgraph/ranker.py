"""The ranks of a data folder, as one of its views.

If a crawl's ordering follows ranks, waiting URLs get new priorities; from time to time, and at the end, ranks
are stored for search.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webcrawler.archive.catalog import Catalog
from webcrawler.background import is_crawling
from webcrawler.linkgraph.frontier_updates import FrontierUpdates
from webcrawler.linkgraph.stored import RankRenewal


class Ranking:
    def __init__(self, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> None:
        self._crawl_dir = crawl_dir
        self._updates = FrontierUpdates(catalog, settings)
        self._ranks = RankRenewal(catalog, crawl_dir / "ranks")

    def step(self, crawling: bool) -> bool:
        if crawling:
            self._updates.step(lambda: is_crawling(self._crawl_dir))
        else:
            self._updates.disconnect()
        return self._ranks.step(crawling)

    def is_behind(self) -> bool:
        return self._ranks.is_behind()

    def close(self) -> None:
        self._updates.disconnect()
