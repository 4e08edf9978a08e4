"""URLs that a person keeps: listed, one a line in a file, or the bookmarks that a browser exports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from pathlib import Path

from webcrawler.errors import BadInput, BadUrl
from webcrawler.job import read_seeds, seed_link
from webcrawler.urls import resolve

MAX_BYTES = 10 * 2**20
MAX_URLS = 1_000
# No parser of HTML: in this format no element is closed, and a tree of it is as deep as it is long.
_LINK = re.compile(r"""<a\s(?:[^<>]*?\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_MARK = "<!doctype netscape-bookmark-file"


def read_urls(text: str) -> tuple[str, ...]:
    """From `URL,URL`, or from `@FILE`: bookmarks, or one URL a line.

    Raises:
        BadInput: there is no such file, no URL, or one that is none.
    """
    if text.startswith("@"):
        bookmarks = _read(Path(text[1:]))
        if is_bookmarks(bookmarks):
            return urls_of(bookmarks)
    return read_seeds(text)


def is_bookmarks(text: str) -> bool:
    start = text.lstrip("\ufeff \r\n\t")[:5000].lower()
    return start.startswith(_MARK) or "<dt><a href=" in start or "<!doctype html" in start


def urls_of(bookmarks: str) -> tuple[str, ...]:
    """The http and https URLs of an exported bookmarks file (Netscape's format), the first 1,000.

    Raises:
        BadInput: there is none.
    """
    found = dict.fromkeys(islice(filter(None, map(fetchable, _hrefs(bookmarks))), MAX_URLS))
    if not found:
        raise BadInput("there is no http or https URL in these bookmarks: export them as HTML")
    return tuple(found)


def _hrefs(bookmarks: str) -> Iterator[str]:
    """Each once, and no further than somebody asks: to look at all of a large file takes seconds."""
    known: set[str] = set()
    for link in _LINK.finditer(bookmarks):
        href = unescape(link[1] or link[2] or link[3] or "").strip()
        if href not in known:
            known.add(href)
            yield href


def fetchable(href: str) -> str:
    """ "" for what is no page of the web: places of the browser, scripts, files."""
    try:
        return resolve(href) if href.startswith(("http://", "https://")) and seed_link(href).url else ""
    except BadUrl:
        return ""


def _read(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise BadInput(f"{file} is larger than {MAX_BYTES >> 20} MiB")
        return file.read_text("utf-8", errors="replace")
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}; write @FILE") from None
