"""The pages of the demo web: the ordinary ones, and the odd ones, which `oddities.toml` lists.

The texts of an ordinary server are a file for its topic: the name, the motto, then `# Section`, `## Article`
and its paragraph.
"""

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


# Whom the pages of a topic point to.
NEIGHBOURS = {
    "astronomy": "sailing",
    "birds": "gardening",
    "computing": "molecular-biology",
    "cooking": "gardening",
    "gardening": "genetics",
    "genetics": "molecular-biology",
    "geology": "astronomy",
    "molecular-biology": "genetics",
    "music": "computing",
    "railways": "geology",
    "sailing": "astronomy",
}


class Article(NamedTuple):
    title: str
    text: str

    @property
    def slug(self) -> str:
        return _slug(self.title)

    @property
    def summary(self) -> str:
        return self.text.split(". ")[0].rstrip(".") + "."


class Section(NamedTuple):
    title: str
    articles: list[Article]

    @property
    def slug(self) -> str:
        return _slug(self.title)


class Pair(NamedTuple):
    first: Article
    second: Article

    @property
    def path(self) -> str:
        return f"/together/{self.first.slug}-{self.second.slug}.html"

    @property
    def title(self) -> str:
        return f"{self.first.title} and {re.sub('^The ', 'the ', self.second.title)}"


class Topic(NamedTuple):
    name: str
    slug: str
    motto: str
    sections: list[Section]

    @property
    def articles(self) -> list[tuple[str, Article]]:
        """Each with its path."""
        return [(f"/{s.slug}/{a.slug}.html", a) for s in self.sections for a in s.articles]

    @property
    def pairs(self) -> list[Pair]:
        """Each article of a section with the one in the same place of the next section."""
        articles = [article for _, article in self.articles]
        following = articles[len(self.sections[0].articles) :]
        return list(map(Pair, articles, following))


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-")


def load() -> list[Topic]:
    """Read all topics, in alphabetical order."""
    folder = resources.files("webcrawler.demo") / "topics"
    return [_parse(slug, (folder / f"{slug}.txt").read_text("utf-8")) for slug in NEIGHBOURS]


def _parse(slug: str, text: str) -> Topic:
    head, *parts = text.split("\n# ")
    name, motto = head.strip().split("\n")
    sections = []
    for part in parts:
        title, *texts = part.split("\n## ")
        articles = [Article(*text.strip().split("\n")) for text in texts]
        sections.append(Section(title, articles))
    return Topic(name, slug, motto, sections)


def directory(topics: list[Topic], origins: list[str]) -> dict[str, Answer]:
    """Return the pages of the server from which all others can be reached."""
    servers = list(zip(origins, topics, strict=True))
    titles = sorted((a.title, origin + path) for origin, topic in servers for path, a in topic.articles)
    return {
        "/": rendered("directory.html", "Directory of the demo web", servers=servers),
        "/titles.html": rendered("titles.html", "All titles from A to Z", titles=titles),
    }


def site(topic: Topic, other: Topic, other_origin: str) -> dict[str, Answer]:
    """Return the pages of a topic, which link to the server of another one."""
    links = odd_links(topic.slug)
    pages = {
        "/": rendered(
            "topic.html", topic.name, topic=topic, other=other, other_origin=other_origin, odd_links=links
        ),
        "/glossary.html": rendered("glossary.html", f"{topic.name} in short", topic=topic),
    }
    for section in topic.sections:
        title = f"{section.title} - {topic.name}"
        pages[f"/{section.slug}/"] = rendered("section.html", title, topic=topic, section=section)
    for (path, article), (related_path, related) in zip(topic.articles, other.articles, strict=True):
        pages[path] = rendered(
            "article.html",
            f"{article.title} - {topic.name}",
            topic=topic,
            article=article,
            other=other,
            related=related,
            related_url=other_origin + related_path,
        )
    for pair in topic.pairs:
        pages[pair.path] = rendered("pair.html", f"{pair.title} - {topic.name}", topic=topic, pair=pair)
    return pages
