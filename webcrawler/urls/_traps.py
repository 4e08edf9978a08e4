"""Which URLs look made by a program that never ends? A table of rules, by name.

Each is made so that honest URLs pass; what it misses is left to the budgets of docs/explanation/traps.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection

LOCATIONS = ("/cgi-bin/",)  # UO 5.1: programs, infinite sets of pages, and votes cast by a crawler
MAX_SEGMENTS = 24  # Heritrix 20; the longest honest one of 24,000 URLs found in the wild has 21
MAX_REPEATS = 3  # Heritrix 2; `/photos/0/0/0/1` is honest
MAX_PARAMETERS = 20
MAX_NESTED = 2  # an archive's copy of a page that redirects to a URL has two

_LOCATED = re.compile("|".join(map(re.escape, LOCATIONS))).search
# Two or more segments, three times in a row. The rule before it bounds the work: 24 segments.
_PERIODIC = re.compile(r"((?:/[^/]*){2,}?)\1\1(?=/|$)")
_NESTED = re.compile(r"(?::|%3A)(?:/|%2F){1,2}")


def is_at(url: str, locations: Collection[str]) -> bool:
    """Tell whether the path of a resolved URL holds one of these lower-case texts, in any case."""
    path = url[url.index("/", 8) :].partition("?")[0].lower()
    return any(location in path for location in locations)


def _has_too_many_segments(path: str, query: str) -> bool:
    return path.count("/") > MAX_SEGMENTS


def _repeats(path: str, query: str) -> bool:
    """Tell whether a segment (/a/a/a/a), some in turn (/a/b/a/b/a/b) or a parameter comes again and again."""
    segments, parameters = path.removesuffix("/").split("/")[1:], query.split("&")
    return _most(segments) > MAX_REPEATS or _most(parameters) > MAX_REPEATS or bool(_PERIODIC.search(path))


def _has_too_many_parameters(path: str, query: str) -> bool:
    return query.count("&") >= MAX_PARAMETERS


def _is_nested(path: str, query: str) -> bool:
    """URLs in a URL; `%2525` is what was encoded three times, each time by another page about to return."""
    return len(_NESTED.findall(path + query)) > MAX_NESTED or "%2525" in path + query


def _most(parts: list[str]) -> int:
    return max(Counter(parts).values()) if len(parts) > MAX_REPEATS else 0


TRAPS: dict[str, Callable[[str, str], bool]] = {
    "depth": _has_too_many_segments,
    "repeats": _repeats,
    "parameters": _has_too_many_parameters,
    "nested": _is_nested,
}


def trap(url: str) -> str:
    """Return the name of the first rule that a canonical URL breaks, or "".

    0.4 µs for most URLs, 1 µs with four segments or more, 10 to 30 µs for the few that are suspicious.
    """
    if _LOCATED(url.lower()) and is_at(url, LOCATIONS):
        return "location"
    if not _is_suspicious(url):
        return ""
    path, _, query = url[url.index("/", 8) :].partition("?")
    return next((name for name, breaks in TRAPS.items() if breaks(path, query)), "")


def _is_suspicious(url: str) -> bool:
    """Tell quickly whether a URL may break a rule; only a yes can be wrong."""
    if url.count("&") >= MAX_REPEATS or "%25" in url or "%2F" in url or "%3A/" in url:
        return True
    slashes = url.count("/")  # two of them before the host
    if slashes < MAX_REPEATS + 3:
        return False
    again = slashes + 1 - len(set(url.split("/")))  # a query may hide one
    return again >= MAX_REPEATS - 1 or slashes > MAX_SEGMENTS + 2 or url.count(":/") > MAX_NESTED + 1
