"""`webcrawler export`: documents as a WARC file, for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from webcrawler.archive.catalog import Catalog
from webcrawler.commands._terminal import JSON, Option, Progress, progress_bars
from webcrawler.commands.base import Command, output_file
from webcrawler.errors import BadInput
from webcrawler.repository import MainIndex, export, hand_over, token_of

MOST = 10_000_000  # hits
OTHERS = "it writes WARC files: name one that ends in .warc.gz; `webcrawler crawl -O pages.csv` writes tables"


class Export(Command):
    arguments = "FILE.warc.gz | --to URL"
    summary = "Write documents to a WARC file, for other programs, or hand them to a main index"
    details = (
        "Writes the newest answer of each document, all of them or those that a query or a time chooses. "
        "Each record is whole, also that of a duplicate."
    )
    options = (
        Option("--query", None, "only documents that answer this query, the best first", "WORDS"),
        Option("--since", None, "only documents fetched from this day or time on (UTC)", "2026-11-01"),
        Option("--until", None, "only documents fetched before this day or time (UTC)", "2026-11-20T12:00"),
        Option("--to", None, "hand them to `webcrawler serve` at this URL instead; needs SHARE_TOKEN", "URL"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != (opts.to is None):
            raise BadInput("name one file, `webcrawler export pages.warc.gz`, or --to URL")
        if args and Path(args[0]).suffix and not args[0].lower().endswith(".warc.gz"):
            raise BadInput(OTHERS)
        since, until = _time(opts.since, "--since", -inf), _time(opts.until, "--until", inf)
        token = token_of(self.project, "SHARE_TOKEN")
        index = None if opts.to is None else MainIndex(opts.to, token)
        with closing(self.catalog()) as catalog, progress_bars() as progress:
            numbers = catalog.documents_fetched(since, until)
            if opts.query is not None:
                from webcrawler.search import Searcher

                answers = Searcher(self.crawl_dir).rank(opts.query, limit=MOST)
                chosen = set(numbers)
                numbers = [number for number, _ in answers if number in chosen]
            if not numbers:
                raise BadInput("no document is chosen by that: nothing was written")
            if index:
                found = hand_over(self.crawl_dir, numbers, catalog, index, progress)._asdict()
            else:
                found = self._write(Path(args[0]), numbers, catalog, progress)
        self.show(found if opts.json else {name: count for name, count in found.items() if count != {}}, opts)

    def _write(
        self, target: Path, numbers: Sequence[int], catalog: Catalog, progress: Progress
    ) -> dict[str, int]:
        with output_file(target) as part, part.open("wb") as file:
            return export(self.crawl_dir, file, target.name, numbers, catalog, progress)._asdict()


def _time(text: str | None, option: str, otherwise: float) -> float:
    """Raises BadInput: it is no day and no time."""
    if text is None:
        return otherwise
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{option} must be a day or a time as 2026-11-01T12:00, not {text[:60]!r}") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
