"""What a crawl of docweb must find, worked out from its files and web.json alone.

Nothing of the project's parsing, frontier or robots code is used; `urls.canonical` only names a URL.
"""

from collections import Counter, deque
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from webcrawler.urls import canonical

from .files import File
from .server import Server

SEED = "http://directory.test/"

Edge = tuple[str, str]


@dataclass(frozen=True)
class Visit:
    """What the fetch of a URL comes to."""

    reason: str  # as in the table of states
    links: tuple[str, ...] = ()  # canonical URLs in the order of the file; of a redirect its target
    followed: tuple[tuple[str, str], ...] = ()  # (canonical URL, as spelled) of those to follow
    title: str = ""
    digest: bytes = b""
    noindex: bool = False


class Truth:
    """The web of a docweb folder as seen from SEED by a polite crawler with PROTOCOLS=http.

    Args:
        skipped: endings of file names that are not fetched.
    """

    def __init__(self, folder: Path, skipped: frozenset[str] = frozenset()) -> None:
        self.server, self._skipped = Server(folder), skipped

    @cached_property
    def visits(self) -> dict[str, Visit]:
        """Every URL that such a crawl takes in, by canonical URL, and what becomes of it."""
        visits: dict[str, Visit] = {}
        waiting = deque([(SEED, SEED)])
        while waiting:
            url, spelling = waiting.popleft()
            if url not in visits:
                visits[url] = self._visit(url, spelling)
                waiting.extend(visits[url].followed)
        return visits

    @cached_property
    def documents(self) -> dict[str, Visit]:
        return {url: visit for url, visit in self.visits.items() if visit.reason == "document"}

    @cached_property
    def twins(self) -> list[set[str]]:
        """Sets of two or more documents with the same bytes."""
        by_digest: dict[bytes, set[str]] = {}
        for url, visit in self.documents.items():
            by_digest.setdefault(visit.digest, set()).add(url)
        return [urls for urls in by_digest.values() if len(urls) > 1]

    @cached_property
    def links(self) -> set[Edge]:
        return {(url, target) for url, visit in self.documents.items() for target in visit.links}

    @cached_property
    def redirects(self) -> set[Edge]:
        found = {url: visit for url, visit in self.visits.items() if visit.reason == "redirect"}
        return {(url, target) for url, visit in found.items() for target in visit.links}

    @property
    def reasons(self) -> Counter[str]:
        """How many URLs come to what; the later ones of equal bytes are duplicates."""
        reasons = Counter(visit.reason for visit in self.visits.values())
        again = sum(len(urls) - 1 for urls in self.twins)
        return reasons + Counter(duplicate=again) - Counter(document=again)

    def _visit(self, url: str, spelling: str) -> Visit:
        if _is_special(urlsplit(spelling).hostname or ""):
            return Visit("address-refused")
        allowed = self.server.allowed(spelling)
        if not allowed:
            return Visit("robots-unreachable" if allowed is None else "robots-disallowed")
        answer = self.server.get(spelling)
        if answer.location:
            return self._redirect(url, answer.location)
        if answer.is_html:
            return self._document(File(answer.file.read_bytes(), spelling))
        return Visit("not-indexable" if answer.status == 200 else "not-found")

    def _redirect(self, url: str, location: str) -> Visit:
        target = canonical(location)
        if target == url:  # the same URL in another spelling
            return self._visit(url, location)
        return Visit("redirect", (target,), self._to_follow([(target, location)]))

    def _document(self, file: File) -> Visit:
        followed = [(url, spelling) for url, (spelling, follow) in file.links.items() if follow]
        digest = sha1(file.content).digest()
        noindex = "noindex" in file.robots
        return Visit("document", tuple(file.links), self._to_follow(followed), file.title, digest, noindex)

    def _to_follow(self, links: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple(
            link for link in links if link[0].startswith("http://") and not self._is_skipped(link[0])
        )

    def _is_skipped(self, url: str) -> bool:
        path = urlsplit(url).path
        name = path.rpartition("/")[2]
        ending = name.rpartition(".")[2].lower() if "." in name.lstrip(".") else ""
        return "/cgi-bin/" in path or ending in self._skipped


def _is_special(host: str) -> bool:
    """Through a proxy only what is written is judged: localhost, and literal addresses not public."""
    try:
        return not ip_address(host.strip("[]")).is_global
    except ValueError:
        return host.rpartition(".")[2] == "localhost"
