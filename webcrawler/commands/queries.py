"""`webcrawler queries`: what was asked on the search page, and what was opened."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webcrawler.commands._terminal import JSON, Option, printable
from webcrawler.commands.base import Command
from webcrawler.orderings import whole_number

QUERY = 50  # characters shown of a query


class Queries(Command):
    summary = "Show what was asked on the search page, and which results were opened"
    details = "Reads the log that `serve` keeps where the setting QUERY_LOG_DAYS is above 0."
    options = (
        Option("-n", "10", "how many queries to list (10)", "LIMIT"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from webcrawler.usage import figures

        found = figures(self.crawl_dir, whole_number("-n", opts.n))
        if opts.json:
            print(json.dumps(found, indent=2))
        else:
            print("\n".join(_lines(found)))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    days = "1 day" if found["days"] == 1 else f"{found['days']:,} days"
    yield f"queries        {found['queries']:,} in {days}, {found['a_day']:,.1f} a day"
    yield f"words          {found['words']:.1f} a query"
    yield f"nothing found  {found['nothing_found']:.1%} of the queries"
    yield f"clicks         after {found['clicked']:.1%} of the queries"
    yield f"\n{'day':<12}{'queries':>9}{'clicks':>9}"
    yield from (f"{one['day']:<12}{one['queries']:>9,}{one['clicks']:>9,}" for one in found["by_day"])
    yield from _listed("asked most", found["asked"])
    yield from _listed("found nothing", found["found_nothing"])
    yield f"\n{'rank':>4}{'shown':>9}{'clicks':>9}{'share':>9}"
    for one in found["ranks"]:
        share = one["clicks"] / one["shown"]
        yield f"{one['rank']:>4}{one['shown']:>9,}{one['clicks']:>9,}{share:>9.1%}"


def _listed(head: str, queries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if queries:
        yield f"\n{head:<{QUERY}}{'times':>9}{'clicks':>9}"
    for one in queries:
        query = printable(one["query"])
        query = query if len(query) < QUERY else f"{query[: QUERY - 3]} …"
        yield f"{query:<{QUERY}}{one['times']:>9,}{one['clicks']:>9,}"
