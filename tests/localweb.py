"""A small web on loopback that misbehaves on demand, and crawls of it in processes of their own."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import inprocess
from waiting import at_rest

from webcrawler.archive.catalog import Catalog, PastFetch
from webcrawler.connection import connect
from webcrawler.demo import DemoWeb
from webcrawler.frontier import Frontier, inspect, ordering

PROJECT = Path(__file__).parents[1]
WITHOUT_INDEX = json.dumps(
    {
        "pipelines.duplicates.DuplicatesPipeline": 100,
        "pipelines.pages.PagesPipeline": 200,
        "pipelines.linkgraph.LinkGraphPipeline": 300,
    }
)


class Answer(NamedTuple):
    body: bytes | str = ""
    status: int = 200
    headers: dict[str, str] = {}
    kind: str = "text/html"


Route = Answer | Callable[["Site"], Answer | None]  # None: no answer, ever


class Received(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: str


_numbers = itertools.count()


def page(*links: str) -> Answer:
    """HTML with these links; no two are duplicates."""
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return Answer(f"<!doctype html><title>Page {next(_numbers)}</title><p>{anchors}</p>")


def redirect(to: str, status: int = 301) -> Answer:
    return Answer(status=status, headers={"Location": to})


def robots(*lines: str, status: int = 200) -> Answer:
    return Answer("\n".join(lines), status, kind="text/plain")


@dataclass(eq=False)
class Site:
    """One server; `asked` is what was requested, in order. What has no route is not found."""

    routes: dict[str, Route] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)  # the same, whole
    host: str = "127.0.0.1"
    port: int = 0  # any that is free
    quit: threading.Event = field(default_factory=threading.Event)
    tls: ssl.SSLContext | None = None
    _answering: threading.local = field(default_factory=threading.local, init=False)

    def start(self) -> Site:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                self.do_GET()

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                request = Received(self.command, self.path, dict(self.headers), body)
                site._answering.request = request
                site.received.append(request)
                site.asked.append(self.path)
                route = site.routes.get(self.path, site.routes.get("*", Answer("gone", 404)))
                answer = route if isinstance(route, Answer) else route(site)
                if answer is None:
                    site.quit.wait(30)
                    return
                content = answer.body.encode() if isinstance(answer.body, str) else answer.body
                self.send_response(answer.status)
                headers = {
                    "Content-Type": answer.kind,
                    "Content-Length": str(len(content)),
                    **answer.headers,
                }
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in self.host else socket.AF_INET

            def handle_error(self, *_: object) -> None:
                pass  # a crawler that hangs up, on purpose

        self.server = Server((self.host, self.port), Handler)
        if self.tls:  # shakes hands in the thread of the connection, as it may take long or fail
            self.server.socket = self.tls.wrap_socket(self.server.socket, True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        self.quit.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.host}:{self.server.server_port}"

    @property
    def request(self) -> Received:
        """What a route answers just now; others may be answered at the same time."""
        request: Received = self._answering.request
        return request

    def times(self, path: str) -> int:
        return self.asked.count(path)

    @property
    def pages(self) -> list[str]:
        """What was asked for but robots.txt."""
        return [path for path in self.asked if path != "/robots.txt"]


@contextmanager
def sites(**routes: dict[str, Route]) -> Iterator[dict[str, Site]]:
    opened = {name: Site(of_site).start() for name, of_site in routes.items()}
    try:
        yield opened
    finally:
        for site in opened.values():
            site.stop()


def share_demo_web(web: DemoWeb, folder: Path) -> Path:
    """That data folder, whose crawls share this demo web: its ports are nobody else's meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "demo.json").write_text(json.dumps({"ports": web.ports}))
    return folder


def environment(folder: Path, **variables: object) -> dict[str, str]:
    """That of this process without what would change a crawl; it is no nicer than other programs."""
    changing = ("REDIS_URL", "SCRAPY_SETTINGS_MODULE")
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and k not in changing}
    tests = str(Path(__file__).parent)
    return {
        **kept,
        "CRAWL_DIR": str(folder),
        "CRAWL_NICE": "0",
        "PYTHONPATH": tests,
        **{k: str(v) for k, v in variables.items()},
    }


def scrapy(*arguments: str, folder: Path, **variables: object) -> subprocess.Popen[str]:
    """Any of our commands, started in the project folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=PROJECT,
        env=environment(folder, **variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass(eq=False)
class Crawled:
    """What a crawl has left behind."""

    folder: Path
    status: int
    log: str

    @cached_property
    def _catalog(self) -> Catalog:
        return Catalog(self.folder / "catalog.sqlite", readonly=True)

    def fetch(self, url: str) -> PastFetch:
        found = self._catalog.fetches.last(url)
        assert found is not None, f"{url} was not fetched\n{self.log}"
        return found

    def reason(self, url: str) -> str:
        fetch = self.fetch(url)
        return f"{fetch.state}/{fetch.reason}"

    def documents(self) -> set[str]:
        numbers = [number for number, _ in self._catalog.urls.all()]
        return {document.url for document in self._catalog.documents(numbers).values()}

    def edges(self) -> Counter[tuple[str, str, str]]:
        urls = dict(self._catalog.urls.all())
        return Counter((urls[link.source], urls[link.target], link.rel) for link in self._catalog.links.all())

    @cached_property
    def frontier(self) -> dict[str, Any]:
        """Its table of states, and its politeness by server."""
        with connect(None, self.folder) as connection:
            frontier = Frontier(connection.client, ordering("fifo"))
            servers = {
                key.decode().partition("}:server:")[2]: {
                    name.decode(): float(value) for name, value in connection.client.hgetall(key).items()
                }
                for key in connection.client.scan_iter(match="*}:server:*")
            }
            return {"states": inspect.stats(frontier), "servers": servers}


def crawl(
    folder: Path,
    *arguments: str,
    seconds: float = 240.0,
    variables: Mapping[str, object] | None = None,
    process: str = "",
    **settings: object,
) -> Crawled:
    """A crawl of loopback to its end, without pauses, index and ranker unless told otherwise.

    It runs in this process, unless it has agents or a reason for one of its own: `process="is killed"`.
    """
    settings = {
        "ADDRESSES_ALLOWED": "127.0.0.1/32",
        "FRONTIER_DELAY": 0,
        "FRONTIER_BACKOFF": 0.05,
        "ITEM_PIPELINES": WITHOUT_INDEX,
        "PARSER_WORKERS": 1,
        "RANKER_ENABLED": "no",
        **settings,
    }
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    if not (process or any("agents=" in argument for argument in arguments)):
        words = ("crawl", *options, *arguments)
        ended = inprocess.command(*words, folder=folder, variables=variables or {})
        return Crawled(folder, ended.status, ended.err)
    started = scrapy("crawl", *options, *arguments, folder=folder, **(variables or {}))
    try:
        _, log = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        started.kill()
        log = started.communicate()[1]
        connect(None, folder).close()  # the last user stops the server that a kill leaves
        raise AssertionError(f"it does not end:\n{log}") from None
    return Crawled(folder, started.returncode, log)


def copy_at_rest(folder: Path, to: Path) -> Path:
    """A copy of what a crawl has left, made when no process beside it is at work or about to begin."""
    return Path(shutil.copytree(at_rest(folder), to))
