"""All that is derived from the catalog is derived here: index, ranks, words and checks of a data folder.

Also what it takes elsewhere, where a setting says so: WARC files, tables, documents of a cluster.

It is a process, one for each data folder, until no crawl is alive and all is done. In turn, each view does a
step, and none waits for the crawl, nor the crawl for any. What they derive can be thrown away at any time.

    python -m webcrawler.views CRAWL_DIR    # settings on stdin, as `connection.serialized` makes them
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from webcrawler import clock
from webcrawler.archive import Putting
from webcrawler.archive.catalog import Catalog
from webcrawler.background import Views, is_crawling, lower_priority
from webcrawler.errors import BadInput, require
from webcrawler.index import follower
from webcrawler.linkgraph import frontier_updates
from webcrawler.metrics import kept
from webcrawler.refresh import Checking
from webcrawler.search.vocabulary import VocabularyRenewal
from webcrawler.settings import is_yes

NICENESS = 10  # below that of crawls
_log = logging.getLogger(__name__)


class View(Protocol):
    def step(self, crawling: bool) -> bool:
        """Derive the next part; return whether there may be more to do at once."""

    def is_behind(self) -> bool:
        """Tell whether anything is left to do before the process may end."""

    def close(self) -> None: ...


def derive(crawl_dir: Path, settings: Mapping[str, Any], stopped: Callable[[], bool] = lambda: False) -> bool:
    """Work in this process until no crawl is alive and all is done; return False where another one works."""
    with Views(crawl_dir).at_work() as may_end, ExitStack() as opened:
        if may_end is None:
            return False
        sys.audit("webcrawler.views.locked")
        catalog = _wait_for_catalog(crawl_dir, stopped)
        if not catalog:
            return True
        opened.enter_context(closing(catalog))
        opened.enter_context(kept(crawl_dir))
        groups = _views(catalog, crawl_dir, settings)
        views = [opened.enter_context(closing(view)) for group in groups for view in group]
        while not stopped():
            crawling = is_crawling(crawl_dir)
            steps = (sum(view.step(crawling) for view in group) for group in groups)
            # After a crawl, what searches wait for comes first: `any` asks the others once it is done.
            if any(list(steps) if crawling else steps):
                continue
            if not crawling and may_end(lambda: not any(view.is_behind() for view in views)):
                break
            time.sleep(clock.COMPANION_POLL_SECONDS)
    return True


def _views(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> list[list[View]]:
    """Return them in groups; those of a group work side by side, and share what they make of a document."""
    of_crawl = catalog, crawl_dir, settings
    is_ranked = is_yes(settings.get("RANKER_ENABLED", "yes"))
    return [
        [follower.Following(crawl_dir), *_outward(BESIDE_INDEX, *of_crawl)],
        [frontier_updates.Ranking(*of_crawl)] if is_ranked else [],
        [VocabularyRenewal(catalog, crawl_dir / "vocabulary")],
        [Checking(*of_crawl)],
        *([view] for view in _outward(OUTWARD, *of_crawl)),
    ]


def _outward(
    those: Outward, catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]
) -> Iterator[View]:
    """Yield what takes parts of the folder elsewhere, where it is set; the log says what cannot be used."""
    for name, extra, make in those:
        try:
            if settings.get(name):
                require(extra, name)
                yield make(catalog, crawl_dir, settings)
        except BadInput as error:
            _log.error("%s", error)


def _exporting(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> View:
    from webcrawler.dataset import export

    return export.Exporting(catalog, crawl_dir, str(settings["DATASET_URL"]))


def _taking(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> View:
    from webcrawler.dataset import results

    return results.Taking(catalog, crawl_dir, str(settings["DATASET_URL"]))


def _sinking(catalog: Catalog, crawl_dir: Path, settings: Mapping[str, Any]) -> View:
    from webcrawler.opensearch import Sinking

    return Sinking(catalog, crawl_dir, settings)


# By the setting that asks for it, with the extra that it needs. Slow to import, and few need them.
Outward: TypeAlias = tuple[tuple[str, str, Callable[[Catalog, Path, Mapping[str, Any]], View]], ...]
BESIDE_INDEX: Outward = (("DATASET_URL", "dataset", _exporting),)
OUTWARD: Outward = (
    ("PAGES_URL", "s3", Putting),
    ("DATASET_URL", "dataset", _taking),
    ("SINK_URL", "opensearch", _sinking),
)


def _wait_for_catalog(crawl_dir: Path, stopped: Callable[[], bool]) -> Catalog | None:
    """Open the catalog once there is one; None where no crawl is alive to make it."""
    while not stopped():
        try:
            return Catalog(crawl_dir / "catalog.sqlite", readonly=True)
        except BadInput as error:
            if not is_crawling(crawl_dir):
                _log.warning("%s", error)
                return None
        time.sleep(clock.COMPANION_POLL_SECONDS)
    return None


def main(arguments: list[str]) -> int:
    """Work until all is done, or until SIGTERM: what is half done is done again."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s views %(process)d: %(message)s")
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))  # frees all locks at once
    lower_priority(NICENESS)
    crawl_dir = Path(arguments[0])
    settings = json.loads((not sys.stdin.isatty() and sys.stdin.read()) or "{}")
    if not derive(crawl_dir, {**settings, "CRAWL_DIR": str(crawl_dir)}):
        _log.info("another process derives the views")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
