"""Serves a plan (living.py) as an HTTP proxy: what each host answers on the present day."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlsplit

from webcrawler.clock import now

from .living import KINDS, Kind, Page

DAY_SECONDS = 86400.0
BODY = re.compile(r"<body[^>]*>", re.IGNORECASE)
SORRY = "<!doctype html><title>Sorry</title><body>We could not find what you asked for."
SITEMAP = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


class Answer(NamedTuple):
    status: int
    body: str = ""
    headers: dict[str, str] = {}


class LivingProxy:
    """Serves while it is entered. `day` is the present one; `asked` has (URL, status) of each request."""

    def __init__(self, pages: dict[str, Page]) -> None:
        self.pages, self.day, self.start = pages, 0.0, now()
        self.asked: list[tuple[str, int]] = []
        self._unequal = count()

    def __enter__(self) -> LivingProxy:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, url: str, headers: dict[str, str]) -> Answer:
        parts = urlsplit(url)
        kind = KINDS.get(parts.netloc)
        if kind is None:
            return Answer(502)
        if parts.path == "/robots.txt":
            named = f"Sitemap: http://{parts.netloc}/sitemap.xml\n" if kind.sitemap else ""
            return Answer(200, f"User-agent: *\nDisallow:\n{named}", {"Content-Type": "text/plain"})
        if parts.path == "/sitemap.xml" and kind.sitemap:
            return self._sitemap(parts.netloc, kind)
        status, since, until = kind.down
        if since <= self.day < until:
            return Answer(status, SORRY)
        return self._page(url, kind, headers)

    def _page(self, url: str, kind: Kind, headers: dict[str, str]) -> Answer:
        page = self.pages.get(url)
        if page and page.is_there(self.day):
            return self._document(page, kind, headers)
        if page and self.day >= page.gone:
            return {
                "410": Answer(410, SORRY),
                "301": Answer(301, headers={"Location": f"/moved{page.path}"}),
                "302": Answer(302, headers={"Location": "/login"}),
                "soft 404": Answer(200, SORRY),
            }.get(page.fate, Answer(404, SORRY))
        moved = self.pages.get(url.replace("/moved/", "/"))
        if moved and moved.fate == "301" and self.day >= moved.gone:
            return self._document(moved, kind, headers)
        return Answer(200, "<title>Log in</title>") if url.endswith("/login") else Answer(404, SORRY)

    def _document(self, page: Page, kind: Kind, headers: dict[str, str]) -> Answer:
        given = self._validators(page, kind.validators)
        tag, date = headers.get("If-None-Match"), headers.get("If-Modified-Since")
        is_known = (
            tag == given.get("ETag") if tag else date is not None and date == given.get("Last-Modified")
        )
        if is_known or (kind.validators == "stuck" and (tag or date)):
            return Answer(304, headers=given)
        links = "".join(f'<a href="{path}">{path}</a>\n' for path in page.links_at(self.day))
        noise = f"<!-- {next(self._unequal)} -->" if kind.noise else ""
        said = f"<p>{page.words(self.day)[-1]}</p>\n{links}{noise}"
        return Answer(200, BODY.sub(lambda body: body[0] + said, page.html, count=1), given)

    def _validators(self, page: Page, kind: str) -> dict[str, str]:
        changed = page.last_change(self.day)
        date = {"Last-Modified": self._date(changed)}
        match kind:
            case "etag" | "stuck":
                return {"ETag": f'"{page.number}-{changed:.3f}"', **date}
            case "restless":
                return {"ETag": f'"{next(self._unequal)}"', **date}
            case "now":  # no two within a run are the same
                return {"Last-Modified": self._date(self.day + next(self._unequal) / DAY_SECONDS)}
        return date if kind == "date" else {}

    def _date(self, day: float) -> str:
        return formatdate(self.start + DAY_SECONDS * day, usegmt=True)

    def _sitemap(self, host: str, kind: Kind) -> Answer:
        entries = ""
        for page in self.pages.values():
            if page.host == host and page.is_there(self.day):
                day = {"honest": page.last_change(self.day), "stale": page.modified, "now": self.day}
                stamp = time.gmtime(self.start + DAY_SECONDS * day[kind.sitemap])
                lastmod = time.strftime("%Y-%m-%dT%H:%M:%SZ", stamp)
                entries += f"<url><loc>{page.url}</loc><lastmod>{lastmod}</lastmod></url>"
        return Answer(200, SITEMAP.format(entries), {"Content-Type": "application/xml"})


def _handler(proxy: LivingProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = proxy.answer(self.path, dict(self.headers))
            proxy.asked.append((self.path, answer.status))
            body = answer.body.encode()
            self.send_response(answer.status)
            kind = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
            for name, value in (answer.headers if answer.status == 304 else kind | answer.headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
