"""What FTP and Gopher answer with instead of HTML, a list of files or a menu, as a page with links."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import NamedTuple

CONTENT_TYPE = "text/html; charset=utf-8"


class Line(NamedTuple):
    text: str
    href: str = ""  # "": no link


def page(title: str, lines: Iterable[Line]) -> bytes:
    """Return HTML in UTF-8: a paragraph for each link, and text between them as it stands."""
    parts = [f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n']
    for is_link, group in groupby(lines, key=lambda line: bool(line.href)):
        if is_link:
            parts += (f'<p><a href="{escape(href)}">{escape(text)}</a></p>\n' for text, href in group)
        else:
            text = escape("\n".join(line.text for line in group))
            parts.append(f"<pre>{text}</pre>\n")
    return "".join(parts).encode("utf-8", "replace")
