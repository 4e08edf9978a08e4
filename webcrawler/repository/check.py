"""Do the stores of a data folder belong together, and what mends those that do not?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from webcrawler import connection
from webcrawler.archive import refuse_lost_records
from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.run import has_begun, refuse_if_lost
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.frontier import Frontier, ordering
from webcrawler.index import applied_seq, followed

QUICK_BYTES = 2_000_000_000  # of a catalog that SQLite reads within seconds
MENDS = {  # where a fault names no command itself
    "catalog": "`webcrawler rebuild` makes it again from the pages",
    "frontier": "`webcrawler frontier rebuild` makes it again from the catalog",
    "index": "`webcrawler reindex` makes it again from the catalog",
}


def check(
    crawl_dir: Path, settings: BaseSettings, is_deep: bool, progress: Callable[[str, int, None], None]
) -> dict[str, str]:
    """Return by store what is wrong and what mends it, "" where nothing is; also beside a crawl.

    The others are compared with a good catalog only.

    Args:
        is_deep: read all of the catalog and of the pages, however large they are.
    """
    looks = {
        "catalog": partial(_refuse_catalog, crawl_dir / "catalog.sqlite", is_deep),
        "pages": partial(_refuse_pages, crawl_dir, is_deep),
        "frontier": partial(_refuse_frontier, crawl_dir, settings),
        "index": partial(_refuse_index, crawl_dir),
    }
    found = dict[str, str]()
    for store, look in looks.items():
        progress(store, 0, None)
        found[store] = ""
        try:
            look()
        except (WebcrawlerError, OSError, RedisError, sqlite3.Error) as error:
            found[store] = (
                str(error) if "`webcrawler " in str(error) else f"{str(error).rstrip('.')}: {MENDS[store]}"
            )
            if store == "catalog":
                break
    return found


def _refuse_frontier(crawl_dir: Path, settings: BaseSettings) -> None:
    """Raises BadInput: it is lost, not whole, or knows of more than the catalog."""
    if has_begun(crawl_dir):
        with connection.from_settings(settings) as connected:
            frontier = Frontier(connected.client, ordering("fifo"))
            refuse_if_lost(crawl_dir, frontier)
            if frontier.client.exists(frontier.rebuilding):
                raise BadInput("it is not whole, as a rebuild was interrupted or is still at work")


def _refuse_catalog(path: Path, is_deep: bool) -> None:
    with closing(Catalog(path, readonly=True)) as catalog:
        if is_deep or path.stat().st_size <= QUICK_BYTES:
            catalog.refuse_damaged()


def _refuse_pages(crawl_dir: Path, is_deep: bool) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        refuse_lost_records(crawl_dir / "pages", catalog, is_deep)


def _refuse_index(crawl_dir: Path) -> None:
    views = [crawl_dir / "index", crawl_dir / "anchors"]
    known = {followed(view) for view in views} - {""}
    newest = max(map(applied_seq, views))
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        if known - {catalog.identity} or newest > catalog.last_seq():
            raise BadInput("it is of another catalog, or of a later time")
