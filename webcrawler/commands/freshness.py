"""`webcrawler freshness`: how much of the collection is current, and what keeps it so."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from rich.console import Console

from webcrawler.commands._terminal import JSON, Option, printable
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.orderings import whole_number
from webcrawler.search import span

LABELS = {"not-modified": "unchanged (304)"}


class Freshness(Command):
    summary = "Estimate how much of the collection is current"
    options = (
        Option("--by", None, "server: a line for each, where most is out of date first"),
        Option("-n", "20", "how many servers, or oldest documents (20)", "LIMIT"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.by not in (None, "server"):
            raise BadInput(f"--by {opts.by[:60]}: there is --by server")
        most = whole_number("-n", opts.n)
        from webcrawler.refresh import report  # slow to import, and Scrapy's own commands import ours

        with closing(self.catalog()) as catalog, Console(stderr=True).status("reading the history …"):
            policy = self.project.get("REFRESH_POLICY")
            found = report(catalog, self.crawl_dir, policy, most)
        if opts.json:
            print(json.dumps(found, indent=2))
        elif not found["documents"]:
            print(f"there is no document in {self.crawl_dir}")
        else:
            rows = _by_server(found["servers"]) if opts.by else _whole(found)
            print("\n".join(map(_printable_row, rows)))


def _printable_row(row: str) -> str:
    """Printable, with its columns and blank lines."""
    return re.sub(r"[^ \n]+", lambda word: printable(word[0]), row)


def _whole(found: dict[str, Any]) -> Iterator[str]:
    yield f"{_estimate(found['current'])} of the collection is current by importance, by estimate"
    if audit := found["audit"]:
        drawn = f"{audit['documents']:,} documents drawn at random in the last {audit['days']} days"
        yield f"{_estimate(audit)} was current by audit: {drawn}, {audit['changed']:,} of them had changed"
    else:
        yield "no audit so far: one check in a hundred, of documents drawn at random"
    yield f"\ndocuments  {found['documents']:,}, {found['unchecked']:,} of them were never checked"
    if outside := found["outside_scope"]:
        how = "`webcrawler remove --out-of-scope`"
        yield f"           {_are_outside(outside)} the scope and not checked: {how}"
    yield from _checks(found["lately"])
    yield "\nnot checked for the longest time"
    yield from (f"  {span(found['time'] - one['checked']):>8}  {one['url']}" for one in found["oldest"])


def _are_outside(documents: int) -> str:
    return "1 document is outside" if documents == 1 else f"{documents:,} documents are outside"


def _estimate(current: dict[str, Any]) -> str:
    interval = f"{current['low']:.1%} to {current['high']:.1%}"
    if not current.get("known", True):
        return f"not known within 3 %: {interval}"
    return f"{current['share']:.1%} ({interval})"


def _checks(lately: dict[str, Any]) -> Iterator[str]:
    days = "today" if lately["days"] == 1 else f"in {lately['days']} days"
    wasted = f", {lately['wasted']:.0%} of them found nothing new" if lately["a_day"] else ""
    yield f"checks     {lately['a_day']:,.1f} a day {days}{wasted}"
    for outcome, checks in lately["checks"].items():
        if checks:
            yield f"  {LABELS.get(outcome, outcome):<20}{checks:>10,}"


def _by_server(servers: list[dict[str, Any]]) -> Iterator[str]:
    names = {"share": "current", "low": "from", "high": "to"}
    head = "".join(f"{name:>8}" for name in names.values())
    yield f"{head}{'documents':>11}  server"
    for one in servers:
        figures = "".join(f"{one[name]:>8.1%}" for name in names)
        yield f"{figures}{one['documents']:>11,}  {one['server']}"
