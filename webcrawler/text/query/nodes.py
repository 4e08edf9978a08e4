"""What a query demands of a page, as a tree.

    Word · Phrase · Prefix · Site · Link · Changed · Lang · Is     a page satisfies it, or not
    AllOf · AnyOf · Not                                            made of other nodes

Inner nodes are built with `all_of`, `any_of` and `negated`, which keep a tree in its simplest form.
RESTRICTIONS make leaves of fields.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf

from webcrawler.urls import UnfetchableUrl, canonical, host_and_port, resolve, server

DAY_SECONDS = 86_400.0
SPANS = {"h": 3_600.0, "d": DAY_SECONDS}


@dataclass(frozen=True, slots=True)
class Word:
    term: str
    field: str = ""  # "title"; "" is anywhere in the page, its URL and the anchors of its in-links
    spelled: str = dataclasses.field(default="", compare=False)  # as typed


@dataclass(frozen=True, slots=True)
class Phrase:
    """Terms next to each other in this order, or, with `within`, near each other in any order."""

    terms: tuple[str, ...]  # with `within` none twice
    field: str = ""
    within: int = 0  # the most words from the first to the last; 0 for a phrase
    spelled: tuple[str, ...] = dataclasses.field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Prefix:
    letters: str  # lower case
    field: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    host: str  # "example.org", or with its port: "example.org:8080"

    def covers(self, server: str) -> bool:
        """Tell whether "http://host:port" is on that host or a subdomain; with a port, on that server."""
        if self.host.partition(":")[0] not in server:  # quick: there are many servers
            return False
        host, port = host_and_port(server)
        host = f"[{host}]" if ":" in host else host
        return self.host == f"{host}:{port}" or f".{host}".endswith(f".{self.host}")


@dataclass(frozen=True, slots=True)
class Link:
    """Pages that link to a URL."""

    url: str  # canonical


@dataclass(frozen=True, slots=True)
class Changed:
    """Pages whose text or links last changed in a span of time, UTC; new ones did when they were found."""

    spelled: str  # "7d", "12h"; "2026-11-01"; with >, >=, <, <= before it; "2026-11-01..2026-11-20"

    def times(self, now: float) -> tuple[float, float]:
        """Seconds since 1970: from the first on, before the second. Raises ValueError: it is no such text."""
        if self.spelled[-1:] in SPANS:
            return now - int(self.spelled[:-1]) * SPANS[self.spelled[-1]], inf
        first, to, last = self.spelled.lstrip("<>=").partition("..")
        begins, ends = _time(first), _time(last if to else first) + DAY_SECONDS
        match self.spelled.rstrip("0123456789-."):
            case ">":
                return ends, inf
            case ">=":
                return begins, inf
            case "<":
                return 0.0, begins
            case "<=":
                return 0.0, ends
        return begins, ends


@dataclass(frozen=True, slots=True)
class Lang:
    """Pages in a language."""

    code: str  # "de", as ISO 639 has it


@dataclass(frozen=True, slots=True)
class Is:
    """Pages that were fetched, or those that only links say something of."""

    state: str  # "crawled" or "uncrawled"


@dataclass(frozen=True, slots=True)
class AllOf:
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    node: Node


Leaf = Word | Phrase | Prefix | Site | Link | Changed | Lang | Is
Node = Leaf | AllOf | AnyOf | Not
NOTHING = AnyOf(())  # no page satisfies it


def all_of(nodes: Iterable[Node]) -> Node:
    """Return a node that demands all of these, exclusions last."""
    flat = [one for node in nodes for one in (node.nodes if isinstance(node, AllOf) else (node,))]
    parts = tuple(dict.fromkeys(sorted(flat, key=lambda node: isinstance(node, Not))))
    return parts[0] if len(parts) == 1 else AllOf(parts) if parts else NOTHING


def any_of(nodes: Iterable[Node]) -> Node:
    flat = [one for node in nodes for one in (node.nodes if isinstance(node, AnyOf) else (node,))]
    parts = tuple(dict.fromkeys(flat))
    return parts[0] if len(parts) == 1 else AnyOf(parts) if parts else NOTHING


def negated(node: Node) -> Node:
    return node.node if isinstance(node, Not) else Not(node)


def leaves(node: Node, wanted: bool = True) -> Iterable[tuple[Leaf, bool]]:
    """Yield each leaf, and whether it is wanted; False for what is excluded."""
    if isinstance(node, Not):
        yield from leaves(node.node, not wanted)
    elif isinstance(node, AllOf | AnyOf):
        for part in node.nodes:
            yield from leaves(part, wanted)
    else:
        yield node, wanted


def _time(day: str) -> float:
    """When a day begins."""
    return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()


# What reads the value of a field; no node where it is something else.

_HOST = re.compile(r"[\w.:\[\]-]+", re.ASCII).fullmatch
_CHANGED = re.compile(
    r"(?:[<>]=?)?DAY|DAY\.\.DAY|[0-9]{1,5}[hd]".replace("DAY", r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
)
_LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9-]+)?", re.ASCII)
_PORT = re.compile(r":[0-9]+$")


def host_and_path(text: str) -> tuple[str, str]:
    """Split the value of `site:`, which may be a URL."""
    host, *path = re.split(r"[/?#\\]", text.rpartition("://")[2], maxsplit=1)
    return host, "".join(path)


def _site(text: str) -> list[Node]:
    authority = host_and_path(text)[0].rpartition("@")[2].removeprefix("*").lstrip(".")
    port = _PORT.search(authority)
    try:
        host = host_and_port(server(resolve(f"http://{authority}/")))[0].rstrip(".")
    except UnfetchableUrl:
        return []
    host = f"[{host}]" if ":" in host else host
    return [Site(host + (port[0] if port else ""))] if _HOST(host) else []


def _link(text: str) -> list[Node]:
    """Read a URL: two where it has no scheme."""
    spellings = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    try:
        return [Link(canonical(spelling)) for spelling in spellings]
    except UnfetchableUrl:
        return []


def _changed(text: str) -> list[Node]:
    node = Changed(text.lower())
    with suppress(ValueError):  # there is no such day
        if _CHANGED.fullmatch(node.spelled) and node.times(0.0):
            return [node]
    return []


def _day(text: str) -> str:
    """Return the first day of a month or a year."""
    return f"{text}{'-01-01'[3 * text.count('-') :]}"


def _language(text: str) -> list[Node]:
    """Read the code of a language; a country behind it does not count."""
    code = _LANGUAGE.fullmatch(text.lower())
    return [Lang(code[1])] if code else []


def _state(text: str) -> list[Node]:
    return [Is(text.lower())] if text.lower() in ("crawled", "uncrawled") else []


# By field, with what it needs
RESTRICTIONS: Mapping[str, tuple[Callable[[str], list[Node]], str]] = {
    "site": (_site, "a host, such as site:example.org"),
    "link": (_link, "a URL, such as link:http://example.org/"),
    "changed": (_changed, "days, such as changed:7d or changed:>2026-11-01"),
    "after": (lambda day: _changed(f">={_day(day)}"), "a day, a month or a year, such as after:2026-11-01"),
    "before": (lambda day: _changed(f"<{_day(day)}"), "a day, a month or a year, such as before:2026-11-01"),
    "lang": (_language, "the code of a language, such as lang:de"),
    "is": (_state, "crawled or uncrawled"),
}
