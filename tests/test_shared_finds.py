"""Pages that searches of the web have found, handed to a main index on another machine: `POST /api/pages`."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
import pytest
from documented import api_names
from dumped import dumped
from hypothesis import given
from hypothesis import strategies as st
from live import HERE, served
from scrapy.settings import Settings
from starlette.testclient import TestClient
from test_import_command import HTML, Kept, warc
from waiting import PATIENCE_SECONDS

from webcrawler import settings as project
from webcrawler.background import hold_crawl, try_lock
from webcrawler.errors import BadInput, TooLarge
from webcrawler.index import follower
from webcrawler.repository import Imported, importing, rebuild, receive
from webcrawler.scope import Scope, change
from webcrawler.search import Searcher
from webcrawler.web import Config, make_app
from webcrawler.web.security import MAX_WARC_BYTES

TOKEN = "a-token-that-nobody-guesses"
SENT = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/warc"}
QUOKKA = Kept("/quokka", b"<title>Quokka</title><p>a quokka <a href=/more>more</a>")
WOMBAT = Kept("/wombat", b"<title>Wombat</title><p>a wombat")
NOTHING = Imported(0, 0, 0, {}, None)


def settings_of(folder: Path, **changes: object) -> Settings:
    settings = Settings()
    settings.setmodule(project)
    settings.update({"CRAWL_DIR": str(folder), "PARSER_WORKERS": 1, **changes})
    return settings


def taking(folder: Path, **changes: object) -> Config:
    """The configuration of a server that takes pages in."""
    settings = settings_of(folder, **changes)
    take_in = lambda warc, go_on: receive(folder, warc, settings, go_on)  # noqa: E731
    return Config(folder, pages_token=TOKEN, take_in=take_in)


def packed(folder: Path, *records: Kept, **how: Any) -> bytes:
    folder.parent.mkdir(parents=True, exist_ok=True)
    return warc(folder.with_suffix(".warc"), records, **how).read_bytes()


def hand(config: Config, body: bytes, headers: dict[str, str] = SENT) -> httpx.Response:
    with TestClient(make_app(config), HERE) as client:
        return client.post("/api/pages", content=body, headers=headers)


def hits(folder: Path, query: str) -> set[str]:
    follower.wait_until_caught_up(folder)
    return {hit.url for hit in Searcher(folder, deadline_seconds=60).search(query).hits if hit.fetched}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "main"


# ---- what is taken in


def test_pages_are_hits_and_taken_once(folder: Path) -> None:
    body = packed(folder, QUOKKA, WOMBAT)

    first, again = (hand(taking(folder), body) for _ in range(2))

    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == {"fetches": 2, "documents": 2, "known": 0, "left_out": {}}
    assert again.json() == {"fetches": 0, "documents": 0, "known": 2, "left_out": {}}
    assert set(first.json()) == api_names("Received")
    assert hits(folder, "quokka") == {"http://a.test/quokka"}
    assert len(dumped(folder)["fetches"]) == 2


@pytest.mark.slow
def test_pages_are_kept_for_good(folder: Path) -> None:
    hand(taking(folder), packed(folder, QUOKKA, WOMBAT))
    before = dumped(folder)
    assert len(before["documents"]) == 2

    rebuild(folder, settings_of(folder), lambda step, done, total: None)
    assert dumped(folder) == before


LEFT_OUT = {
    "removed": [Kept("/removed", b"<p>")],
    "scope": [Kept("/", b"<p>", server="http://b.test")],
    "address-refused": [
        Kept("/", b"<p>", server=f"http://{host}")
        for host in (
            "127.0.0.1",
            "2130706433",
            "localhost",
            "169.254.169.254",
            "[::ffff:10.0.0.1]",
            "a.test:6379",
        )
    ],
    "location": [Kept("/cgi-bin/vote", b"<p>")],
    "length": [Kept("/" + "x" * 3_000, b"<p>")],
    "scheme": [Kept("/", b"<p>", server="https://a.test")],
    "redirect": [Kept("/moved", status="301 Moved", headers={"Location": "/quokka"})],
    "not-found": [Kept("/wombat", b"gone", "404 Not Found")],
    "not-indexable": [Kept("/image", b"\x89PNG", headers={"Content-Type": "image/png"})],
    "too-large": [Kept("/large", b"<p>" + b"x" * 60_000)],
    "malformed": [
        Kept("/codings", b"<p>", headers={**HTML, "Content-Encoding": "gzip, " * 9}),
        Kept("/members", gzip.compress(b"") * 1_001, headers={**HTML, "Content-Encoding": "gzip"}),
    ],
    "no date of the past": [Kept("/future", b"<p>", date="2999-01-01T00:00:00Z")],
}


def test_documents_within_the_owners_bounds_are_taken_in_and_the_rest_is_counted(folder: Path) -> None:
    folder.mkdir()
    not_b = ("removed", "http://a.test/removed"), ("exclude", "http://b.test/*")
    change(folder, lambda now: Scope(**{name: (url,) for name, url in not_b}))
    config = taking(folder, DOWNLOAD_MAXSIZE=50_000, PROTOCOLS="http")
    ignored = Kept("/", b"<p>", server="file://"), Kept("/", b"", kind="request", status="GET / HTTP/1.1")

    told = hand(config, packed(folder, QUOKKA, *ignored, *chain(*LEFT_OUT.values()))).json()

    assert told["left_out"] == {why: len(records) for why, records in LEFT_OUT.items()}
    assert told["documents"] == 1
    assert {row[0] for row in dumped(folder)["documents"]} == {"http://a.test/quokka"}


def test_networks_that_the_owner_allows_are_taken_in(folder: Path) -> None:
    config = taking(folder, ADDRESSES_ALLOWED="127.0.0.0/8")

    told = hand(config, packed(folder, Kept("/", b"<p>here", server="http://127.0.0.1"))).json()

    assert (told["documents"], told["left_out"]) == (1, {})


def test_pages_are_taken_in_beside_a_crawl_and_not_beside_a_command_that_must_be_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PATIENCE_SECONDS", 0.0)
    folder.mkdir()
    body = packed(folder, QUOKKA)

    with try_lock(folder / "crawls.lock") or pytest.fail("nobody holds it"):
        refused = hand(taking(folder), body)
    with hold_crawl(folder):
        taken = hand(taking(folder), body)

    assert refused.status_code == 503 and int(refused.headers["retry-after"]) > 0
    assert str(folder) not in refused.text
    assert taken.json()["documents"] == 1


# ---- who may


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": b"Bearer \xe4\xff".decode("latin-1")}, 401),
        ({"Authorization": f"bearer  {TOKEN}"}, 415),
        ({**SENT, "Content-Type": "application/json"}, 415),
        ({**SENT, "Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({**SENT, "Content-Encoding": "gzip"}, 415),
        (SENT, 200),
        ({**SENT, "Content-Type": "application/warc; msgtype=response"}, 200),
    ],
)
def test_only_who_has_the_token_may_and_only_with_a_warc_file(
    folder: Path, headers: dict[str, str], status: int
) -> None:
    config = Config(folder, pages_token=TOKEN, take_in=lambda warc, go_on: NOTHING)
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]

    answer = hand(config, b"", headers=raw)  # type: ignore[arg-type]

    assert answer.status_code == status
    assert status == 200 or list(answer.json()) == ["error"]
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert TOKEN not in answer.text


def test_it_is_off_without_a_token(folder: Path) -> None:
    for headers in (SENT, {**SENT, "Authorization": "Bearer "}):
        answer = hand(Config(folder, take_in=lambda warc, go_on: NOTHING), b"", headers)

        assert answer.status_code == 403
        assert "SERVE_PAGES_TOKEN" in answer.json()["error"]


def test_the_token_is_not_shown_with_the_configuration(folder: Path) -> None:
    assert TOKEN not in repr(taking(folder))


# ---- what is too large, or no WARC file

HEADS = b"WARC/1.0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no archive at all",
        b"\x1f\x8b\x08",
        gzip.compress(b""),
        gzip.compress(b"no archive at all"),
        gzip.compress(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n" * 2),
    ],
    ids=["nothing", "text", "cut", "empty member", "text in gzip", "compressed as a whole"],
)
def test_what_is_no_warc_file_is_refused_in_one_line(folder: Path, body: bytes) -> None:
    answer = hand(taking(folder), body)

    assert answer.status_code == 422
    (line,) = answer.json()["error"].splitlines()
    assert "/" not in line.replace("WARC/", "")  # of no file of ours


def test_nothing_is_taken_of_a_body_that_is_cut_short(folder: Path) -> None:
    body = packed(folder, QUOKKA, WOMBAT)

    assert hand(taking(folder), body[:-3]).status_code == 422
    assert not (folder / "catalog.sqlite").exists()


@given(st.binary(), st.integers(0, 400))
def test_any_bytes_are_judged(noise: bytes, place: int) -> None:
    body = gzip.compress(b"a" * 300) + gzip.compress(b"b" * 300)
    for sent in (noise, body[:place] + noise + body[place:]):
        try:
            importing.check_size(sent)
        except BadInput:
            continue
        assert sent.startswith(b"\x1f\x8b")


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(HEADS + b"0" * 2_000_000),
        gzip.compress(HEADS + b"0" * 1_000_000) * 2,
        gzip.compress(b"") * 21,
        gzip.compress(HEADS + b"0" * 3_000_000) + b"no gzip",  # not unpacked to its end
    ],
    ids=["a bomb", "two of half its size", "many records", "a bomb and more"],
)
def test_what_unpacks_to_too_much_is_refused(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MOST_UNPACKED_BYTES", 2_000_000)
    monkeypatch.setattr(importing, "MOST_RECORDS", 20)

    with pytest.raises(TooLarge):
        importing.check_size(body)


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["no end", "no end of the answer's"])
def test_headers_without_an_end_are_refused(end: bytes) -> None:
    with pytest.raises(BadInput, match="headers"):
        importing.check_size(gzip.compress(b"WARC/1.0\r\n" + end + b"a:b\r\n" * 20_000))


def test_pages_that_are_bombs_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MOST_UNPACKED_BYTES", 2_000_000)
    bomb = gzip.compress(b"<p>" + b"0" * 900_000)
    coded = {**HTML, "Content-Encoding": "gzip"}

    one, three = (
        hand(taking(folder), packed(folder, *(Kept(f"/{n}", bomb, headers=coded) for n in range(many))))
        for many in (1, 3)
    )

    assert (one.status_code, three.status_code) == (200, 413)
    assert list(three.json()) == ["error"]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(folder: Path) -> None:
    read: list[bytes] = []
    config = Config(folder, pages_token=TOKEN, take_in=lambda warc, go_on: read.append(warc) or NOTHING)

    declared = hand(config, b"", {**SENT, "Content-Length": str(MAX_WARC_BYTES + 1)})
    with TestClient(make_app(config), HERE) as client:
        pieces = (b"0" * 2**20 for _ in range(MAX_WARC_BYTES // 2**20 + 1))
        counted = client.post("/api/pages", content=pieces, headers=SENT)

    assert (declared.status_code, counted.status_code) == (413, 413)
    assert not read


# ---- one at a time, while others search


def test_one_request_is_taken_in_at_a_time_and_searches_go_on(folder: Path) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def take_in(warc: bytes, go_on: Callable[[], None]) -> Imported:
        begun.set()
        assert may_end.wait(PATIENCE_SECONDS)
        return NOTHING

    answers: list[httpx.Response] = []
    with served(make_app(Config(folder, pages_token=TOKEN, take_in=take_in))) as (host, port):
        url = f"http://{host}:{port}"

        def post() -> None:
            answers.append(httpx.post(f"{url}/api/pages", content=b"", headers=SENT, timeout=60))

        first = threading.Thread(target=post)
        first.start()
        assert begun.wait(PATIENCE_SECONDS)
        post()
        search = httpx.get(f"{url}/api/search?q=quokka", timeout=60)
        may_end.set()
        first.join()

    assert search.status_code == 200
    assert [answer.status_code for answer in answers] == [503, 200]
    assert int(answers[0].headers["retry-after"]) > 0


def test_a_server_that_ends_keeps_what_was_taken_in_and_takes_in_no_more(folder: Path) -> None:
    body = packed(folder, QUOKKA, WOMBAT)
    app = make_app(taking(folder))
    with TestClient(app, HERE) as client:
        app.state.finds._is_ending = True
        answer = client.post("/api/pages", content=body, headers=SENT)

    assert answer.status_code == 503
    assert hand(taking(folder), body).json()["documents"] == 2
