"""How a page of the demo web is written, and the odd pages, which `oddities.toml` lists."""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

LAST_MODIFIED = "Tue, 06 Jan 2026 10:00:00 GMT"
ORIGIN = "{origin}"  # in texts of `oddities.toml`: their server, whose port is not known before
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


@cache
def _environment() -> Environment:
    def source(name: str) -> str:
        return (resources.files("webcrawler.demo") / "templates" / name).read_text("utf-8")

    return Environment(
        loader=FunctionLoader(source),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def rendered(template: str, title: str, charset: str = "utf-8", **values: Any) -> Answer:
    """Return an HTML page, without a title element where the title is empty."""
    text = _environment().get_template(template).render(title=title, charset=charset, **values)
    return Answer(text.encode(charset), f"text/html; charset={charset}")


def page(body: str, title: str = "", head: str = "", charset: str = "utf-8") -> Answer:
    """Return an HTML page, given the HTML of its body and of what its head holds beside the title."""
    return rendered("page.html", title, charset, body=Markup(body), head=Markup(head))


@cache
def _odd() -> dict[str, Any]:
    return tomllib.loads((resources.files("webcrawler.demo") / "oddities.toml").read_text("utf-8"))


def odd_links(slug: str) -> list[str]:
    """Return the links to the odd pages of a topic's server, for its home page."""
    links: list[str] = _odd().get(slug, {}).get("links", [])
    return links


def oddities(slug: str, pages: dict[str, Answer], origin: str) -> dict[str, Answer]:
    """Return the odd pages of a topic's server; `pages` are its ordinary ones."""
    odd = _odd().get(slug, {})
    found = {copy: pages[original] for copy, original in odd.get("copies", {}).items()}
    for path, (status, location) in odd.get("redirects", {}).items():
        found[path] = redirect(location, status)
    for path, parts in odd.get("pages", {}).items():
        found[path] = page(**parts)
    for path, file in odd.get("files", {}).items():
        text: str = file.get("text", "").replace(ORIGIN, origin)
        body = base64.b64decode(file["base64"]) if "base64" in file else text.encode()
        found[path] = Answer(body, file["type"])
    if rules := odd.get("robots", PERMISSION):
        found["/robots.txt"] = Answer(rules.replace(ORIGIN, origin).encode(), "text/plain; charset=utf-8")
    return found


def calendar(path: str) -> Answer | None:
    """Return a page for any month: an endless trap for crawlers that do not read robots.txt."""
    if not (found := re.fullmatch(r"/calendar/(\d{4,9})/(0[1-9]|1[0-2])/", path)):
        return None
    year, month = int(found[1]), int(found[2])
    following = f"/calendar/{year + month // 12}/{month % 12 + 1:02}/"
    title = f"Sightings in month {month} of {year}"
    return page(f'<h1>{title}</h1>\n<p>Nothing was seen.</p>\n<a href="{following}">Next month</a>', title)
