"""`scrapy evaluate --focused`: which strategy would have found the pages of a topic first?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webcrawler import urls
from webcrawler.commands import _targets
from webcrawler.commands.base import printable
from webcrawler.errors import BadInput, BadUrl

if TYPE_CHECKING:
    from webcrawler.connection import Connection
    from webcrawler.evaluation.focused import Asked, Recording, Run

Progress = Callable[[str, int, int], None]
PAGES, PAGES_MAX = "1000", 10**6
ONLY = {"strategies": "", "known": "0", "pages": ""}  # options that say nothing without --focused


class Focused:
    """What was asked for, checked before anything is crawled.

    Args:
        seeds: of the choice of what is known beforehand.
    Raises:
        BadInput: with one line on what to write instead.
    """

    def __init__(self, crawl_dir: Path, opts: argparse.Namespace, strategies: list[str], seeds: list[int]):
        from webcrawler.evaluation.focused import Asked, Recording, read_topics

        self._json, self._plots = opts.json, opts.plots
        starts = [_canonical(url) for url in opts.start.split(",") if url]
        known = _number(opts.known, "--known", 0)
        self.asked: Asked = Asked(
            read_topics(Path(opts.focused)),
            strategies,
            _number(opts.pages or PAGES, "--pages", 1),
            starts,
            known,
            seeds,
        )
        self.recording: Recording = Recording(crawl_dir)
        self.asked.check()
        self.runs: list[Run] = []

    def crawl(self, connection: Connection, progress: Progress) -> None:
        from webcrawler.evaluation.focused import runs

        for some in runs(self.recording, self.asked, connection, progress):
            self.runs += some

    def show(self) -> None:
        """Tables first: they are safe when a file cannot be written after all."""
        from webcrawler.evaluation.focused import tables

        runs, pages = self.runs, self.asked.pages
        print("\n".join(self._said(runs)) + "\n\n" + tables(runs, pages), flush=True)
        if self._json:
            _targets.write_json(Path(self._json), self._figures(runs, pages))
        if self._plots:
            from webcrawler.evaluation.focused import draw

            for file in draw(runs, pages, Path(self._plots)):
                print(printable(str(file)))

    def _said(self, runs: Sequence[Run]) -> list[str]:
        documents, missing = len(self.recording.documents), len(self.recording.not_archived)
        relevant = {run.query: run.relevant for run in runs}
        counts = "; ".join(f"{query} {number:,}" for query, number in relevant.items())
        fetched = f"up to {self.asked.pages:,} fetched in each crawl"
        lines = [f"{documents:,} documents, {fetched}. Relevant: {counts}."]
        if any(run.fetched < self.asked.pages for run in runs):
            lines.append("Some crawls fetched all that they could reach: their order hardly counts.")
        if self.asked.known:
            lines.append(f"{self.asked.known:,} random documents are known beforehand; new ones are counted.")
        if left := [topic.query for topic in self.asked.topics if topic.query not in relevant]:
            lines.append(f"Left out, as nothing new is relevant: {'; '.join(left)}.")
        if missing:
            lines.append(
                f"{missing:,} pages are not in the archive: their links came without the words around."
            )
        if not any(run.pool for run in runs):
            lines.append("No index, so no retrieval system rank: `scrapy reindex` makes one.")
        return lines

    def _figures(self, runs: Sequence[Run], pages: int) -> dict[str, Any]:
        return {
            "documents": len(self.recording.documents),
            "not_archived": len(self.recording.not_archived),
            "pages": pages,
            "known": self.asked.known,
            "runs": [run.as_json(pages) for run in runs],
        }


def refuse_without(opts: argparse.Namespace) -> None:
    """Raises BadInput: an option that only --focused understands."""
    if given := [name for name, default in ONLY.items() if getattr(opts, name) != default]:
        raise BadInput(f"--{given[0]} belongs to --focused TOPICS.json")


def _number(text: str, option: str, least: int) -> int:
    if not (text.isdecimal() and len(text) < 18 and least <= int(text) <= PAGES_MAX):
        raise BadInput(f"{option} wants a whole number from {least} to {PAGES_MAX:,}, not {text[:60]!r}")
    return int(text)


def _canonical(url: str) -> str:
    try:
        return urls.canonical(url.strip())
    except BadUrl:
        raise BadInput(f"--start={url[:200]}: the crawl has no such document; write its URL") from None
