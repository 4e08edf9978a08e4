"""What a crawler that keeps to the rules must find: a walk over the answers themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from webcrawler.demo import DemoWeb
from webcrawler.demo.pages import Answer


class Truth(NamedTuple):
    """Canonical URLs within reach of the seeds, by what becomes of them."""

    documents: frozenset[str]  # answered 200 with HTML, copies and noindex pages included
    noindex: frozenset[str]  # those of them that are not to be searched
    copies: frozenset[str]  # those of them with the bytes of another: all but one of each kind are duplicates
    duplicates: int
    redirects: frozenset[str]
    not_found: frozenset[str]
    not_indexable: frozenset[str]  # of another type than HTML
    disallowed: frozenset[str]  # by robots.txt
    unreachable: frozenset[str]  # on a server that does not answer


class _Links(HTMLParser):
    """hrefs of `a` that may be followed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.noindex = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "a" and values.get("rel") != "nofollow":
            self.hrefs.append(values.get("href") or "")
        if tag == "meta" and values.get("name") == "robots":
            self.noindex = values.get("content") == "noindex"


def truth(web: DemoWeb) -> Truth:
    """What a crawl from the seeds must find within robots.txt."""
    return walk(web.seeds, web.answer)


def walk(seeds: list[str], answer: Callable[[str], Answer | None]) -> Truth:
    """Follow all links; `answer` gives None where no server listens."""
    found: dict[str, str] = {}
    bodies: dict[str, list[str]] = {}
    waiting = list(seeds)
    while waiting:
        url = waiting.pop().removesuffix("index.html")
        if url in found:
            continue
        reply = answer(url)
        found[url] = _kind(url, reply, answer)
        if found[url] == "redirect" and reply:
            waiting.append(urljoin(url, reply.location))
        elif found[url] in ("document", "noindex") and reply:
            bodies.setdefault(hashlib.sha1(reply.body).hexdigest(), []).append(url)
            waiting += [urljoin(url, href) for href in _links(reply).hrefs]
    return _truth(found, [urls for urls in bodies.values() if len(urls) > 1])


def _truth(found: dict[str, str], twins: list[list[str]]) -> Truth:
    def of(*kinds: str) -> frozenset[str]:
        return frozenset(url for url, kind in found.items() if kind in kinds)

    return Truth(
        documents=of("document", "noindex"),
        noindex=of("noindex"),
        copies=frozenset(url for urls in twins for url in urls),
        duplicates=sum(len(urls) - 1 for urls in twins),
        redirects=of("redirect"),
        not_found=of("not-found"),
        not_indexable=of("not-indexable"),
        disallowed=of("disallowed"),
        unreachable=of("unreachable"),
    )


def _kind(url: str, reply: Answer | None, answer: Callable[[str], Answer | None]) -> str:
    if reply is None:
        return "unreachable"
    if not _allowed(url, answer(urljoin(url, "/robots.txt"))):
        return "disallowed"
    if reply.location:
        return "redirect"
    if reply.status != 200:
        return "not-found"
    if not reply.content_type.startswith("text/html"):
        return "not-indexable"
    return "noindex" if _links(reply).noindex else "document"


def _allowed(url: str, robots: Answer | None) -> bool:
    rules = RobotFileParser()
    rules.parse(robots.body.decode().splitlines() if robots and robots.status == 200 else [])
    return rules.can_fetch("*", urlsplit(url).path)


def _links(reply: Answer) -> _Links:
    return _Links(reply.body.decode(reply.content_type.partition("charset=")[2]))
