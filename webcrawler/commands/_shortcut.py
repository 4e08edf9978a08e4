"""`webcrawler search` without Scrapy, which takes as long to import as all the rest takes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from webcrawler import settings
from webcrawler.commands._hits import OPTIONS, search
from webcrawler.commands._terminal import add_options, finished

SET = {"CRAWL_DIR": settings.CRAWL_DIR, "SEARCH_URL": settings.SEARCH_URL}  # what a search asks of settings


def searched(arguments: Sequence[str]) -> int | None:
    """Search as a command line says; returns the exit status, or None for what is left to Scrapy to read.

    Those are Scrapy's own options, --help, and whatever is wrong: so there is one text for each fault.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_options(parser, OPTIONS)
    parser.add_argument("-s", "--set", action="append", default=[])
    parser.add_argument("words", nargs="*")
    try:
        opts, unknown = parser.parse_known_args(arguments)
    except argparse.ArgumentError:
        return None
    given = dict(option.partition("=")[::2] for option in opts.set)
    values = SET | {name: value for name, value in given.items() if value}
    odd = unknown or "--" in arguments or not all("=" in option for option in opts.set)
    if odd or values.keys() != SET.keys() or settings.FRONTIER_PARTITIONS:
        return None
    if any(settings.complaint(name, value) for name, value in values.items()):
        return None
    return finished(lambda: search(opts.words, opts, Path(values["CRAWL_DIR"]), str(values["SEARCH_URL"])))
