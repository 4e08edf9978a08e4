"""The texts, one file per topic: name, motto, `# Section`, `## Article`, paragraph."""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

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
    slug: str
    text: str

    @property
    def summary(self) -> str:
        return self.text.split(". ")[0].rstrip(".") + "."


class Section(NamedTuple):
    title: str
    slug: str
    articles: tuple[Article, ...]


class Topic(NamedTuple):
    name: str
    slug: str
    motto: str
    sections: tuple[Section, ...]

    @property
    def articles(self) -> list[tuple[str, Article]]:
        """Each with its path."""
        return [(f"/{s.slug}/{a.slug}.html", a) for s in self.sections for a in s.articles]


def load() -> list[Topic]:
    """All topics, in alphabetical order of their files."""
    folder = resources.files("webcrawler.demo") / "topics"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda file: file.name
    )
    return [_parse(file.name.removesuffix(".txt"), file.read_text("utf-8")) for file in files]


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'", "")).strip("-")


def _parse(file_name: str, text: str) -> Topic:
    head, *sections = text.split("\n# ")
    name, motto = head.strip().split("\n")
    return Topic(name, file_name, motto, tuple(_section(section) for section in sections))


def _section(text: str) -> Section:
    title, *articles = text.split("\n## ")
    pairs = (article.strip().split("\n") for article in articles)
    return Section(title, slug(title), tuple(Article(name, slug(name), body) for name, body in pairs))
