"""A small web on loopback of which all is known: eight servers, 544 URLs, each oddity on each server."""

from __future__ import annotations

import random
import socket
from collections import Counter
from types import TracebackType
from urllib.parse import urlsplit

from truth import Truth, walk

from webcrawler.demo.pages import NOT_FOUND, Answer, page, redirect
from webcrawler.demo.web import HttpThread

SERVERS = 8
PAGES = 36  # of a server, in a tree: page n links to 3n+1, 3n+2, 3n+3
EVERY = 9  # so many pages from one oddity of a kind to the next
WORDS = 60
ROBOTS = Answer(b"User-agent: *\nDisallow: /private/\n", "text/plain; charset=utf-8")
BUSY = Answer(b"<!DOCTYPE html><title>Busy</title>", status=503)


class OddWeb:
    """Serves while it is entered; `asked` counts requests by URL.

    Each `/shy-N` says 503 when it is asked first, so it takes a second try.
    """

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._listeners = [socket.create_server(("127.0.0.1", 0), backlog=256) for _ in range(SERVERS)]
        self._origins = {listener.getsockname()[1]: n for n, listener in enumerate(self._listeners)}
        self.servers = [f"http://127.0.0.1:{port}" for port in self._origins]
        self.seed = self.servers[0] + "/"
        self._pages = [self._site(n) for n in range(SERVERS)]
        self.asked: Counter[str] = Counter()

    def __enter__(self) -> OddWeb:
        self._thread = HttpThread(self._listeners, self._reply)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.stop()

    def truth(self) -> Truth:
        return walk([self.seed], lambda url: self._answer(url))

    def forget(self) -> None:
        """Another crawl begins."""
        self.asked.clear()

    def _answer(self, url: str) -> Answer | None:
        parts = urlsplit(url)
        return self._pages[self._origins[parts.port or 80]].get(parts.path, NOT_FOUND)

    def _reply(self, port: int, path: str) -> Answer:
        url = f"http://127.0.0.1:{port}{path}"
        self.asked[url] += 1
        if path.startswith("/shy-") and self.asked[url] == 1:
            return BUSY
        return self._answer(url) or NOT_FOUND

    def _site(self, server: int) -> dict[str, Answer]:
        pages = {"/robots.txt": ROBOTS}
        for number in range(PAGES):
            path = f"/page-{number}" if number else "/"
            links = [f"/page-{n}" for n in range(3 * number + 1, 3 * number + 4) if n < PAGES]
            links += (
                [f"{self.servers[(server + 1) % SERVERS]}/page-{number}"]
                if number
                else [f"{url}/" for url in self.servers]
            )
            odd = self._oddities(server, number, path) if number % EVERY == 1 else {}
            pages[path] = self._page(f"Page {number} of {server}", [*links, *odd])
            pages.update(odd)
            if odd:
                pages[f"/copy-{number}"] = pages[path]
        return pages

    def _oddities(self, server: int, number: int, path: str) -> dict[str, Answer]:
        """What a page with oddities links to beside others; its copy is made of it afterwards."""
        noindex = '<meta name="robots" content="noindex">'
        return {
            f"/copy-{number}": NOT_FOUND,
            f"/moved-{number}": redirect(f"/hidden-{number}", 301),
            f"/hidden-{number}": self._page(f"Hidden {number} of {server}", [path]),
            f"/private/{number}": self._page("Private", []),
            f"/gone-{number}": NOT_FOUND,
            f"/data-{number}": Answer(b'{"a": 1}', "application/json"),
            f"/noindex-{number}": self._page(f"Unsearched {number} of {server}", [path], noindex),
            f"/shy-{number}": self._page(f"Shy {number} of {server}", [path]),
        }

    def _page(self, title: str, links: list[str], head: str = "") -> Answer:
        words = " ".join(f"w{self._chance.randrange(5000):x}" for _ in range(WORDS))
        items = "".join(f'<li><a href="{to}">{to}</a></li>\n' for to in links)
        return page(f"<h1>{title}</h1>\n<p>{words}</p>\n<ul>\n{items}</ul>", title, head)
