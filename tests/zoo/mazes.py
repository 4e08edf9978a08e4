"""Sites with 120 pages to find, among pages without end that a program makes up at each visit.

A maze is drawn from a seed, and answers by host and path, so that it can be served as an HTTP proxy.
"""

from __future__ import annotations

import calendar
import random
from functools import cached_property
from hashlib import blake2b
from urllib.parse import parse_qsl, urlsplit

PAGES = 120
NEIGHBOURS = 6  # honest sites beside it
NEIGHBOUR_PAGES = 150
FACETS = {
    "colour": ("red", "blue", "green"),
    "size": ("s", "m", "l"),
    "brand": ("acme", "zeta", "omni"),
    "price": ("low", "high"),
    "sort": ("name", "date"),
    "view": ("grid", "list"),
}
MONTHS = [*calendar.month_name][1:]
DAYS = [*calendar.day_name]
KINDS = ("host", "prefix", "session", "facet", "missing", "sentence", "calendar")


class Maze:
    """One site on hosts of one domain, and its honest neighbours.

    Attributes:
        domain: the registrable one.
        pages: what there is to find, by URL: title, text and the pages that it links to.
        neighbours: the same for the sites beside it.
    """

    def __init__(self, seed: int, neighbours: int = NEIGHBOURS) -> None:
        self.seed, self.domain = seed, f"maze{seed}.test"
        self._draw = random.Random(f"maze {seed}")
        self._visits = 0
        self.pages = self._site([f"http://www.{self.domain}"] * 4 + self._hosts(), PAGES)
        self.neighbours: dict[str, tuple[str, str, list[str]]] = {}
        for n in range(neighbours):
            self.neighbours |= self._site([f"http://www.calm{n}.test"], NEIGHBOUR_PAGES)
        # What each trap says on every page; short are a calendar's, and those of missing pages of some seeds.
        self._texts = {kind: self._words(self._draw.randint(400, 900)) for kind in KINDS}
        self._has_short_missing = seed % 2 == 1
        self._session_in_path = seed % 3 == 0

    @property
    def seeds(self) -> list[str]:
        return [f"http://www.{self.domain}/", *(url for url in self.neighbours if url.endswith(".test/"))]

    def answer(self, url: str) -> str:
        """The HTML that a URL is answered with, always 200."""
        self._visits += 1
        visit = random.Random(f"{self.seed} {url} {self._visits}")
        if found := self.neighbours.get(url):
            return _html(*found)
        if found := self.pages.get(url):
            title, text, links = found
            traps = [self._link(visit.choice(KINDS), url, visit) for _ in range(6)]
            return _html(title, text, [*links, *traps])
        return self._trap(url, visit)

    def _hosts(self) -> list[str]:
        return [f"http://{name}.{self.domain}" for name in ("docs", "blog")]

    def _site(self, hosts: list[str], number: int) -> dict[str, tuple[str, str, list[str]]]:
        """A tree of pages below the first, with links to parent, children and the next one."""
        sections = [self._word() for _ in range(5)]
        shapes = [
            lambda n: f"/{self._draw.choice(sections)}/{self._word()}-{self._word()}",
            lambda n: f"/{self._draw.choice(sections)}/{n}",
            lambda n: f"/item?id={n}",
            lambda n: f"/{self._word()}.html",
            lambda n: f"/20{n % 20:02}/{n % 12 + 1:02}/{self._word()}",
        ]
        urls = [f"{hosts[0]}/"]
        while len(urls) < number:
            url = self._draw.choice(hosts) + self._draw.choice(shapes)(len(urls))
            urls += [url] if url not in urls else []
        found = {}
        for n, url in enumerate(urls):
            near = {3 * n + 1, 3 * n + 2, 3 * n + 3, (n - 1) // 3, n + 1} - {n, -1}
            text = self._words(self._draw.randint(60, 400))
            found[url] = (self._words(3), text, [urls[m] for m in sorted(near) if m < number])
        return found

    @cached_property
    def _vocabulary(self) -> list[str]:
        draw = random.Random(f"words {self.seed}")
        syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il")]
        return ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(3000)]

    def _word(self) -> str:
        return self._draw.choice(self._vocabulary)

    def _words(self, number: int, draw: random.Random | None = None) -> str:
        return " ".join((draw or self._draw).choices(self._vocabulary, k=number))

    def _link(self, kind: str, url: str, visit: random.Random) -> str:
        """Where a trap leads from a page, another place at each visit."""
        www = f"http://www.{self.domain}"
        one, two = visit.choices(self._vocabulary, k=2)
        match kind:
            case "host":
                return f"http://{one}{visit.randint(1, 99)}.{self.domain}/"
            case "prefix":
                return f"{www}/{one}/{two}/view"
            case "session":
                parts, session = urlsplit(url), visit.randbytes(8).hex()
                if self._session_in_path:
                    return f"{www}/~{session}{parts.path}"
                return f"{www}{parts.path}?visit={session}"
            case "facet":
                chosen = visit.sample(list(FACETS), visit.randint(1, 5))
                asked = [f"{name}={visit.choice(FACETS[name])}" for name in chosen]
                return f"{www}/shop?{'&'.join(asked)}&page={visit.randint(1, 9)}"
            case "missing":
                return f"{www}/{one}-{visit.randint(1, 9999)}.html"
            case "sentence":
                return f"{www}/press/{one}-{two}"
        day = (visit.randint(1990, 2090), visit.randint(1, 12), visit.randint(1, 28))
        return f"{www}/calendar/" + "/".join(f"{part:02}" for part in day[: visit.randint(2, 3)])

    def _trap(self, url: str, visit: random.Random) -> str:
        """A page of a trap: links of its own kind, of others, and two that lead back to what there is."""
        host, path = urlsplit(url).netloc, urlsplit(url).path
        kind = self._kind(url)
        links = [self._link(kind, url, visit) for _ in range(5)]
        links += [self._link(visit.choice(KINDS), url, visit) for _ in range(3)]
        links += visit.sample(list(self.pages), 2)
        if kind == "host":
            links.append(f"http://{host}/offers")
        if kind == "session":
            return _html("session", self._visited(url), links)
        if kind == "calendar":
            return _html(path, self._day(path), links)
        if kind == "missing" and self._has_short_missing:
            return _html("Not found", f"Sorry, {path} is not here any more. Try the search.", links)
        own = random.Random(url)
        sentence = f"{dict(parse_qsl(urlsplit(url).query))} {self._words(4, own)}"
        return _html(kind, f"{self._texts[kind]} {sentence}", links)

    def _kind(self, url: str) -> str:
        parts = urlsplit(url)
        if parts.hostname not in {urlsplit(page).hostname for page in self.pages}:
            return "host"
        if "visit=" in parts.query or parts.path.startswith("/~"):
            return "session"
        named = {"shop": "facet", "press": "sentence", "calendar": "calendar"}
        if kind := named.get(parts.path.split("/")[1]):
            return kind
        return "prefix" if parts.path.endswith("/view") else "missing"

    def _visited(self, url: str) -> str:
        """A session shows a page that there is, or one of these, with its own number in it."""
        parts = urlsplit(url)
        path = parts.path.partition("/")[2].partition("/")[2] if self._session_in_path else parts.path[1:]
        same = [text for page, (_, text, _) in self.pages.items() if urlsplit(page).path == f"/{path}"]
        digest = blake2b(url.encode(), digest_size=4).hexdigest()
        return f"{same[0] if same else self._texts['session']} visit {digest}"

    def _day(self, path: str) -> str:
        numbers = [int(part) for part in path.split("/") if part.isdigit()]
        year, month, *day = numbers if len(numbers) > 1 else (2000, 1)
        name = DAYS[sum(numbers) % 7]
        when = f"{name}, {day[0]} {MONTHS[month - 1]} {year}" if day else f"{MONTHS[month - 1]} {year}"
        return f"{when}. Nothing is planned. Next month, last month, today."


def _html(title: str, text: str, links: list[str]) -> str:
    anchors = " ".join(f'<a href="{link.replace("&", "&amp;")}">more</a>' for link in links)
    return f"<!doctype html><title>{title}</title><p>{text}</p><p>{anchors}</p>"
