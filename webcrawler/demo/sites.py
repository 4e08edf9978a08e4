"""The ordinary servers: their texts, one file for each topic, and the pages that are made of them.

A file holds the name, the motto, then `# Section`, `## Article` and its paragraph.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import NamedTuple

from webcrawler.demo.pages import (
    Answer,
    bullets,
    description,
    heading,
    link,
    odd_links,
    page,
    paragraph,
    plain,
)

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
    def pairs(self) -> list[tuple[str, Article, Article]]:
        """Each article of a section with the one in the same place of the next section, and their path."""
        articles = [article for _, article in self.articles]
        following = articles[len(self.sections[0].articles) :]
        both = zip(articles, following, strict=False)
        return [(f"/together/{one.slug}-{other.slug}.html", one, other) for one, other in both]


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
    servers = [f"{link(o + '/', t.name)}: {t.motto}" for t, o in zip(topics, origins, strict=True)]
    titles = sorted(
        (article.title, origin + path)
        for topic, origin in zip(topics, origins, strict=True)
        for path, article in topic.articles
    )
    home = page(
        "Directory of the demo web",
        heading(1, "Directory of the demo web"),
        plain("Eleven small servers about things worth knowing. They run on your own machine."),
        bullets(servers),
        f"<p>{link('/titles.html', 'All titles from A to Z')}, {link('/about.html', 'what this is for')}</p>",
    )
    every = page(
        "All titles from A to Z", heading(1, "All titles"), bullets(link(url, title) for title, url in titles)
    )
    return {"/": home, "/titles.html": every}


def site(topic: Topic, other: Topic, other_origin: str) -> dict[str, Answer]:
    """Return the pages of a topic, which link to the server of another one."""
    pages = {"/": _home(topic, other, other_origin), "/glossary.html": _glossary(topic)}
    for section in topic.sections:
        pages[f"/{section.slug}/"] = page(
            f"{section.title} - {topic.name}",
            heading(1, section.title),
            bullets(f"{link(a.slug + '.html', a.title)}: {a.summary}" for a in section.articles),
            _back(topic),
        )
    elsewhere = [(other_origin + path, article) for path, article in other.articles]
    for (path, article), (url, related) in zip(topic.articles, elsewhere, strict=True):
        pages[path] = _article(topic, article, f"{link(url, related.title)} ({other.name})")
    for path, first, second in topic.pairs:
        pages[path] = _pair(topic, first, second)
    return pages


def _home(topic: Topic, other: Topic, other_origin: str) -> Answer:
    return page(
        topic.name,
        heading(1, topic.name),
        plain(topic.motto),
        bullets(link(f"/{section.slug}/", section.title) for section in topic.sections),
        heading(2, "Side by side"),
        bullets(link(path, _both(a, b)) for path, a, b in topic.pairs),
        heading(2, "More"),
        bullets([link("/glossary.html", f"{topic.name} in short"), *odd_links(topic.slug)]),
        f"<p>Our neighbours write about {link(other_origin + '/', other.name)}.</p>",
        head=description(topic.motto),
    )


def _article(topic: Topic, article: Article, see_also: str) -> Answer:
    return page(
        f"{article.title} - {topic.name}",
        heading(1, article.title),
        paragraph(article.text),
        f"<p>See also: {see_also}</p>",
        _back(topic),
        head=description(article.summary),
    )


def _pair(topic: Topic, first: Article, second: Article) -> Answer:
    return page(
        f"{_both(first, second)} - {topic.name}",
        heading(1, _both(first, second)),
        *(heading(2, first.title), plain(first.text)),
        *(heading(2, second.title), plain(second.text)),
        _back(topic),
    )


def _glossary(topic: Topic) -> Answer:
    entries = [f"<dt>{link(path, a.title)}</dt><dd>{a.summary}</dd>" for path, a in topic.articles]
    title = f"{topic.name} in short"
    return page(title, heading(1, title), "<dl>\n" + "\n".join(entries) + "\n</dl>", _back(topic))


def _back(topic: Topic) -> str:
    sections = (link(f"/{section.slug}/", section.title) for section in topic.sections)
    return f"<p>{link('/', topic.name)}: {', '.join(sections)}</p>"


def _both(first: Article, second: Article) -> str:
    inside = second.title.replace("The ", "the ", 1) if second.title.startswith("The ") else second.title
    return f"{first.title} and {inside}"
