"""The ordinary servers: their texts, one file for each topic, and the pages that are made of them.

A file holds the name, the motto, then `# Section`, `## Article` and its paragraph.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

from webcrawler.demo.pages import Answer, odd_links, rendered

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
