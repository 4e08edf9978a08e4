"""How a page of the demo web is written and answered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

LAST_MODIFIED = "Tue, 06 Jan 2026 10:00:00 GMT"


class Answer(NamedTuple):
    """What a server says to a GET."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha1(self.body).hexdigest()[:16]}"'


NOT_FOUND = Answer(b"<!DOCTYPE html><title>Not found</title><p>There is no such page.</p>", status=404)


def redirect(location: str, status: int) -> Answer:
    return Answer(
        b"<!DOCTYPE html><title>Moved</title><p>The page has moved.</p>", status=status, location=location
    )


def page(title: str, *body: str, head: str = "", charset: str = "utf-8") -> Answer:
    """An HTML page; an empty title leaves the element out."""
    name = f"<title>{escape(title)}</title>\n" if title else ""
    text = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="{charset}">\n'
        f"{name}{head}</head>\n<body>\n" + "\n".join(body) + "\n</body>\n</html>\n"
    )
    return Answer(text.encode(charset), f"text/html; charset={charset}")


def description(text: str) -> str:
    return f'<meta name="description" content="{escape(text)}">\n'


def heading(size: int, text: str) -> str:
    return f"<h{size}>{escape(text)}</h{size}>"


def paragraph(text: str) -> str:
    """The first sentence stands out, as in a magazine."""
    first, stop, rest = text.partition(". ")
    return f"<p><strong>{escape(first + stop.rstrip())}</strong> {escape(rest)}</p>" if rest else plain(text)


def plain(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def link(url: str, anchor: str, rel: str = "") -> str:
    relation = f' rel="{rel}"' if rel else ""
    return f'<a href="{escape(url)}"{relation}>{escape(anchor)}</a>'


def bullets(items: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"
