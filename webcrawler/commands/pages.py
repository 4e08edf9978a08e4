"""`webcrawler pages`: which URLs are broken, blocked, empty, …, and which pages link to them."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from webcrawler.commands._terminal import JSON, Option, printable
from webcrawler.commands.base import Command
from webcrawler.orderings import whole_number

COLUMNS = ("url", "state", "reason", "status", "note", "since", "fetched", "in_links")
OF_LINK = {"url": "linked from {}", "anchor": "“{}”", "rel": "({})", "through": "through {}"}


class Pages(Command):
    summary = "List URLs that are broken, blocked, empty, …: why, since when, and which pages link to them"
    options = (
        Option("--state", "broken", "broken, blocked, empty, noindex, failed, 404, … (broken)", "STATE"),
        Option("-n", "10", "how many links to each to show (10)", "LIMIT"),
        Option("--csv", False, "print CSV, a row for each link"),
        JSON,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        listed = self.catalog().listed(opts.state, whole_number("-n", opts.n))
        (_print_csv if opts.csv else _print_json if opts.json else _print_text)(listed)


def _print_text(listed: Iterable[Any]) -> None:
    number = 0
    for number, page in enumerate(listed, 1):
        since = f"since {_moment(page['since'])} UTC" if page["since"] else ""
        why = f"{page['reason'] or page['state']} {page['status'] or ''} {since} {page['note']}"
        print(f"{number}. {printable(page['url'])}")
        print("   ", printable(f"{why} · in-links: {page['in_links']:,}"))
        for link in page["linked_from"]:
            said = (OF_LINK[name].format(text) for name, text in link.items() if text)
            print("   ", printable(" ".join(said)))
    if not number:
        print("there are none")


def _print_json(listed: Iterable[Any]) -> None:
    """One array, a URL on each line, as they are read."""
    print("[")
    for number, page in enumerate(listed):
        print("," * (number > 0) + json.dumps(page))
    print("]")


def _print_csv(listed: Iterable[Any]) -> None:
    table = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    table.writerow((*COLUMNS, "linked_from", "anchor", "rel", "through"))
    for page in listed:
        row = page | {name: _moment(page[name]) for name in ("since", "fetched")}
        for link in page["linked_from"] or [dict.fromkeys(OF_LINK, "")]:
            table.writerow(map(_cell, (*map(row.get, COLUMNS), *link.values())))


def _cell(value: object) -> str:
    """For spreadsheets: no text runs as a formula, also where they part cells at other characters."""
    text = printable(str(value))
    return f"'{text}" if text[:1] in {*"=+-@\uff1d\uff0b\uff0d\uff20"} else text


def _moment(seconds: float | None) -> str:
    """UTC, as spreadsheets read it; "" for None."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
