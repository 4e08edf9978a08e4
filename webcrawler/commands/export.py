"""`scrapy export`: documents as a WARC file, for other programs."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from webcrawler.commands.base import Command, Option, output_file, progress_bars
from webcrawler.commands.frontier import rows
from webcrawler.errors import BadInput
from webcrawler.repository import export

MOST = 10_000_000  # hits


class Export(Command):
    arguments = "FILE.warc.gz"
    summary = "Write documents to a WARC file, for other programs"
    details = (
        "Writes the newest answer of each document, all of them or those that a query or a time chooses. "
        "Each record is whole, also that of a duplicate."
    )
    options = (
        Option("--query", None, "only documents that answer this query, the best first", "WORDS"),
        Option("--since", None, "only documents fetched from this day or time on (UTC)", "2026-11-01"),
        Option("--until", None, "only documents fetched before this day or time (UTC)", "2026-11-20T12:00"),
        Option("--json", False, "print JSON"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise BadInput("name one file: scrapy export pages.warc.gz")
        since, until = _time(opts.since, "--since", -inf), _time(opts.until, "--until", inf)
        target = Path(args[0])
        with closing(self.catalog()) as catalog, progress_bars() as progress:
            numbers = catalog.documents_fetched(since, until)
            if opts.query is not None:
                answers = self.searcher(self.crawl_dir).rank(opts.query, limit=MOST)
                chosen = set(numbers)
                numbers = [number for number, _ in answers if number in chosen]
            if not numbers:
                raise BadInput("no document is chosen by that: nothing was written")
            with output_file(target) as part, part.open("wb") as file:
                found = export(self.crawl_dir, file, target.name, numbers, catalog, progress)._asdict()
        print(json.dumps(found, indent=2) if opts.json else "\n".join(rows(found, "")))


def _time(text: str | None, option: str, otherwise: float) -> float:
    """Raises BadInput: it is no day and no time."""
    if text is None:
        return otherwise
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{option} must be a day or a time as 2026-11-01T12:00, not {text[:60]!r}") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
