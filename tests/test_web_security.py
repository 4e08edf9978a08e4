"""What holds for every answer of the query server, whoever asks and however (reliability.md, W1-W10)."""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from searched import entry, publish
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message
from test_shared_finds import TOKEN

from webcrawler.errors import BadInput
from webcrawler.repository import Imported
from webcrawler.web import Config, make_app, render
from webcrawler.web.app import middleware
from webcrawler.web.hosts import client_of, host_of, known_hosts
from webcrawler.web.metrics import Metrics
from webcrawler.web.render import HANDLERS
from webcrawler.web.security import (
    HEADERS,
    MAX_BODY_BYTES,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    MAX_UPLOAD_BYTES,
    MAX_URL_BYTES,
)
from webcrawler.web.status import Overviews

PAGES = [("http://a.test/1", "Molecular biology", "Genes and proteins of molecular biology")]
DOCS = "docs/explanation/search-security.md"
ADDRESS = "203.0.113.9"
HERE = "http://127.0.0.1:8000"
OURS = {"127.0.0.1", "localhost", "[::1]"}
# Every route, errors among them
PATHS = """/ /search /search?q=biology /search?q=biology&page=1000000000 /explain?q=biology&number=1 /explain
    /explain?q=biology&number=99 /cached?number=1 /cached /suggest?q=mol /opensearch.xml
    /api/search?q=biology /api/search /api/suggest?q=mol /api/explain?q=biology&number=1
    /live /live/none /live/none/stop /api/live /api/live/none /api/live/none/stop
    /status/pages /status/pages?state=noindex /status/pages?state=x
    /status /status?refresh=5 /status?refresh=x /api/status /healthz /metrics /judge /nowhere
    /static/nothing.css /static/../app.py
    /static/ /favicon.ico /robots.txt //evil.test/ /%2e%2e/ /search/"""


def visitor(config: Config, base: str = HERE, **more: Any) -> TestClient:
    return TestClient(make_app(config), base, follow_redirects=False, **more)


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, map(entry, PAGES))
    return folder


@pytest.fixture(scope="module")
def client(crawl_dir: Path) -> Iterator[TestClient]:
    config = Config(crawl_dir, feedback=True, deadline_seconds=60)
    with visitor(config, client=("127.0.0.1", 50_000)) as client:  # who may do most
        yield client


@pytest.fixture(scope="module")
def hasty(crawl_dir: Path) -> Iterator[TestClient]:
    """With the deadline that visitors have."""
    with visitor(Config(crawl_dir)) as client:
        yield client


# ---- headers (W7)


@pytest.mark.parametrize("path", PATHS.split())
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT"])
def test_every_answer_is_sealed(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, HERE + path)

    assert answer.status_code < 500
    for name, value in HEADERS.items():
        assert answer.headers.get_list(name) == [value] or name == "Content-Security-Policy"
    (policy,) = answer.headers.get_list("Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy and "*" not in policy
    for needed in ("base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'", "style-src 'self'"):
        assert needed in policy
    assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path", ["/", "/search?q=biology&explain=1", "/live", "/status", "/cached?number=1", "/nowhere"]
)
def test_no_page_has_inline_script_or_style(client: TestClient, path: str) -> None:
    text = client.get(path).text.lower()

    assert "style=" not in text and "<style" not in text and "javascript:" not in text
    assert text.count("<script") == text.count("<script src=")
    assert not any(f" on{event}=" in text for event in ("click", "load", "error", "input", "submit", "focus"))


def half(request: Request) -> Response:
    async def body() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("a secret")

    return StreamingResponse(body())


async def reading(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


def small_app(tmp_path: Path, search: Callable[[Request], Any] = reading, **more: Any) -> Starlette:
    config = Config(tmp_path, feedback=True, **more)
    routes = [
        Route("/half", half),
        Route("/search", search),
        Route("/healthz", reading),
        Route("/judge", reading, methods=["POST"]),
        Route("/live", reading, methods=["POST"]),
    ]
    guards = middleware(config, Metrics(config, Overviews(config)))
    app = Starlette(routes=routes, middleware=guards, exception_handlers=HANDLERS)
    app.state.config = config
    return app


def small_client(tmp_path: Path, **more: Any) -> TestClient:
    return TestClient(small_app(tmp_path, **more), HERE, client=(ADDRESS, 1))


def test_half_an_answer_does_not_pass_for_a_whole_one(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        small_client(tmp_path).get("/half")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/judge", ""),
        ("/live", ""),
        ("/live", "multipart/form-data; boundary=x"),
        ("/api/live", "application/json"),
        ("/api/pages", "application/warc"),
    ],
)
def test_client_that_leaves_before_its_body_has_come_is_no_fault_to_be_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str, kind: str
) -> None:
    async def leave() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    def take_in(*_: object) -> Imported:
        raise AssertionError("nothing has come")

    sent: list[Message] = []
    app = make_app(Config(tmp_path, feedback=True, pages_token=TOKEN, take_in=take_in))
    headers = {"Host": "127.0.0.1", "Content-Type": kind, "Authorization": f"Bearer {TOKEN}"}
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "client": ("127.0.0.1", 1)}
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    asyncio.run(app(scope | {"headers": raw}, leave, send))

    assert [one["status"] for one in sent if "status" in one] == [400]
    assert caplog.messages == []


class Full(socket.socket):
    """Where a process has no descriptor left for a connection."""

    tried: asyncio.Event

    def accept(self) -> Any:
        self.tried.set()
        raise OSError(errno.EMFILE, "Too many open files")


def test_lack_of_descriptors_is_logged_once_and_other_faults_as_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """asyncio tells of it for each connection that may wait."""

    async def serve() -> None:
        app, loop = make_app(Config(tmp_path)), asyncio.get_running_loop()
        with Full() as bound, socket.socket() as client:
            bound.tried = asyncio.Event()
            bound.bind(("127.0.0.1", 0))
            async with app.router.lifespan_context(app):
                await loop.create_server(asyncio.Protocol, sock=bound, backlog=50)
                client.setblocking(False)
                await loop.sock_connect(client, bound.getsockname())
                await bound.tried.wait()
                loop.call_exception_handler({"message": "Exception in callback Loop._start_serving()"})
                loop.call_exception_handler({"message": "another fault"})

    asyncio.run(serve())

    first, second = caplog.messages
    assert "no more connections are taken now: [Errno 24] Too many open files" in first
    assert second == "another fault"


# ---- what cannot be (W3, W5)


@pytest.mark.parametrize(
    "path",
    [
        "/search?q=a&page=99999999999999999999999999",
        "/search?q=a&limit=0",
        "/search?q=a&ranking=../../etc/passwd",
        "/cached?number=%ff",
        "/explain?q=a&number=-1",
        "/status?refresh=-5",
        "/%00",
        "/static/%00.css",
        "/search%0d%0aSet-Cookie:%20a=b?q=a",
    ],
)
def test_what_cannot_be_is_asked_wrongly(client: TestClient, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "query",
    [
        "(" * 900,
        "NOT " * 400,
        "a* OR b* OR c*",
        '"' * 999,
        "[a TO z]",
        "* *",
        "a~99999 b",
        "-a -b",
        "\u202e\ufeff",
        "🦊" * 400,
        *("content:secret", "path:/etc", "_stored:*", "number:1", "title:(((", "site:", "link:javascript:1"),
    ],
)
def test_any_query_is_answered(hasty: TestClient, query: str) -> None:
    for path in ("/search", "/api/search", "/suggest", "/api/suggest"):
        answer = hasty.get(path, params={"q": query})

        assert answer.status_code in (200, 400)
        assert "Traceback" not in answer.text and "/webcrawler/" not in answer.text


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"]
)
@pytest.mark.parametrize("path", ["/", "/search?q=a", "/status", "/static/x", "/nowhere"])
def test_everything_but_judging_and_searching_the_web_is_read_only(
    client: TestClient, method: str, path: str
) -> None:
    answer = client.request(method, path)

    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_judging_is_posted_only(client: TestClient, crawl_dir: Path) -> None:
    assert client.get("/judge").status_code == 405
    assert client.get("/judge").headers["allow"] == "POST"
    assert visitor(Config(crawl_dir)).post("/judge").status_code == 405  # off by default (W10)


@pytest.mark.parametrize(
    "request_, status",
    [
        ({"url": "/search?q=" + "a" * MAX_URL_BYTES}, 414),
        ({"url": "/" + "a" * MAX_URL_BYTES}, 414),
        ({"headers": {"X-Long": "a" * 100_000}}, 431),
        ({"headers": {"X-Long": "a" * MAX_HEADER_BYTES}}, 431),
        ({"headers": {f"X-{n}": "a" for n in range(MAX_HEADERS)}}, 431),
        ({"method": "POST", "url": "/judge", "content": b"a" * (MAX_BODY_BYTES + 1)}, 413),
        ({"method": "GET", "content": b"a" * (MAX_BODY_BYTES + 1)}, 413),
        ({"method": "POST", "url": "/judge", "headers": {"Content-Length": "-5"}, "content": b""}, 413),
        ({"method": "POST", "url": "/judge", "headers": {"Content-Length": "9" * 5000}, "content": b""}, 413),
        ({"method": "POST", "url": "/judge", "content": b"a" * MAX_BODY_BYTES}, 200),
        ({"method": "POST", "url": "/live", "content": b"a" * MAX_UPLOAD_BYTES}, 200),
        ({"method": "POST", "url": "/live", "content": b"a" * (MAX_UPLOAD_BYTES + 1)}, 413),
        ({"method": "POST", "url": "/live/a/stop", "content": b"a" * (MAX_BODY_BYTES + 1)}, 413),
        ({"method": "POST", "url": "/live/a/b/stop", "content": b""}, 405),
        ({"url": "/search?q=" + "🦊" * 2000}, 200),  # the longest query
    ],
)
def test_size_is_bounded(tmp_path: Path, request_: dict[str, Any], status: int) -> None:
    answer = small_client(tmp_path).request(**{"method": "GET", "url": "/search", **request_})

    assert answer.status_code == status
    assert "Content-Security-Policy" in answer.headers


def test_programs_are_refused_in_json(client: TestClient) -> None:
    for answer in (client.post("/api/search"), client.get("/suggest?q=" + "a" * MAX_URL_BYTES)):
        assert answer.status_code in (405, 414)
        assert list(answer.json()) == ["error"]


# ---- whose name? (W8: DNS rebinding, Host in links)


@pytest.mark.parametrize(
    "host, status",
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8000", 200),
        ("localhost:8000", 200),
        ("LOCALHOST", 200),
        ("localhost.", 200),
        ("[::1]:8000", 200),
        ("search.test", 200),
        ("search.test:443", 200),
        ("evil.test", 421),
        ("127.0.0.1.evil.test", 421),
        ("169.254.169.254", 421),
        ("0.0.0.0:8000", 421),
        ("", 400),
        ("127.0.0.1@evil.test", 400),
        ("evil.test/127.0.0.1", 400),
        ("127.0.0.1 evil.test", 400),
        ("[::1", 400),
        ("a" * 300, 400),
        ("localhost:99999999", 400),
        ("<script>", 400),
    ],
)
def test_bound_to_loopback_only_known_names_are_answered(crawl_dir: Path, host: str, status: int) -> None:
    client = visitor(Config(crawl_dir, hosts=("search.test",)))

    answer = client.get("/", headers={"Host": host})

    assert answer.status_code == status
    assert status == 200 or not host or host not in answer.text  # nor is it told back


@pytest.mark.parametrize(
    "config, known",
    [
        ({}, OURS),
        ({"host": "::1"}, OURS),
        ({"host": "0.0.0.0"}, set()),  # any: who opens it to others may not know its names
        ({"host": "10.0.0.5", "hosts": ("S.test",)}, {*OURS, "s.test", "10.0.0.5"}),
        ({"url": "https://s.test/"}, {*OURS, "s.test"}),
    ],
)
def test_known_hosts(tmp_path: Path, config: dict[str, Any], known: set[str]) -> None:
    assert known_hosts(Config(tmp_path, **config)) == known


@pytest.mark.parametrize("wrong", ["docs.example.org", "*", "null", "ftp://docs.example.org"])
def test_site_that_may_search_here_is_named_with_its_scheme(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(BadInput, match=f"{re.escape(repr(wrong))} names no site; write https://"):
        make_app(Config(tmp_path, origins=(wrong,)))


def test_no_link_is_built_from_the_host(crawl_dir: Path) -> None:
    client = visitor(Config(crawl_dir, host="0.0.0.0"))

    for path in ("/", "/search?q=biology", "/search?q=biology&page=2", "/status", "/nowhere"):
        assert "evil.test" not in client.get(path, headers={"Host": "evil.test"}).text


def test_one_idea_of_a_host(crawl_dir: Path) -> None:
    client = visitor(Config(crawl_dir, hosts=("my_search.test",)))

    answer = client.get("/opensearch.xml", headers={"Host": "my_search.test:8080"})

    assert 'template="http://my_search.test:8080/search' in answer.text


def test_host_of_never_raises() -> None:
    assert [host_of(text) for text in ("", "::", "[", "a:b", "a..b", "ü")] == ["", "", "", "", "a..b", ""]


# ---- who asks? (W8)


@pytest.mark.parametrize(
    "peer, forwarded, client",
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["1.1.1.1"], "203.0.113.9"),  # no proxy of ours: what it says is its own
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["1.1.1.1"], "1.1.1.1"),
        ("127.0.0.1", ["8.8.8.8, 1.1.1.1"], "1.1.1.1"),  # what the client itself wrote does not count
        ("127.0.0.1", ["1.1.1.1, 127.0.0.2"], "1.1.1.1"),  # two proxies of ours
        ("127.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("127.0.0.1", [""], "127.0.0.1"),
    ],
)
def test_who_the_client_is(tmp_path: Path, peer: str, forwarded: list[str], client: str) -> None:
    async def name(request: Request) -> Response:
        return PlainTextResponse(client_of(request))

    web = TestClient(small_app(tmp_path, name), HERE, client=(peer, 1))
    headers = [("X-Forwarded-For", value) for value in forwarded]

    assert web.get("/search", headers=headers).text == client


@pytest.mark.parametrize(
    "config, names",
    [
        ({"hosts": ("https://s.test/",)}, "SERVE_HOSTS"),
        ({"url": "http://["}, "SERVE_URL"),
        ({"url": "search.example.org"}, "SERVE_URL"),
        ({"url": "ftp://search.example.org/"}, "SERVE_URL"),
        ({"url": "http://a:b@c.test/", "host": "0.0.0.0"}, "SERVE_URL"),
    ],
)
def test_setting_that_cannot_be_understood_is_refused_at_the_start(
    tmp_path: Path, config: dict[str, Any], names: str
) -> None:
    with pytest.raises(BadInput, match=names):
        make_app(Config(tmp_path, **config))


# ---- what changes under it (W9), and leaks (W6)


@pytest.mark.parametrize("kept_bytes", [0, 100])
def test_damaged_index_is_no_500(tmp_path: Path, kept_bytes: int) -> None:
    publish(tmp_path, map(entry, PAGES))
    for file in (tmp_path / "index").iterdir():
        file.write_bytes(file.read_bytes()[:kept_bytes])
    with visitor(Config(tmp_path)) as client:
        for path in ("/search?q=biology", "/api/search?q=biology", "/healthz", "/status"):
            answer = client.get(path)

            assert answer.status_code in (200, 503)
            assert "Traceback" not in answer.text


def make_damaged(folder: Path, files: str, content: bytes) -> None:
    publish(folder, map(entry, PAGES))
    for file in folder.glob(files):
        file.write_bytes(content)


def make_old_catalog(folder: Path) -> None:
    publish(folder, map(entry, PAGES))
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as catalog:
        catalog.execute("PRAGMA user_version = 1")


@pytest.mark.parametrize(
    "make, status",
    [
        (lambda folder: None, 200),
        (Path.mkdir, 200),
        (lambda folder: publish(folder, map(entry, PAGES)), 200),
        (lambda folder: make_damaged(folder, "index/*", b"garbage"), 503),
        (lambda folder: make_damaged(folder, "catalog.sqlite", b"garbage" * 1000), 503),
        (make_old_catalog, 503),
    ],
    ids=["missing", "empty", "good", "broken index", "broken catalog", "old catalog"],
)
def test_paths_of_this_machine_are_not_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, make: Callable[[Path], None], status: int
) -> None:
    folder = tmp_path / "a-secret-place"
    make(folder)
    was_there = folder.exists()
    with visitor(Config(folder, deadline_seconds=60)) as client:
        answers = {path: client.get(HERE + path) for path in PATHS.split()}

    for path, answer in answers.items():
        assert answer.status_code != 500, path
        assert "secret-place" not in answer.text and "catalog.sqlite" not in answer.text, path
    for path in ("/search?q=biology", "/api/search?q=biology", "/healthz"):
        assert answers[path].status_code == status
    logged = [record.getMessage() for record in caplog.records]
    assert folder.exists() == was_there  # looking makes nothing
    assert len(logged) == len(set(logged))  # once, however many ask
    assert any(str(folder) in line for line in logged) == (status == 503)


def test_a_fault_is_logged_again_when_a_minute_has_passed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    logged_at = []
    for now in (59.9, 60.1, 119.8, 119.9, 120.0, 179.8, 179.9):
        monkeypatch.setattr(render, "time", SimpleNamespace(monotonic=lambda now=now: now))
        caplog.clear()
        render.log_fault("the disk is full")
        logged_at += [now] * len(caplog.records)

    assert logged_at == [59.9, 119.9, 179.9]


def test_page_on_security_names_tests_that_are_there() -> None:
    here = Path(__file__).parent
    named = set(re.findall(r"`(test_\w+)(?:\.py)?`", (here.parent / DOCS).read_text("utf-8")))
    there = "".join(path.read_text("utf-8") for path in here.glob("test_*.py"))

    assert len(named) > 10
    assert not [name for name in named if f"def {name}(" not in there and not (here / f"{name}.py").exists()]
