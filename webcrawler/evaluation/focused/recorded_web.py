"""A recorded crawl as a web: what does a fetch come to, and which pages are relevant to a topic?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler import urls
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import record_at
from webcrawler.errors import BadInput, Unavailable, Unreadable
from webcrawler.evaluation.recorded import documents
from webcrawler.parsing import index_text, parse
from webcrawler.records import Document, Link, Page, Text

AT_ONCE = 1000  # texts in memory
KEPT = 2000  # parsed pages in memory: about 300 MB


class Fetched(NamedTuple):
    """The outcome of fetching a URL; only documents have a number."""

    reason: str  # "document", "redirect", "not-found"
    number: int = 0  # page number in the catalog
    digest: bytes = b""
    text: Text | None = None
    links: tuple[Link, ...] = ()  # that are followed


class Recording:
    """The documents and redirects of a crawl; any other URL is not found.

    Archived pages are parsed again, since only they have the words around links.

    Raises:
        BadInput: nothing was crawled into that folder.
    """

    def __init__(self, crawl_dir: Path) -> None:
        file = crawl_dir / "catalog.sqlite"
        if not file.exists():
            raise BadInput(
                f"nothing was crawled into {crawl_dir}: --focused needs the data folder of a crawl"
            )
        self.crawl_dir = crawl_dir
        self._catalog = Catalog(file, readonly=True)
        self.documents = dict(documents(self._catalog))
        if not self.documents:
            raise BadInput(f"{crawl_dir} holds no document: crawl more, then compare strategies")
        self.number_of = {document.url: number for number, document in self.documents.items()}
        # Links to a protocol that the crawl did not follow lead nowhere.
        self._protocols = {document.url.partition(":")[0] for document in self.documents.values()}
        # So do links to a kind of document that it did not read.
        self._unread = urls.DOCUMENTS - {urls.ending(document.url) for document in self.documents.values()}
        self._parsed: Callable[[int], tuple[Text | None, tuple[Link, ...]]] = lru_cache(KEPT)(self._parse)

    def fetch(self, url: str) -> Fetched:
        """The outcome of fetching a canonical URL.

        Raises:
            Unavailable: the archive lacks this page.
        """
        number = self.number_of.get(url)
        if number is not None:
            return Fetched("document", number, self.documents[number].digest, *self._parsed(number))
        target = self._redirects.get(url)
        return Fetched("redirect", links=(target,)) if target else Fetched("not-found")

    def texts(self) -> Iterator[tuple[int, Text]]:
        """The texts of all documents in the catalog, by page number."""
        wanted = list(self.documents)
        for start in range(0, len(wanted), AT_ONCE):
            yield from self._catalog.texts(wanted[start : start + AT_ONCE]).items()

    def with_bytes_of(self, document: Document) -> list[Document]:
        """The document, and those with the same bytes whose WARC record may hold them in its place."""
        equal = {document.duplicate_of, self._catalog.first_with_bytes_of(document.number)} - {
            document.number
        }
        return [document, *(self.documents[number] for number in sorted(equal & self.documents.keys()))]

    @cached_property
    def _redirects(self) -> dict[str, Link]:
        rows = [(row.source, row.target) for row in self._catalog.links.all() if row.rel == "redirect"]
        url_of = self._catalog.urls.of(list({number for row in rows for number in row}))
        return {url_of[source]: link(url_of[target], rel="redirect") for source, target in rows}

    def _parse(self, number: int) -> tuple[Text | None, tuple[Link, ...]]:
        document = self.documents[number]
        page = self._archived(document)
        if page is None:
            return None, ()
        return None if page.noindex else index_text(page), () if page.nofollow else self._followed(
            page.links, document.id
        )

    def _followed(self, links: Iterable[Link], own: int) -> tuple[Link, ...]:
        """The links that a crawl follows."""
        allowed = (one for one in links if not one.refused and one.rel != "nofollow" and one.id != own)
        return tuple(one for one in allowed if urls.ending(one.url) not in self._unread)

    def _archived(self, document: Document) -> Page | None:
        """The parsed page, its links relative to its own URL; None where nothing can be read."""
        same = self.with_bytes_of(document)
        places = [one.place for one in same if one.place]
        if not places:
            raise Unavailable(f"{document.url} is in no WARC file of {self.crawl_dir / 'pages'}")
        for place in places:
            try:
                response = record_at(self.crawl_dir / "pages", place).response
            except Unavailable:
                if place == places[-1]:
                    raise
                continue  # another record has the same bytes
            if response.body:
                url = document.url if len(same) > 1 else response.url
                with suppress(Unreadable):  # its reader is not installed any more
                    return parse(response.body, url, document.content_type, self._protocols)
        return None


def link(url: str, anchor: str = "", rel: str = "") -> Link:
    target = urls.outlink(url, url)
    return Link(target.url, target.id, target.spelling, anchor, rel=rel, refused=target.refused)


class Topic(NamedTuple):
    """A page is relevant if its title has a term, or if terms occur in its body `min_body` times in all.

    Terms are whole words; case does not matter, and a space is any white space.

    Source: after Cho 1998, section 7.
    """

    query: str  # what strategies look for
    terms: tuple[str, ...]
    min_body: int


def read_topics(file: Path) -> list[Topic]:
    """`{"topics": [{"query": …, "terms": […], "min_body": …}]}`.

    Raises:
        BadInput: the file cannot be read, has another format, or has a query twice.
    """
    try:
        rows = json.loads(file.read_text("utf-8"))["topics"]
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f'{file}: expected {{"topics": [{{"query", "terms", "min_body"}}, …]}}') from None
    rows = rows if isinstance(rows, list) else []
    topics = [_topic(row, f"{file}, topic {number}") for number, row in enumerate(rows, 1)]
    if len({topic.query for topic in topics}) < len(topics) or not topics:
        raise BadInput(f"{file} {'has a query twice' if topics else 'has no topics'}")
    return topics


def _topic(row: Any, where: str) -> Topic:
    try:
        query, terms, min_body = row["query"].strip(), row["terms"], row["min_body"]
        normal = tuple(dict.fromkeys(map(_normalized, terms)))
        is_right = query and normal and all(normal) and type(min_body) is int and min_body >= 1
        if isinstance(terms, str) or not is_right:
            raise ValueError(row)
    except (ValueError, TypeError, KeyError, AttributeError):
        expected = '{"query": text, "terms": [text, …], "min_body": 1 or more}'
        raise BadInput(f"{where}: expected {expected}") from None
    return Topic(query, normal, min_body)


class RelevanceRules:
    """Decides by the terms of many topics which of them a page is relevant to."""

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._rules = [
            (topic, {term: re.compile(rf"(?<!\w){re.escape(term)}(?!\w)") for term in topic.terms})
            for topic in topics
        ]

    def queries(self, text: Text) -> set[str]:
        """The queries of the topics that a page is relevant to."""
        title, body = _normalized(text.title), _normalized(text.body)
        return {topic.query for topic, words in self._rules if _is_relevant(topic, words, title, body)}

    def relevant(self, texts: Iterable[tuple[int, Text]]) -> dict[str, set[int]]:
        """The numbers of the relevant pages by query."""
        found = {topic.query: set[int]() for topic, _ in self._rules}
        for number, text in texts:
            for query in self.queries(text):
                found[query].add(number)
        return found


def _is_relevant(topic: Topic, words: Mapping[str, re.Pattern[str]], title: str, body: str) -> bool:
    count = 0
    for term, word in words.items():
        if term in title or term in body:  # the cheap test first: most pages stop here
            if word.search(title):
                return True
            count += len(word.findall(body))
    return count >= topic.min_body


def _normalized(text: str) -> str:
    """In lower case, with one space for any white space."""
    return " ".join(text.lower().split())
