"""The ranker, a process: one for each data folder, until no crawl is alive and all ranks are stored.

If a crawl's ordering follows ranks, it gives waiting URLs new priorities; from time to time, and at the end,
it stores ranks for search. The crawl never waits for it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from webcrawler import metrics, pace
from webcrawler.archive.catalog import Catalog
from webcrawler.background import RANKER, is_crawling, prepare, wait_for
from webcrawler.linkgraph.frontier_updates import FrontierUpdates
from webcrawler.linkgraph.stored import RankRenewal

_log = logging.getLogger(__name__)


def rank(crawl_dir: Path, settings: Mapping[str, Any], stopped: Callable[[], bool] = lambda: False) -> bool:
    """Works in this process until no crawl is alive and all ranks are stored.

    Returns:
        False if another ranker is at work.
    """
    path = crawl_dir / "catalog.sqlite"
    with RANKER.at_work(crawl_dir) as may_end:
        if may_end is None:
            return False
        catalog = wait_for(lambda: Catalog(path, readonly=True), crawl_dir, stopped)
        if not catalog:
            return True
        with closing(catalog), metrics.kept(crawl_dir):
            updates = FrontierUpdates(catalog, settings)
            ranks = RankRenewal(catalog, crawl_dir / "ranks")
            while not stopped():
                if is_crawling(crawl_dir):
                    updates.step(lambda: is_crawling(crawl_dir) and not stopped())
                    if ranks.is_due():
                        ranks.renew()
                else:
                    updates.disconnect()
                    if ranks.is_behind():
                        ranks.renew()
                    if may_end(lambda: not ranks.is_behind()):
                        break
                time.sleep(pace.COMPANION_POLL_SECONDS)
            updates.disconnect()
    return True


def main(arguments: list[str]) -> int:
    """python -m webcrawler.linkgraph.ranker CRAWL_DIR; settings on stdin (`connection.serialized`)."""
    stopped = prepare("ranker")
    crawl_dir = Path(arguments[0])
    settings = json.loads((not sys.stdin.isatty() and sys.stdin.read()) or "{}")
    if not rank(crawl_dir, {**settings, "CRAWL_DIR": str(crawl_dir)}, stopped):
        _log.info("another ranker is at work")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
