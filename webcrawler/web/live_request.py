"""What a form or a program asks of a search of the web, within the limits of this server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.job import read_domains
from webcrawler.orderings import strategies
from webcrawler.realtime import ENOUGH, KEEP, urls_of
from webcrawler.web import parameters
from webcrawler.web.config import Config
from webcrawler.web.parameters import MAX_FIELDS, Parameters

DEFAULT = "adaptive"
STRATEGIES = {mode.name: mode.help for mode in strategies() if mode.can_run}  # those that can run here
BY_EXAMPLES = [mode.name for mode in strategies() if mode.looks_for == "examples"]
WITHOUT_WORDS = " and ".join(filter(None, (", ".join(BY_EXAMPLES[:-1]), BY_EXAMPLES[-1])))
MAX_CHARACTERS = 100_000  # of a field: a list of addresses
MAX_FILES = 1  # the bookmarks
BROKEN = "this form cannot be read: send it once more"
MAX_ENOUGH = 1_000  # similar documents
MAX_QUERY = parameters.MAX_CHARACTERS
MAX_TYPED = 200  # addresses
LISTS = {"seeds": "addresses", "examples": "addresses", "domains": "hosts"}
NO_QUERY = "say what to search for"
NO_EXAMPLES = f"{NO_QUERY}: words, or pages of the kind that you look for"


class Form(NamedTuple):
    fields: Parameters
    files: dict[str, bytes]  # by field, without fields for which no file was chosen


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """The fields but `again` are the arguments of `webcrawler crawl realtime`, by the same names."""

    query: str = ""
    strategy: str = DEFAULT
    enough: int = ENOUGH
    max_pages: int = 0
    max_time: int = 0  # seconds
    seeds: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    keep: str = KEEP[0]
    again: str = ""  # "yes": search once more, although the same was searched for lately


async def read_form(request: Request) -> Form:
    """The fields of a form, and its files if there are any (RFC 7578).

    Raises:
        BadInput: it is broken, or has too many fields or files.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        return Form(Parameters(await request.body()), {})
    parser = MultiPartParser(request.headers, request.stream(), max_files=MAX_FILES, max_fields=MAX_FIELDS)
    try:
        given = await parser.parse()
    except MultiPartException:
        raise BadInput(BROKEN) from None
    fields = [(name, value) for name, value in given.multi_items() if isinstance(value, str)]
    sent = [(name, value) for name, value in given.multi_items() if isinstance(value, UploadFile)]
    files = {name: await file.read() for name, file in sent if file.size}
    await given.close()
    return Form(Parameters(fields, MAX_CHARACTERS), files)


def read_live_request(form: Form, config: Config) -> LiveRequest:
    """Raises BadInput: there is nothing to search for, or a value is not valid."""
    given = form.fields
    examples = dict.fromkeys(_addresses("examples", given.one("examples")))
    bookmarks = form.files.get("bookmarks", b"").decode("utf-8", "replace")
    examples |= dict.fromkeys(urls_of(bookmarks) if bookmarks.strip() else ())
    query = " ".join(given.one("q").split())
    made = LiveRequest(
        query=query,
        strategy=given.one("strategy") or DEFAULT,
        enough=given.whole("enough", ENOUGH, 0, MAX_ENOUGH),
        max_pages=given.whole("max_pages", config.live_pages, 1, config.live_pages),
        max_time=given.whole("max_time", config.live_seconds, 1, config.live_seconds),
        seeds=tuple(_addresses("seeds", given.one("seeds"))),
        examples=tuple(examples),
        domains=_domains(given.one("domains")),
        keep=given.one("keep") or KEEP[0],
        again=given.one("again"),
    )
    if len(made.query) > MAX_QUERY or not made.query.isprintable():
        raise BadInput(f"the query must be plain text of {MAX_QUERY:,} characters at most")
    if made.strategy not in STRATEGIES:
        raise BadInput(f"no strategy {made.strategy[:40]!r}: choose one of {', '.join(STRATEGIES)}")
    if made.again not in ("", "yes"):
        raise BadInput("again must be yes, or not be given")
    if made.keep not in KEEP:
        raise BadInput(f"no such value of keep, {made.keep[:40]!r}: choose one of {', '.join(KEEP)}")
    if not made.query and made.strategy not in BY_EXAMPLES:
        raise BadInput(f"{NO_QUERY}: of the strategies, {WITHOUT_WORDS} do without words")
    if not made.query and not made.examples:
        raise BadInput(NO_EXAMPLES)
    return made


def from_json(body: bytes) -> Form:
    """The same form from a program: an object with the names of `LiveRequest`; lists of URLs are arrays.

    Raises:
        BadInput: it is not such an object.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInput("the body is not JSON") from None
    if not isinstance(given, Mapping) or not given.keys() <= set(LiveRequest.__slots__):
        raise BadInput(f"an object is wanted, with some of {', '.join(LiveRequest.__slots__)}")
    fields = [("q" if name == "query" else name, _plain(name, value)) for name, value in given.items()]
    return Form(Parameters(fields, MAX_CHARACTERS), {})


def _plain(name: str, value: Any) -> str:
    """The value as it stands in a form."""
    if name in LISTS:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return "\n".join(value)
        raise BadInput(f"{name} must be a list of {LISTS[name]}")
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise BadInput(f"{name} must be a text or a number")
    return str(value)


def _domains(text: str) -> tuple[str, ...]:
    """Between them commas or blanks."""
    try:
        domains = read_domains(",".join(text.split()))
    except BadInput:  # says what to write in a terminal
        raise BadInput("domains: write hosts, as example.org, example.com") from None
    if len(domains) > MAX_TYPED:
        raise BadInput(f"domains: {MAX_TYPED} hosts at most")
    return domains


def _addresses(name: str, text: str) -> list[str]:
    """One a line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_TYPED:
        raise BadInput(f"{name}: {MAX_TYPED} addresses at most")
    found = []
    for line in lines:
        try:
            url = urls.resolve(line)
        except BadUrl:
            url = ""
        if not url.startswith("http"):
            wanted = "write http://host/path or https://…"
            raise BadInput(f"{name}: {line[:100]!r} is not an address; {wanted}")
        found.append(url)
    return found
