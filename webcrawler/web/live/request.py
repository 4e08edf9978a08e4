"""A search of the web as it is asked for, within what this server allows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.realtime import ENOUGH, urls_of
from webcrawler.web import parameters
from webcrawler.web.config import Config
from webcrawler.web.live.forms import MAX_CHARACTERS, Form
from webcrawler.web.live.strategies import BY_EXAMPLES, DEFAULT, STRATEGIES
from webcrawler.web.parameters import Parameters

MAX_ENOUGH = 1_000  # similar documents
MAX_QUERY = parameters.MAX_CHARACTERS
MAX_TYPED = 200  # addresses
NO_QUERY = "say what to search for"
NO_EXAMPLES = f"{NO_QUERY}: words, or pages of the kind that you look for"


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields are the arguments of `scrapy crawl realtime`, by the same names."""

    query: str = ""
    strategy: str = DEFAULT
    enough: int = ENOUGH
    max_pages: int = 0
    max_time: int = 0  # seconds
    seeds: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


def asked(form: Form, config: Config) -> Asked:
    """Raises BadInput: nothing to search for, or a value that cannot be."""
    given = form.fields
    examples = dict.fromkeys(_addresses("examples", given.one("examples")))
    examples |= dict.fromkeys(_marked(form.files.get("bookmarks", b"")))
    made = Asked(
        query=_line(given.one("q")),
        strategy=given.one("strategy") or DEFAULT,
        enough=given.whole("enough", ENOUGH, 0, MAX_ENOUGH),
        max_pages=given.whole("max_pages", config.live_pages, 1, config.live_pages),
        max_time=given.whole("max_time", config.live_seconds, 1, config.live_seconds),
        seeds=tuple(_addresses("seeds", given.one("seeds"))),
        examples=tuple(examples),
    )
    if made.strategy not in STRATEGIES:
        raise BadInput(f"no strategy {made.strategy[:40]!r}: choose one of {', '.join(STRATEGIES)}")
    if not made.query and made.strategy not in BY_EXAMPLES:
        raise BadInput(f"{NO_QUERY}: of the strategies, {' and '.join(BY_EXAMPLES)} do without words")
    if not made.query and not made.examples:
        raise BadInput(NO_EXAMPLES)
    return made


def from_json(body: bytes) -> Form:
    """The same form, from a program: an object with the names of `Asked`; addresses are lists.

    Raises:
        BadInput: it is no such object.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("the body is no JSON") from None
    if not isinstance(given, Mapping) or not given.keys() <= set(Asked.__slots__):
        raise BadInput(f"an object is wanted, with some of {', '.join(Asked.__slots__)}")
    fields = [("q" if name == "query" else name, _plain(name, value)) for name, value in given.items()]
    return Form(Parameters(fields, MAX_CHARACTERS), {})


def _plain(name: str, value: Any) -> str:
    """As a form says it."""
    if name in ("seeds", "examples"):
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return "\n".join(value)
        raise BadInput(f"{name} wants a list of addresses")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise BadInput(f"{name} wants a text or a number")
    return str(value)


def _line(query: str) -> str:
    text = " ".join(query.split())
    if len(text) > MAX_QUERY or not text.isprintable():
        raise BadInput(f"the query wants plain text of {MAX_QUERY:,} characters at most")
    return text


def _addresses(name: str, text: str) -> list[str]:
    """One a line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_TYPED:
        raise BadInput(f"{name}: {MAX_TYPED} addresses at most")
    return [_address(name, line) for line in lines]


def _address(name: str, line: str) -> str:
    try:
        return urls.resolve(line)
    except BadUrl:
        raise BadInput(f"{name}: {line[:100]!r} is no address; write http://host/path or https://…") from None


def _marked(bookmarks: bytes) -> tuple[str, ...]:
    return urls_of(bookmarks.decode("utf-8", "replace")) if bookmarks.strip() else ()
