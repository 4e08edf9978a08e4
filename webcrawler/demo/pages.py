"""How a page of the demo web is written, and the odd pages, which `oddities.toml` lists."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from typing import Any, NamedTuple

LAST_MODIFIED = "Tue, 06 Jan 2026 10:00:00 GMT"
PERMISSION = "User-agent: *\nDisallow:\n"


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
    body = b"<!DOCTYPE html><title>Moved</title><p>The page has moved.</p>"
    return Answer(body, status=status, location=location)


def page(title: str, *body: str, head: str = "", charset: str = "utf-8") -> Answer:
    """Return an HTML page, without a title element where the title is empty."""
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
    """Return a paragraph whose first sentence is bold, as in a magazine."""
    first, stop, rest = text.partition(". ")
    return f"<p><strong>{escape(first + stop.rstrip())}</strong> {escape(rest)}</p>" if rest else plain(text)


def plain(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def link(url: str, anchor: str) -> str:
    return f'<a href="{escape(url)}">{escape(anchor)}</a>'


def bullets(items: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


@cache
def _odd() -> dict[str, Any]:
    return tomllib.loads((resources.files("webcrawler.demo") / "oddities.toml").read_text("utf-8"))


def odd_links(slug: str) -> list[str]:
    """Return the links to the odd pages of a topic's server, for its home page."""
    links: list[str] = _odd().get(slug, {}).get("links", [])
    return links


def oddities(slug: str, pages: dict[str, Answer]) -> dict[str, Answer]:
    """Return the odd pages of a topic's server; `pages` are its ordinary ones."""
    odd = _odd().get(slug, {})
    found = {copy: pages[original] for copy, original in odd.get("copies", {}).items()}
    for path, (status, location) in odd.get("redirects", {}).items():
        found[path] = redirect(location, status)
    for path, parts in odd.get("pages", {}).items():
        head, charset = parts.get("head", ""), parts.get("charset", "utf-8")
        found[path] = page(parts.get("title", ""), parts["body"].strip(), head=head, charset=charset)
    for path, file in odd.get("files", {}).items():
        body = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
        found[path] = Answer(body, file["type"])
    if rules := odd.get("robots", PERMISSION):
        found["/robots.txt"] = Answer(rules.encode(), "text/plain; charset=utf-8")
    return found


def calendar(path: str) -> Answer | None:
    """Return a page for any month: an endless trap for crawlers that do not read robots.txt."""
    if not (found := re.fullmatch(r"/calendar/(\d{4,9})/(0[1-9]|1[0-2])/", path)):
        return None
    year, month = int(found[1]), int(found[2])
    following = f"/calendar/{year + month // 12}/{month % 12 + 1:02}/"
    title = f"Sightings in month {month} of {year}"
    return page(title, heading(1, title), plain("Nothing was seen."), link(following, "Next month"))
