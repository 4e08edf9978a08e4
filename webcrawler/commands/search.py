"""`webcrawler search`."""

from __future__ import annotations

import argparse

from webcrawler.commands import _hits
from webcrawler.commands.base import Command


class Search(Command):
    arguments = '"molecular biology"'
    summary = "Search the pages that were crawled"
    details = (
        "Shows pages with some or all of the words, the most relevant first. +word must be on the page, "
        '-word must not, "some words" must be next to each other, word* is the beginning of a word. '
        "title:word, site:example.org, lang:de, after:2026-11-01 and link:URL restrict the search; OR and "
        "(parentheses) combine."
    )
    options = _hits.OPTIONS
    takes_query = True

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        _hits.search(args, opts, self.crawl_dir, str(self.project.get("SEARCH_URL") or ""))
