"""`SHARE_URL` and `webcrawler export --to`: what a search keeps goes to a main index on another machine."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from conftest import Run
from live import served
from localweb import Answer, Site, crawl, page, redirect, sites
from test_import_command import Kept
from test_rebuild_command import WITH_INDEX
from test_serve_command import serving
from test_shared_finds import TOKEN, packed, settings_of, taking
from waiting import until

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, TooLarge, Unavailable, WebcrawlerError
from webcrawler.index import follower
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal
from webcrawler.repository import MainIndex, hand_over, importing, receive, share_finds
from webcrawler.repository.export import HandedOver
from webcrawler.web import make_app

COUNTS = json.dumps({"fetches": 0, "documents": 0, "known": 0, "left_out": {}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve documents, as a crawl leaves them."""
    folder = tmp_path / "finds"
    pages = [Kept(f"/{n}", f"<title>Quokka {n}</title><p>{'quokka ' * n}".encode()) for n in range(12)]
    receive(folder, packed(folder, *pages), settings_of(folder))
    return folder


@contextmanager
def main_index(folder: Path, token: str = TOKEN) -> Iterator[MainIndex]:
    with served(make_app(taking(folder))) as (host, port):
        yield MainIndex(f"http://{host}:{port}/", token)


def urls(folder: Path) -> set[str]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        known = dict(catalog.urls.all())
        return {known[number] for number in catalog.documents(list(known))}


def send(folder: Path, index: MainIndex) -> HandedOver:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        numbers = list(catalog.documents(range(1, 100)))
        return hand_over(folder, numbers, catalog, index, lambda step, done, total: None)


# ---- what is sent


@pytest.mark.slow
def test_documents_handed_over_are_there_and_known_the_second_time(folder: Path, tmp_path: Path) -> None:
    with main_index(tmp_path / "main") as index:
        first, again = send(folder, index), send(folder, index)

    assert first == HandedOver(12, 0, taken=12, known=0, left_out={})
    assert again == HandedOver(12, 0, taken=0, known=12, left_out={})
    assert urls(tmp_path / "main") == urls(folder)


@pytest.mark.parametrize(
    ("most", "taken", "left_out"),
    [pytest.param(4, 12, {}, marks=pytest.mark.slow), (1, 0, {"too-large": 12})],
)
def test_what_is_too_much_at_a_time_is_sent_in_parts_and_left_out_if_it_is_too_large_alone(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    taken: int,
    left_out: dict[str, int],
) -> None:
    monkeypatch.setattr(importing, "MOST_RECORDS", most)  # one of them is about the file

    with main_index(tmp_path / "main") as index:
        assert send(folder, index) == HandedOver(12, 0, taken=taken, known=0, left_out=left_out)


# ---- what goes wrong


def test_a_wrong_token_is_said(folder: Path, tmp_path: Path) -> None:
    with (
        main_index(tmp_path / "main", "another-token-of-theirs") as index,
        pytest.raises(WebcrawlerError, match="401: that needs the token"),
    ):
        send(folder, index)


@pytest.mark.parametrize(
    ("answer", "error", "line"),
    [
        (Answer("<h1>Welcome"), WebcrawlerError, "is no main index"),
        (Answer('{"documents": "many"}'), WebcrawlerError, "is no main index"),
        (Answer("[]"), WebcrawlerError, "is no main index"),
        (Answer("<h1>Nothing here", 404), WebcrawlerError, "answered 404: Not Found"),
        (Answer('{"error": "a\\nb"}', 422), WebcrawlerError, "answered 422: a b"),
        (Answer('{"error": ["a"]}', 500), WebcrawlerError, "answered 500"),
        (Answer("", 413), TooLarge, "answered 413"),
        (Answer("x" * 100_000), WebcrawlerError, "is no main index"),
        (Answer("[" * 60_000), WebcrawlerError, "is no main index"),
        (Answer("{", 500, {"Content-Length": "9"}), WebcrawlerError, "answered 500"),
    ],
)
def test_an_answer_of_another_kind_is_one_line(answer: Answer, error: type[Exception], line: str) -> None:
    with sites(main={"*": answer}) as web, pytest.raises(error, match=line) as raised:
        MainIndex(web["main"].url, TOKEN).take(b"")

    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_other_server_gets_the_token_by_a_redirect(status: int) -> None:
    with sites(other={}, main={}) as web:
        web["main"].routes["*"] = redirect(f"{web['other'].url}/api/pages", status)

        with pytest.raises(WebcrawlerError, match=f"answered {status}"):
            MainIndex(web["main"].url, TOKEN).take(b"")

    assert not web["other"].asked


def test_the_proxy_of_the_environment_is_for_crawls(monkeypatch: pytest.MonkeyPatch) -> None:
    with sites(proxy={}, main={"*": Answer(COUNTS)}) as web:
        monkeypatch.setenv("http_proxy", web["proxy"].url)

        MainIndex(web["main"].url, TOKEN).take(b"")

    assert not web["proxy"].asked


def test_an_index_that_is_busy_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[HandedOver.__module__], "PAUSE_SECONDS", 0.0)
    busy = Answer('{"error": "later"}', 503)
    answers = iter([busy, Answer("", 429), Answer(COUNTS)])
    with sites(main={"*": lambda site: next(answers)}) as web:
        assert MainIndex(web["main"].url, TOKEN).take(b"")["taken"] == 0
        assert web["main"].times("/api/pages") == 3

        monkeypatch.setattr(sys.modules[HandedOver.__module__], "PATIENCE_SECONDS", -1.0)
        web["main"].routes["*"] = busy
        with pytest.raises(Unavailable, match="503: later"):
            MainIndex(web["main"].url, TOKEN).take(b"")


def test_an_index_that_is_away_loses_nothing_and_visitors_do_not_learn_where_it_is(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = urls(folder)

    told = share_finds(folder, MainIndex("http://127.0.0.1:1", TOKEN), 0.0, before)

    assert "the log says why" in told and "127.0.0.1" not in told
    assert "127.0.0.1:1 does not answer: " in caplog.text
    assert "later: webcrawler export --to http://127.0.0.1:1 --since 1970-01-01T00:00:00\n" in caplog.text
    assert urls(folder) == before


def test_a_search_does_not_wait_for_an_index_that_is_slow(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys.modules[HandedOver.__module__], "SEARCH_SECONDS", 0.0)

    share_finds(folder, MainIndex("http://127.0.0.1:1", TOKEN), 0.0, urls(folder))

    assert "takes too long" in caplog.text


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("search.example.org", TOKEN),
        ("ftp://search.example.org", TOKEN),
        ("https://", TOKEN),
        ("https://[", TOKEN),
        ("https://search.example.org:port", TOKEN),
        ("https://user:password@search.example.org", TOKEN),
        ("https://search.example.org", ""),
    ],
)
def test_a_url_or_token_that_cannot_be_is_said_at_once(url: str, token: str) -> None:
    with pytest.raises(BadInput) as raised:
        MainIndex(url, token)

    assert "password" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/ü", f"http://{'a' * 64}.test", "http://127.0.0.1:1/a b"])
def test_a_url_that_leads_nowhere_is_a_fault_of_the_index(url: str) -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        MainIndex(url, TOKEN).take(b"")


# ---- the token


@pytest.mark.parametrize("command", [("serve",), ("export", "--to", "http://127.0.0.1:1")])
@pytest.mark.parametrize(
    "token", ["short", "with a space in it, too", "with\nLines: in-the-header", "ä" * 20]
)
def test_a_token_that_anybody_guesses_or_no_header_takes_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path, command: tuple[str, ...], token: str
) -> None:
    monkeypatch.setattr("webcrawler.settings.SERVE_PAGES_TOKEN", token)
    monkeypatch.setattr("webcrawler.settings.SHARE_TOKEN", token)

    status, _, said = run(*command, folder=folder)

    assert (status, said.count("\n")) == (2, 1)
    assert "TOKEN is not valid" in said and token not in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "-s", f"SERVE_PAGES_TOKEN={TOKEN}"),
        ("export", "--to", "http://127.0.0.1:1", "-s", f"SHARE_TOKEN={TOKEN}"),
    ],
)
def test_a_token_on_the_command_line_is_refused(run: Run, folder: Path, arguments: tuple[str, ...]) -> None:
    status, _, said = run(*arguments, folder=folder)

    assert status == 2
    assert "is for the environment" in said and TOKEN not in said


# ---- two machines


@pytest.fixture
def web() -> Iterator[Site]:
    routes = {
        "/": page("/quokka", "/zither"),
        "/quokka": Answer("<title>Quokka</title><p>quokka quokka <a href=/more>more</a>"),
        "/more": Answer("<title>Another quokka</title><p>quokka"),
        "/zither": Answer("<title>Zither</title><p>strings"),
    }
    with sites(site=routes) as opened:
        yield opened["site"]


def search(folder: Path, web: Site, url: str) -> tuple[Journal, str]:
    """Its journal, and what it logs."""
    words = ("query=quokka", f"seeds={web.url}/", "strategy=breadth", "job=test")
    arguments = [part for word in words for part in ("-a", word)]
    variables = {"SHARE_URL": url, "SHARE_TOKEN": TOKEN}
    done = crawl(folder, "realtime", *arguments, variables=variables, ITEM_PIPELINES=WITH_INDEX)
    assert done.status == 0, done.log
    found = journal.read(folder, "test")
    assert found is not None
    return found, done.log


@pytest.mark.slow
def test_what_a_search_keeps_is_found_in_the_main_index(
    tmp_path: Path, web: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVE_PAGES_TOKEN", TOKEN)
    monkeypatch.setenv("ADDRESSES_ALLOWED", "127.0.0.0/8")
    main, finds = tmp_path / "main", tmp_path / "finds"
    with serving(main) as (_, url):
        found, _ = search(finds, web, url)
        views = (main / "index", main / "ranks" / "ranks.bin", main / "vocabulary")
        until(lambda: all(view.exists() for view in views), "all that a search needs")
        follower.wait_until_caught_up(main)
        answer = httpx.get(f"{url}/api/search?q=quokka").json()

    assert (found["reason"], found["kept"]) == ("nothing_left", 2)
    assert found["note"] == "the main index took 2 of 2 pages, and knew 0"
    assert {hit["url"] for hit in answer["hits"]} == {f"{web.url}/quokka", f"{web.url}/more"}
    assert urls(main) == {f"{web.url}/quokka", f"{web.url}/more"}


@pytest.mark.slow
def test_what_could_not_be_handed_over_is_sent_by_the_command_that_the_search_names(
    tmp_path: Path, web: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, finds, away = tmp_path / "main", tmp_path / "finds", "http://127.0.0.1:1"
    monkeypatch.setattr("webcrawler.settings.SHARE_TOKEN", TOKEN)

    _, log = search(finds, web, away)
    line = log.split("later: ")[1].splitlines()[0]
    with served(make_app(taking(main, ADDRESSES_ALLOWED="127.0.0.0/8"))) as (host, port):
        _, *command = shlex.split(line.replace(away, f"http://{host}:{port}"))
        status, out, said = run(*command, "--json", folder=finds)

    assert status == 0, said
    assert json.loads(out) == {"documents": 2, "missing": 0, "taken": 2, "known": 0, "left_out": {}}
    assert urls(main) == urls(finds) == {f"{web.url}/quokka", f"{web.url}/more"}


@pytest.mark.parametrize(("url", "token"), [("search.example.org", TOKEN), ("http://127.0.0.1:1", "")])
def test_a_search_that_cannot_share_says_so_before_it_begins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, token: str
) -> None:
    monkeypatch.setattr("webcrawler.settings.SHARE_TOKEN", token)

    told = run("crawl", "realtime", "-a", "query=quokka", "-s", f"SHARE_URL={url}")

    assert (told.status, told.err.count("\n")) == (2, 1)
    assert not (tmp_path / "crawl").exists()
