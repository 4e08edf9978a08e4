"""What was asked for? The arguments of a crawl, checked before anything is opened."""

from __future__ import annotations

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlencode

from webcrawler import urls
from webcrawler.errors import BadInput, BadUrl
from webcrawler.orderings import number, ordering, whole_number
from webcrawler.records import Lease, Link
from webcrawler.scope import ALL, expand, is_in_domains

MOST = 10**12 - 1  # pages
AGENTS_MAX = 64
REFRESH = ("no", "once", "yes", "only")


@dataclass(frozen=True, slots=True)
class Job:
    """One run of an index crawl."""

    mode: str = ""  # with its arguments: "hot?query=gene&then=backlink"; "": as the frontier has it
    seeds: tuple[str, ...] = ()  # as they are fetched
    max_pages: int | None = None  # documents of this run
    max_time: float | None = None  # seconds
    domains: tuple[str, ...] = ()  # hosts and their subdomains, kept with the data folder; empty: as they are
    query: str = ""  # what the mode looks for
    then: str = ""  # the mode within the queues of a mode
    sitemaps: tuple[str, ...] = ()  # and feeds, whose URLs are added; as they are fetched
    refresh: str = "no"  # which documents are checked: no, once, yes, only
    include: tuple[str, ...] = ()  # canonical patterns of URLs, kept with the data folder; empty: as they are
    exclude: tuple[str, ...] = ()
    agents: int = 1  # processes

    resumed = False  # is it a search that goes on with the frontier of one that was killed?
    is_search: ClassVar[bool] = (
        False  # a real-time search: fetches nothing that the catalog has, small batches
    )

    @classmethod
    def read(cls, **given: str | None) -> Job:
        """Reads the arguments of a command line, whose help has these lines; `_…` are Scrapyd's.

        Args:
            mode: the order: breadth, fifo, backlink, pagerank, blend, hot, adaptive … (at first breadth)
            query: words that the mode looks for
            then: the order within the queues of hot and hot-anchor (fifo)
            seeds: URL,URL or @FILE with one URL a line
            sitemaps: sitemaps and feeds whose URLs are added, in the same form
            max_pages: the most documents that this run fetches
            max_time: the most seconds that it takes
            domains: a.org,b.org: only these hosts and those below them; kept with the folder, * lifts it
            include: PATTERN,PATTERN or @FILE: only URLs that are like one of these; kept, too, * lifts it
            exclude: URLs that are left out, in the same form
            refresh: which documents are checked: no, once, yes, only (no)
            agents: how many processes work on it (1)
        Raises:
            BadInput: one line says what to write instead.
        """
        words = {name: value for name, value in given.items() if value and not name.startswith("_")}
        unknown = words.keys() - cls.__slots__
        if unknown:
            raise BadInput(
                f"no such argument: {', '.join(sorted(unknown))}; there are {', '.join(cls.__slots__)}"
            )
        mode = _mode(words)
        ordering(mode or "breadth")
        max_pages = max_time = None
        if text := words.get("max_pages"):
            max_pages = whole_number("max_pages", text, 1, MOST, "of at least 1")
        if text := words.get("max_time"):
            max_time = number("max_time", text, lambda seconds: 0 < seconds < inf, "of seconds above 0")
        return cls(
            mode,
            read_seeds(words.get("seeds", "")),
            max_pages,
            max_time,
            read_domains(words.get("domains", "")),
            words.get("query", ""),
            words.get("then", ""),
            read_seeds(words.get("sitemaps", "")),
            _refresh(words.get("refresh", "no")),
            read_patterns(words.get("include", "")),
            read_patterns(words.get("exclude", "")),
            whole_number("agents", words.get("agents", "1"), 1, AGENTS_MAX),
        )

    @property
    def frontier(self) -> str:
        """The name of its frontier."""
        return "index"

    @property
    def marks_finds(self) -> str:
        """The search of the web in whose name documents are marked as finds; "": they are there for all."""
        return ""

    def of_originals(self, mirrors: urls.Mirrors) -> Self:
        """The same job, with what seeds and sitemaps in a mirror are copies of."""
        seeds, sitemaps = (tuple(map(mirrors.original, some)) for some in (self.seeds, self.sitemaps))
        return replace(self, seeds=seeds, sitemaps=sitemaps)

    def check_protocols(self, named: Collection[str]) -> None:
        """Check the seeds against PROTOCOLS.

        Raises:
            BadInput: one needs a protocol that is not named.
        """
        for seed in (*self.seeds, *self.sitemaps):
            if (protocol := seed.partition(":")[0]) not in named:
                raise BadInput(f"{seed} is not fetched: set PROTOCOLS={','.join(sorted({*named, protocol}))}")

    def admits(self, server: str) -> bool:
        """Is this server within `domains`?"""
        return ALL in self.domains or is_in_domains(server, self.domains)


def read_seeds(text: str) -> tuple[str, ...]:
    """Seeds from `URL,URL` or `@file` (one URL a line, `#` comments).

    Raises:
        BadInput: the file is missing, there is no seed, or one is no URL.
    """
    return tuple(_seed(seed, where) for seed, where in _parts(text, "URL"))  # none: the demo web is crawled


def read_patterns(text: str) -> tuple[str, ...]:
    """Canonical patterns of URLs from `PATTERN,PATTERN` or `@file` (one a line, `#` comments).

    Raises:
        BadInput: the file is missing, there is no pattern, or one is wrong.
    """
    found: dict[str, None] = {}
    for pattern, where in _parts(text, "pattern"):
        try:
            found |= dict.fromkeys(expand(pattern))
        except BadInput as error:
            raise BadInput(f"{error}{where}") from None
    return tuple(found)


def read_domains(text: str) -> tuple[str, ...]:
    """Hosts from `example.org,example.com`.

    Raises:
        BadInput: one is not a host.
    """
    return tuple(_domain(part.strip()) for part in text.split(",") if part.strip())


def seed_link(seed: str) -> Link:
    """A seed as the frontier takes it in."""
    target = urls.outlink(seed, seed)
    return Link(target.url, target.id, target.spelling)


def sitemap_link(url: str, of: str = "") -> Link:
    """A sitemap or a feed as the frontier takes it in: a URL that is fetched for what it names.

    Args:
        of: the server whose robots.txt names it, or names the index that does; "": a person names it.
    """
    target = urls.outlink(url, url, rel="sitemap")
    request = {"kind": "sitemap", "of": of} if of else {"kind": "sitemap"}
    found = Link(target.url, target.id, target.spelling, rel="sitemap", refused=target.refused)
    return found._replace(request=json.dumps(request))


def is_sitemap(lease: Lease) -> bool:
    """Is it fetched for what it names, as `sitemap_link` asks?"""
    return bool(lease.request) and json.loads(lease.request).get("kind") == "sitemap"


def _parts(text: str, what: str) -> list[tuple[str, str]]:
    """What stands between the commas of a text, or on its lines, or on those of `@file`; each with where."""
    if text.startswith("@"):
        parts = _lines(Path(text[1:]), what)
    else:
        parts = [(part.strip(), "") for part in text.split("\n" if "\n" in text else ",") if part.strip()]
    if text and not parts:
        raise BadInput(
            f"there is no {what} in {text[:200]!r}: write {what},{what} or @FILE, with one {what} a line"
        )
    return parts


def _lines(file: Path, what: str) -> list[tuple[str, str]]:
    try:
        content = file.read_bytes()
        is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))  # of PowerShell and Notepad
        text = content.decode("utf-16" if is_wide else "utf-8-sig")
        if "\0" in text:
            raise ValueError("it is in no encoding that is read; save it as UTF-8")
        lines = text.splitlines()
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot read {what}s from {file}: {error}; write @FILE, with one {what} a line"
        ) from None
    if lines and lines[0].startswith("<"):
        raise BadInput(f"{file} has neither one {what} a line nor bookmarks: let your browser export them")
    stripped = (
        (line.strip().split(" #")[0].strip(), f" (line {n} of {file})") for n, line in enumerate(lines, 1)
    )
    return [(line, where) for line, where in stripped if line and not line.startswith("#")]


def _seed(seed: str, where: str) -> str:
    try:
        return urls.resolve(seed.partition("\t")[0])  # behind it stands what other programs know of a URL
    except BadUrl:
        raise BadInput(f"{seed[:200]!r}{where} is not a URL; write http://host/path or https://…") from None


def _domain(text: str) -> str:
    host = text if text == ALL else text.removeprefix("*.").strip(".")
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    try:
        found = urls.host_and_port(urls.server(urls.canonical(f"http://{host}/")))
    except BadUrl:
        found = ("", 0)
    if text != ALL and (set(host) & set("/;*#?\\ @") or found[1] != 80 or not found[0]):
        raise BadInput(f"the domain {text[:200]!r} is not a host: write -a domains=example.org,example.com")
    return text if text == ALL else found[0]


def _refresh(text: str) -> str:
    if text not in REFRESH:
        raise BadInput(f"refresh={text[:60]!r} is not valid: choose one of {', '.join(REFRESH)}")
    return text


def _mode(words: Mapping[str, str]) -> str:
    mode = words.get("mode", "")
    for name in ("mode", "query", "then"):
        if not words.get(name, "").isprintable():  # bytes that are no UTF-8, too
            raise BadInput(f"{name} has characters that cannot be printed: write it in plain text")
    arguments = urlencode({name: words[name] for name in ("query", "then") if name in words})
    if arguments and not mode:
        raise BadInput(
            "query and then belong to a mode that looks for words: add -a mode=adaptive, hot, anchor …"
        )
    return f"{mode}{'&' if '?' in mode else '?'}{arguments}" if arguments else mode
