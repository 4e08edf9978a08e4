"""The lexicographer as a process: one for each data folder, until all is told and no crawl is alive."""

from __future__ import annotations

import logging
import signal
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import IO

from webcrawler.archive.catalog import Catalog
from webcrawler.background import POLL_SECONDS, VOCABULARY, is_crawling, may_end, prepare, wait_for
from webcrawler.search.vocabulary.renewal import Renewing, make
from webcrawler.search.vocabulary.stored import stored_seq

FOLDER = "vocabulary"
_log = logging.getLogger(__name__)


def keep_words(crawl_dir: Path) -> bool:
    """Keeps a vocabulary in this process until it knows all and no crawl is alive.

    Returns:
        False where another lexicographer is at work.
    """
    path = crawl_dir / "catalog.sqlite"
    with VOCABULARY.at_work(crawl_dir) as lock:
        if lock is None:
            return False
        if catalog := wait_for(lambda: Catalog(path, readonly=True), crawl_dir):
            with closing(catalog):
                _keep(Renewing(catalog, crawl_dir / FOLDER), crawl_dir, lock)
    return True


def wait_until_made(crawl_dir: Path) -> None:
    """Returns when there is a vocabulary of what the catalog held at the call; makes it where nobody does.

    Raises:
        OSError: it cannot be stored.
    """
    folder = crawl_dir / FOLDER
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        last = catalog.last_seq()
        while stored_seq(folder, catalog.identity) < last:
            if lock := VOCABULARY.lock(crawl_dir):
                with lock:
                    make(catalog, folder)
            else:
                time.sleep(POLL_SECONDS)


def remake(crawl_dir: Path) -> None:
    """Makes a vocabulary whatever is there; searchers have the old one until it is complete.

    Raises:
        OSError: it cannot be stored.
    """
    with (
        VOCABULARY.take_over(crawl_dir),
        closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog,
    ):
        make(catalog, crawl_dir / FOLDER)
    if is_crawling(crawl_dir):
        VOCABULARY.start(crawl_dir)


def main(arguments: list[str]) -> int:
    """python -m webcrawler.search.vocabulary.lexicographer CRAWL_DIR; SIGTERM ends it at once."""
    prepare("lexicographer")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))  # half a vocabulary is nothing to keep
    if not keep_words(Path(arguments[0])):
        _log.info("another lexicographer is at work")
    return 0


def _keep(renewing: Renewing, crawl_dir: Path, lock: IO[str]) -> None:
    while True:
        if is_crawling(crawl_dir):
            if renewing.is_due():
                renewing.renew()
        else:
            if renewing.is_behind():
                renewing.renew()
            if may_end(lock, crawl_dir, lambda: not renewing.is_behind()):
                return
        time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
