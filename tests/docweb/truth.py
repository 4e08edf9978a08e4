"""What a crawl of docweb must find, worked out from its files and web.json alone.

Nothing of the project's parsing, frontier or robots code is used; `urls.canonical` only names a URL.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from lxml import html

from webcrawler.urls import canonical

from .server import Server

SEED = "http://directory.test/"
PLACES = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Visit:
    """What a fetch of a canonical URL comes to: a state's reason, and where it leads."""

    reason: str
    links: tuple[str, ...] = ()  # canonical URLs in the order of the file; of a redirect its target
    followed: dict[str, str] = field(default_factory=dict)  # those to follow: canonical URL -> as it is spelled
    file: Path | None = None
    noindex: bool = False
    title: str = ""


class Truth:
    """The web as seen from SEED by a polite crawler with PROTOCOLS=http."""

    def __init__(self, folder: Path) -> None:
        self.server = Server(folder)

    @cached_property
    def visits(self) -> dict[str, Visit]:
        """Every URL that such a crawl takes in, and what becomes of it."""
        visits: dict[str, Visit] = {}
        waiting = deque([(SEED, SEED)])
        while waiting:
            url, spelling = waiting.popleft()
            if url not in visits:
                visits[url] = self._visit(url, spelling)
                waiting.extend(visits[url].followed.items())
        return visits

    @cached_property
    def documents(self) -> dict[str, Visit]:
        return {url: visit for url, visit in self.visits.items() if visit.reason == "document"}

    @cached_property
    def twins(self) -> list[frozenset[str]]:
        """Sets of two or more documents with the same bytes."""
        by_digest: dict[bytes, set[str]] = {}
        for url, visit in self.documents.items():
            by_digest.setdefault(sha1(visit.file.read_bytes()).digest(), set()).add(url)
        return [frozenset(urls) for urls in by_digest.values() if len(urls) > 1]

    @property
    def links(self) -> set[tuple[str, str]]:
        return {(url, target) for url, visit in self.documents.items() for target in visit.links}

    @property
    def redirects(self) -> set[tuple[str, str]]:
        found = [(url, visit) for url, visit in self.visits.items() if visit.reason == "redirect"]
        return {(url, target) for url, visit in found for target in visit.links}

    @property
    def reasons(self) -> Counter[str]:
        """As `frontier stats` counts them."""
        reasons = Counter(visit.reason for visit in self.visits.values())
        again = sum(len(twins) - 1 for twins in self.twins)
        reasons.update({"duplicate": again})
        reasons.subtract({"document": again})
        return reasons

    def _visit(self, url: str, spelling: str) -> Visit:
        if _is_special(urlsplit(spelling).hostname or ""):
            return Visit("address-refused")
        allowed = self.server.allowed(spelling)
        if not allowed:
            return Visit("robots-unreachable" if allowed is None else "robots-disallowed")
        answer = self.server.get(spelling)
        if answer.location:
            target = canonical(answer.location)
            if target == url:  # another spelling of the same URL
                return self._visit(url, answer.location)
            return Visit("redirect", (target,), _to_follow({target: answer.location}))
        if answer.is_html:
            return _read(answer.file, spelling)
        return Visit("not-indexable" if answer.file else "not-found")


def _is_special(host: str) -> bool:
    """Through a proxy only what is written is judged: localhost and literal addresses that are not public."""
    try:
        return not ip_address(host.strip("[]")).is_global
    except ValueError:
        return host.split(".")[-1] == "localhost"


def _read(file: Path, url: str) -> Visit:
    page = html.document_fromstring(file.read_bytes(), parser=html.HTMLParser(huge_tree=True))
    bases = [base.get("href") for base in page.iter("base") if base.get("href")]
    robots = {
        word.strip().lower()
        for meta in page.iter("meta")
        if (meta.get("name") or "").lower() == "robots"
        for word in (meta.get("content") or "").split(",")
    }
    base = urljoin(url, bases[0]) if bases else url
    links: dict[str, str] = {}
    followed: dict[str, str] = {}
    for href, nofollow in _hrefs(page):
        spelling = _resolved(base, href)
        if spelling:
            target = canonical(spelling)
            links.setdefault(target, spelling)
            if not nofollow and "nofollow" not in robots:
                followed.setdefault(target, links[target])
    title = page.findtext(".//title") or ""
    return Visit("document", tuple(links), _to_follow(followed), file, "noindex" in robots, " ".join(title.split()))


def _hrefs(page: html.HtmlElement) -> Iterator[tuple[str, bool]]:
    """Each link with its rel=nofollow, in the order of the page."""
    for element in page.iter(*PLACES, "meta"):
        if element.tag in PLACES:
            href = element.get(PLACES[element.tag])
        else:
            refresh = REFRESH.match(element.get("content") or "")
            href = refresh[1] if refresh and (element.get("http-equiv") or "").lower() == "refresh" else None
        if href is not None:
            yield href, "nofollow" in (element.get("rel") or "").lower().split()


def _resolved(base: str, href: str) -> str:
    """The absolute URL without its fragment; "" for what is none of http or https, or malformed."""
    try:
        url = urljoin(base, re.sub(r"[\t\r\n]", "", href).strip()).partition("#")[0]
        if not url.lower().startswith(("http://", "https://")):
            return ""
        canonical(url)
    except ValueError:
        return ""
    except Exception as error:  # BadUrl
        if type(error).__name__ == "UnfetchableUrl":
            return ""
        raise
    return url


def _to_follow(links: dict[str, str]) -> dict[str, str]:
    return {url: spelling for url, spelling in links.items() if url.startswith("http://")}
