"""Which pages are relevant to a topic? Words alone decide: no strategy is measured by its own score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler.errors import BadInput
from webcrawler.records import Text


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
