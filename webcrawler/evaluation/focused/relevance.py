"""Which pages are about a topic? By words alone, so that no strategy's own score is its judge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from webcrawler.errors import BadInput
from webcrawler.records import Text


class Topic(NamedTuple):
    """A page is relevant with a term in its title, or with `min_body` of the terms, together, in its body.

    Terms are whole words; case does not matter, and a space is any white space.

    Source: after Cho 1998, section 7.
    """

    query: str  # that strategies are given
    terms: tuple[str, ...]
    min_body: int


def read_topics(file: Path) -> list[Topic]:
    """`{"topics": [{"query": …, "terms": […], "min_body": …}]}`.

    Raises:
        BadInput: it cannot be read, is something else, or has a query twice.
    """
    try:
        rows = json.loads(file.read_text("utf-8"))["topics"]
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadInput(f'{file}: expected {{"topics": [{{"query", "terms", "min_body"}}, …]}}') from None
    topics = [_topic(row, f"{file}, topic {number}") for number, row in enumerate(_list(rows), 1)]
    if len({topic.query for topic in topics}) < len(topics) or not topics:
        raise BadInput(f"{file} {'has a query twice' if topics else 'has no topics'}")
    return topics


def _list(rows: object) -> list[Any]:
    return rows if isinstance(rows, list) else []


def _topic(row: Any, where: str) -> Topic:
    try:
        query, terms, min_body = row["query"].strip(), row["terms"], row["min_body"]
        squeezed = tuple(dict.fromkeys(_squeezed(term) for term in terms))
        if not (query and terms and all(squeezed)) or isinstance(terms, str) or isinstance(min_body, bool):
            raise ValueError(query)
        if not isinstance(min_body, int) or min_body < 1:
            raise ValueError(min_body)
    except (ValueError, TypeError, KeyError, AttributeError):
        expected = '{"query": text, "terms": [text, …], "min_body": 1 or more}'
        raise BadInput(f"{where}: expected {expected}") from None
    return Topic(query, squeezed, min_body)


class Rule:
    """Judges texts by a topic; the text comes squeezed, as `squeezed` makes it, as it serves many rules."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._words = {term: re.compile(rf"(?<!\w){re.escape(term)}(?!\w)") for term in topic.terms}

    def accepts(self, title: str, body: str) -> bool:
        count = 0
        for term, word in self._words.items():
            if term in title or term in body:  # the cheap test first: most pages stop here
                if word.search(title):
                    return True
                count += len(word.findall(body))
        return count >= self._topic.min_body


class Judge:
    """Judges texts by many topics."""

    def __init__(self, topics: Sequence[Topic]) -> None:
        self._rules = {topic.query: Rule(topic) for topic in topics}

    def queries(self, text: Text) -> set[str]:
        """The queries of the topics that a page is relevant to."""
        title, body = _squeezed(text.title), _squeezed(text.body)
        return {query for query, rule in self._rules.items() if rule.accepts(title, body)}

    def relevant(self, texts: Iterable[tuple[int, Text]]) -> dict[str, set[int]]:
        """The numbers of the relevant texts by query."""
        found: dict[str, set[int]] = {query: set() for query in self._rules}
        for number, text in texts:
            for query in self.queries(text):
                found[query].add(number)
        return found


def _squeezed(text: str) -> str:
    return " ".join(text.lower().split())
