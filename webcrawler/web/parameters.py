"""The parameters of a request, read strictly: what is invalid is refused with one line, never guessed at.

A search is what its URL states; links on the page are URLs of searches that differ a little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from webcrawler.errors import BadInput
from webcrawler.search import MAX_HITS, SORTS, Question
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.web.readable import without_controls

MAX_FIELDS = 64
MAX_NUMBER = 2**31 - 1  # of a page
MAX_CHARACTERS = 2_000  # of one value; the parser of queries has a limit of its own


class Parameters:
    """The values of a query string or form, by name; unknown names are ignored."""

    def __init__(self, given: bytes | Iterable[tuple[str, str]], longest: int = MAX_CHARACTERS) -> None:
        """Raises BadInput: too many, too long, or with control characters."""
        self._values: dict[str, list[str]] = {}
        for name, value in _pairs(given) if isinstance(given, bytes) else given:
            if len(value) > longest:
                raise BadInput(f"{_shown(name)} is too long: {longest:,} characters at most")
            if "\0" in value:
                raise BadInput(f"{_shown(name)} has a NUL character in it")
            self._values.setdefault(name, []).append(value)

    def many(self, name: str, most: int) -> tuple[str, ...]:
        """All values but empty ones, each once, in their order."""
        values = tuple(dict.fromkeys(value for value in self._values.get(name, []) if value.strip()))
        if len(values) > most:
            raise BadInput(f"{name} is given {len(values)} times: {most} at most")
        return values

    def one(self, name: str, default: str = "") -> str:
        values = self._values.get(name, [default])
        if len(values) > 1:
            raise BadInput(f"{name} is given {len(values)} times: once is enough")
        return values[0]

    def whole(self, name: str, default: int | None, least: int, most: int) -> int:
        """A whole number; without a default it must be given.

        An empty value counts as not given: that is how browsers fill OpenSearch's "{startPage?}".
        """
        text = self.one(name) or ("" if default is None else str(default))
        if not text:
            raise BadInput(f"{name} is missing")
        if not (text.isascii() and text.isdecimal() and len(text) <= 18 and least <= int(text) <= most):
            raise BadInput(f"{name} must be a number from {least:,} to {most:,}, not {_shown(text)}")
        return int(text)

    def yes(self, name: str, default: bool) -> bool:
        text = self.one(name, "1" if default else "0")
        if text not in ("0", "1"):
            raise BadInput(f"{name} must be 0 or 1, not {_shown(text)}")
        return text == "1"


def read(request: Request) -> Parameters:
    return Parameters(request.scope["query_string"])


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    """What is no UTF-8 is windows-1252, of a form on an old page."""
    as_bytes = "latin-1"
    try:
        pairs = parse_qsl(
            query_string.decode(as_bytes),
            keep_blank_values=True,
            encoding=as_bytes,
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:
        raise BadInput(f"too many parameters: {MAX_FIELDS} at most") from None
    return [(_text(name.encode(as_bytes)), _text(value.encode(as_bytes))) for name, value in pairs]


def _text(given: bytes) -> str:
    try:
        return given.decode()
    except UnicodeDecodeError:
        return given.decode("cp1252", "replace")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


HITS = 15  # on a page, as in Figure 3 of Pinkerton 1994
MAX_LIMIT = 100
MAX_EXPLAINED = 20  # hits on a page with explanations
MAX_WITHIN, MAX_ADDED = 5, 20
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?![a-zA-Z])")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The fields are the parameters, by the same names, but for the language of the asker."""

    q: str
    page: int = 1
    limit: int = HITS
    ranking: str = DEFAULT
    sort: str = SORTS[0]
    within: tuple[str, ...] = ()  # queries whose results are searched
    add: tuple[str, ...] = ()  # related words that were added by hand
    expand: bool = True  # the thesaurus may add words
    exact: bool = False  # misspelled words are not corrected
    facets: bool = False  # all matches are counted by site, language and change
    lang: str = ""  # language of the asker, in place of what the browser says
    explain: bool = False
    language: str = ""  # of the asker, ISO 639, as the browser says; not in addresses

    @property
    def start(self) -> int:
        return (self.page - 1) * self.limit

    @property
    def question(self) -> Question:
        return Question(self.q, **{name: getattr(self, name) for name in Question._fields[1:]})

    def url(self, path: str = "/search", **changes: Any) -> str:
        """The address of this search, or of one that differs from it; another search begins at page 1."""
        if changes and "page" not in changes:
            changes["page"] = 1
        return f"{path}?{urlencode(list(replace(self, **changes)._pairs()))}"

    def without(self, word: str) -> str:
        """The address of this search without a word that was added to it by hand."""
        return self.url(add=tuple(other for other in self.add if other != word))

    def everywhere_but(self, query: str) -> str:
        """The address of this search, no longer within the results of one query."""
        return self.url(within=tuple(other for other in self.within if other != query))

    def narrowed(self, query: str) -> str:
        """The address of this search within the results of another query, which may be a filter alone."""
        within = tuple(dict.fromkeys((*self.within[-MAX_WITHIN + 1 :], query)))
        return self.url(within=within, facets=False)

    def dropping(self, word: str, added: Sequence[str]) -> str:
        """The address of this search without one of the words that the thesaurus added."""
        rest = tuple(other for other in dict.fromkeys((*self.add, *added)) if other != word)
        return self.url(add=rest[:MAX_ADDED], expand=False)

    def on_server(self, server: str) -> str:
        """The address of this search among the pages of one server."""
        return self.narrowed(f"site:{server.partition('://')[2]}")

    def explain_url(self) -> str:
        """The address of a hit's explanation, to which its page number is to be appended."""
        return f"{self.url('/explain', page=self.page, explain=False)}&number="

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Only what differs from the defaults, so that addresses stay short."""
        yield "q", self.q
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value == field.default or field.name == "language":
                continue
            for one in value if isinstance(value, tuple) else [value]:
                yield field.name, str(int(one) if isinstance(one, bool) else one)


def read_search(given: Parameters, accepted: str = "") -> SearchRequest:
    """Read the parameters of a search.

    Args:
        accepted: the header Accept-Language, whose first language is the asker's.
    Raises:
        BadInput: a value is not valid.
    """
    limit = given.whole("limit", HITS, 1, MAX_LIMIT)
    wanted = SearchRequest(
        q=without_controls(given.one("q")),
        page=given.whole("page", 1, 1, -(-MAX_HITS // limit)),
        limit=limit,
        ranking=given.one("ranking") or DEFAULT,
        sort=given.one("sort") or SORTS[0],
        within=given.many("within", MAX_WITHIN),
        add=given.many("add", MAX_ADDED),
        expand=given.yes("expand", True),
        exact=given.yes("exact", False),
        facets=given.yes("facets", False),
        explain=given.yes("explain", False),
        lang=(lang := given.one("lang")),
        language=found[0].lower() if (found := _LANGUAGE.match(lang or accepted)) else "",
    )
    if lang and not wanted.language:
        raise BadInput(f"lang must be a language such as de, not {lang[:40]!r}")
    if wanted.ranking not in RANKINGS:
        raise BadInput(f"no ranking {wanted.ranking[:40]!r}: choose one of {', '.join(RANKINGS)}")
    if wanted.sort not in SORTS:
        raise BadInput(f"no order {wanted.sort[:40]!r}: sort by {' or '.join(SORTS)}")
    if wanted.explain and wanted.limit > MAX_EXPLAINED:
        raise BadInput(f"explain=1 explains no more than {MAX_EXPLAINED} hits: say limit={MAX_EXPLAINED}")
    return wanted
