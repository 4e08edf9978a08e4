"""What `scrapy crawl realtime` does beside crawling: its list on the terminal, its journal as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scrapy.crawler import Crawler

from webcrawler.commands import _targets
from webcrawler.commands._shown import Shown, console
from webcrawler.errors import BadInput, Unavailable
from webcrawler.realtime import CHANGED, Journal, RealtimeJob, as_json, is_alive, read

STDOUT = "-"


class Search:
    """One run, from what was asked to what was found.

    Raises:
        BadInput: it was asked wrongly; nothing is touched.
    """

    def __init__(self, crawl_dir: Path, opts: argparse.Namespace) -> None:
        if opts.rescore:
            raise BadInput("--rescore is for index: a search has a frontier of its own")
        self._crawl_dir, self._json = crawl_dir, opts.json
        feeds_stdout = any(feed.partition(":")[0] == STDOUT for feed in _feeds(opts))
        if feeds_stdout and opts.json == STDOUT:
            raise BadInput("--json and the feed would both go to standard output: write --json FILE")
        job = RealtimeJob.read(**opts.spargs).with_judged(crawl_dir)
        self._job = opts.spargs["job"] = job.name  # the spider's, too
        if is_alive(crawl_dir, self._job):
            raise BadInput(f"a search with job={self._job} is going on: choose another name")
        if opts.json not in (None, STDOUT):
            _targets.check_file(Path(opts.json))
        self._shown = Shown(console(on_stderr=feeds_stdout or opts.json == STDOUT))

    @contextmanager
    def on_screen(self, crawler: Crawler) -> Iterator[None]:
        """Shows what the crawler finds, until it has ended."""

        def show(journal: Journal) -> None:
            self._shown.update(journal)

        self._shown.is_ending = lambda: _is_closing(crawler)
        crawler.signals.connect(show, CHANGED)
        try:
            yield
        finally:
            self._shown.close()

    def conclude(self) -> None:
        """The final table, and the journal as JSON.

        Raises:
            Unavailable: the search broke.
        """
        journal = read(self._crawl_dir, self._job)
        if journal is None:
            raise Unavailable("the search could not start, the log says why")
        if journal["state"] == "running":  # a second Ctrl-C
            journal |= {"state": "finished", "reason": "stopped"}
        self._shown.end(journal)
        if self._json == STDOUT:
            print(json.dumps(as_json(journal), indent=2))
        elif self._json:
            _targets.write_json(Path(self._json), as_json(journal))
        if journal["reason"] == "failed":
            raise Unavailable("the search broke, the log says why")


def _is_closing(crawler: Crawler) -> bool:
    """Not before it has opened: the index answers earlier than there is an engine."""
    slot = crawler._engine and crawler._engine._slot
    return bool(slot and slot.closing)


def _feeds(opts: argparse.Namespace) -> list[str]:
    return [*(opts.output or ()), *(opts.overwrite_output or ())]
