"""How a page of the demo web is written, and the odd ones: what every crawler meets sooner or later."""

from __future__ import annotations

import base64
import hashlib
import re
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


def link(url: str, anchor: str, rel: str = "") -> str:
    relation = f' rel="{rel}"' if rel else ""
    return f'<a href="{escape(url)}"{relation}>{escape(anchor)}</a>'


def bullets(items: Iterable[str]) -> str:
    return "<ul>\n" + "\n".join(f"<li>{item}</li>" for item in items) + "\n</ul>"


# The oddities, by the server on which they stand.

ROBOTS = {
    "birds": "User-agent: *\nDisallow: /calendar/\n",
    "music": "User-agent: *\nDisallow: /private/\n",
    "sailing": "User-agent: *\nCrawl-delay: 0.1\n",
    "geology": None,  # answers 404: everything may be fetched
}
ROBOTS_OF_OTHERS = "User-agent: *\nDisallow:\n"

# Links on the home page of a topic.
EXTRAS: dict[str, list[str]] = {
    "birds": [link("/calendar/2026/11/", "Calendar of sightings")],
    "music": [
        link("/private/rehearsals.html", "Rehearsals, for the choir only"),
        link("/members.html", "Members"),
    ],
    "geology": [link("/field-trips/lost.html", "Field trips")],
    "railways": [
        link("/timetable", "Timetable"),
        link("/latest", "Latest news"),
        link("http://127.0.0.1:1/", "Museum of lost lines"),  # nobody listens there
    ],
    "cooking": [link("/recipes/creme-brulee.html", "Crème brûlée")],
    "gardening": [link("/notes.html", "Notes from the potting shed")],
    "molecular-biology": [
        link("/print/dna-replication.html", "DNA replication, to print"),
        link("/print/crispr.html", "CRISPR, to print"),
    ],
    "genetics": [link("/print/mutation.html", "Mutation, to print")],
    "astronomy": [
        link("/pictures/moon.png", "Picture of the Moon"),
        link("/data/stars.zip", "Catalogue of stars"),
        '<a href="/tonight.html"><img src="/pictures/moon.png" alt="What to see tonight"></a>',
    ],
    "computing": [link("/readme", "Read me"), link("/sponsored.html", "Our sponsor", "nofollow")],
}

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)

# Other spellings of a page with the very same bytes.
COPIES = {
    "molecular-biology": {
        "/print/dna-replication.html": "/nucleic-acids/dna-replication.html",
        "/print/crispr.html": "/methods/crispr.html",
    },
    "genetics": {"/print/mutation.html": "/heredity/mutation.html"},
}


def oddities(slug: str, pages: dict[str, Answer]) -> dict[str, Answer]:
    """Return the special pages of a topic's server; `pages` are its ordinary ones."""
    odd = {copy: pages[original] for copy, original in COPIES.get(slug, {}).items()}
    odd |= _special().get(slug, {})
    rules = ROBOTS.get(slug, ROBOTS_OF_OTHERS)
    if rules is not None:
        odd["/robots.txt"] = Answer(rules.encode(), "text/plain; charset=utf-8")
    return odd


def calendar(path: str) -> Answer | None:
    """Return a page for any month: an endless trap for crawlers that do not read robots.txt."""
    if not (found := re.fullmatch(r"/calendar/(\d{4,9})/(0[1-9]|1[0-2])/", path)):
        return None
    year, month = int(found[1]), int(found[2])
    following = f"/calendar/{year + month // 12}/{month % 12 + 1:02}/"
    title = f"Sightings in month {month} of {year}"
    return page(title, heading(1, title), plain("Nothing was seen."), link(following, "Next month"))


def _special() -> dict[str, dict[str, Answer]]:
    return {
        "music": {
            "/private/rehearsals.html": page("Rehearsals", plain("Robots may not read this.")),
            "/members.html": page(
                "Members",
                heading(1, "Members"),
                plain("Robots may follow the links of this page but keep it out of their index."),
                link("/concert.html", "Next concert"),
                head='<meta name="robots" content="noindex">\n',
            ),
            "/concert.html": page(
                "Next concert",
                heading(1, "Next concert"),
                plain("A fugue, a waltz and a blues, on Sunday at five."),
            ),
        },
        "railways": {
            "/timetable": redirect("/history/railway-time.html", 301),
            "/latest": redirect("/news.html", 302),
            "/news.html": page(
                "News from the line", heading(1, "News"), plain("The night train runs again from December.")
            ),
        },
        "cooking": {
            "/recipes/creme-brulee.html": page(
                "Crème brûlée",
                heading(1, "Crème brûlée"),
                plain("Mix yolks, sugar, vanilla and hot cream and let it set in a water bath."),
                plain("Let the sugar on top melt and brown just before you serve. À table!"),
                charset="iso-8859-1",
            ),
        },
        "gardening": {
            "/notes.html": page(
                "",
                heading(2, "Notes from the potting shed"),
                plain("Sharpen the spade. Order seed potatoes. Oil the shears before the frost comes."),
            ),
        },
        "astronomy": {
            "/pictures/moon.png": Answer(PIXEL, "image/png"),
            "/data/stars.zip": Answer(EMPTY_ZIP, "application/zip"),
            "/tonight.html": page(
                "What to see tonight",
                heading(1, "Tonight"),
                plain("Jupiter stands in the south. The Moon is new."),
            ),
        },
        "computing": {
            "/readme": Answer(b"This is plain text and no page.\n", "text/plain; charset=utf-8"),
            "/sponsored.html": page("Our sponsor", plain("Only a link marked nofollow leads here.")),
        },
    }
