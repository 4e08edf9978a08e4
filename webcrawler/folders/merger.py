"""The process that keeps a merged view up to date while it is served."""

from __future__ import annotations

import logging
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from webcrawler import pace
from webcrawler.background import MERGER, hold_crawl, prepare
from webcrawler.errors import WebcrawlerError
from webcrawler.folders.view import MergedView

_log = logging.getLogger(__name__)


@contextmanager
def kept_up_to_date(view: MergedView) -> Iterator[None]:
    """Have a process follow the folders meanwhile; another one starts where it ends before."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            with suppress(OSError):  # tried again
                MERGER.ensure_started(view.place)
            ended.wait(pace.WATCH_SECONDS)

    with hold_crawl(view.place):
        thread = threading.Thread(target=watch, name="merger", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def main(arguments: list[str]) -> int:
    """python -m webcrawler.folders.merger PLACE; ends when nobody holds its `crawls.lock`, or by SIGTERM."""
    stopped = prepare("merged")
    view = MergedView(Path(arguments[0]))
    with MERGER.at_work(view.place) as may_end:
        while may_end and not stopped():
            try:
                view.follow()
            except (WebcrawlerError, OSError, sqlite3.Error) as error:  # tried again
                _log.warning("the view is as it was: %s", error)
            if may_end(lambda: True):
                break
            time.sleep(pace.MERGER_POLL_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
