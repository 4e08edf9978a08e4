"""What becomes of the finds of a search of the web when it has ended, or has died.

Until then they are marked in the catalog, and nobody else sees them. What is not kept leaves catalog and
index; its WARC records and the history stay. What is kept gets a record that says so: the others are no part
of a catalog that is rebuilt from the records.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore
from webcrawler.background import is_resumable, search_lock, try_lock
from webcrawler.errors import WebcrawlerError
from webcrawler.urls import url_id

logger = logging.getLogger(__name__)


def discard_finds(crawl_dir: Path, job: str, kept: Collection[int] = ()) -> set[int]:
    """End a search of the web: its finds leave, unless somebody judged them good.

    Args:
        kept: ids of the URLs that stay.
    Returns:
        The ids of the URLs that do not.
    Raises:
        Unavailable: the catalog cannot be written now. What is left over leaves with `discard_left_over`.
        OSError, ValueError: the judgments cannot be read.
    """
    with closing(Catalog(crawl_dir / "catalog.sqlite", job=job)) as catalog:
        kept = {*kept, *_judged_good(crawl_dir / "feedback" / "qrels.txt")}
        with closing(PageStore(crawl_dir / "pages", search=job)) as pages:
            for id, url in catalog.finds().items():
                if id in kept:
                    pages.keep(url)
        return catalog.discard_finds(kept)


def discard_left_over(crawl_dir: Path) -> None:
    """Discard the finds of searches that have died and are not resumable any more.

    Does nothing where the catalog cannot be written now.
    """
    path = crawl_dir / "catalog.sqlite"
    try:
        if not path.exists():
            return
        with closing(Catalog(path, readonly=True)) as catalog:
            jobs = catalog.jobs_with_finds()
        if jobs:
            (crawl_dir / "realtime").mkdir(exist_ok=True)
        for job in jobs:
            if is_resumable(crawl_dir, job):
                continue
            if lock := try_lock(search_lock(crawl_dir, job)):  # nobody takes up that name meanwhile
                with lock:
                    gone = discard_finds(crawl_dir, job)
                    search_lock(crawl_dir, job).unlink(missing_ok=True)  # it is not resumable any more
                logger.info("discarded %d pages of the search %s, which has died", len(gone), job)
    except (WebcrawlerError, sqlite3.Error, OSError, ValueError) as error:
        logger.warning("finds of searches that have died stay for now, unseen: %s", error)


def _judged_good(qrels: Path) -> set[int]:
    """The ids of URLs that people judged good for any query (`webcrawler/web/judge.py` writes them)."""
    lines = qrels.read_text("utf-8").splitlines() if qrels.exists() else []
    rows = [line.split() for line in lines if line.strip()]
    return {url_id(url) for _, _, url, grade in rows if int(grade) > 0}
