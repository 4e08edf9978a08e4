"""The log of queries and clicks: who is counted, what is kept of them, and for how long."""

from __future__ import annotations

import re
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from searched import entry, publish
from starlette.testclient import TestClient
from waiting import PATIENCE_SECONDS

from webcrawler import usage
from webcrawler.errors import BadInput
from webcrawler.usage import NAME, QueryLog, Shown, figures
from webcrawler.web import Config, make_app
from webcrawler.web.use import MAX_TYPED, Use

HERE = "http://127.0.0.1:8000"
SITE = "https://docs.example.org"
OURS = {"Sec-Fetch-Site": "same-origin"}
FOREIGN = [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.test"}]
TYPED = {"X-Typed": "1"}
PAGES = [(f"http://s{number}.test/", f"Harbour {number}", "pilots steer ships") for number in range(20)]
DAY = 20_000


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, map(entry, PAGES))
    return folder


@pytest.fixture
def web(crawl_dir: Path) -> TestClient:
    """Not begun yet; what it was told is written when it ends."""
    (crawl_dir / NAME).unlink(missing_ok=True)
    return TestClient(make_app(Config(crawl_dir, query_log_days=30, deadline_seconds=60)), HERE)


def pings(web: TestClient, query: str, headers: dict[str, str] | None = None, **more: Any) -> list[str]:
    """The addresses that are told when a hit's title is opened."""
    page = web.get("/search", params={"q": query, **more}, headers=headers)
    assert page.status_code == 200
    return [link.get("ping", "") for link in lxml_html.fromstring(page.text).cssselect(".hit h2 a")]


def logged(crawl_dir: Path) -> dict[str, Any]:
    return figures(crawl_dir, 10)


def shown(number: int, day: int = DAY, query: str = "dna", *urls: str, start: int = 0) -> Shown:
    return Shown(number, day, query, len(urls), start, True, urls)


# What is logged of the search page


def test_nothing_is_logged_by_default(crawl_dir: Path) -> None:
    (crawl_dir / NAME).unlink(missing_ok=True)
    with TestClient(make_app(Config(crawl_dir, deadline_seconds=60)), HERE) as web:
        page = web.get("/search", params={"q": "harbour"})
        click = web.post("/used?answer=0000000000000001&rank=1", headers=OURS)

    assert "ping=" not in page.text and "logged" not in page.text
    assert click.status_code == 405
    assert not (crawl_dir / NAME).exists()


def test_queries_and_what_was_opened_are_counted(crawl_dir: Path, web: TestClient) -> None:
    with web:
        second = pings(web, "harbour")[1]
        told = [web.post(second, headers=OURS) for _ in range(3)]  # counts once however often it is opened
        pings(web, "Harbour")
        pings(web, "xyzzyplugh")

    found = logged(crawl_dir)
    assert {(one.status_code, one.content) for one in told} == {(204, b"")}
    assert (found["queries"], found["days"]) == (3, 1)
    assert found["asked"][0] == {"query": "Harbour", "times": 2, "clicks": 1}
    assert found["found_nothing"] == [{"query": "xyzzyplugh", "times": 1, "clicks": 0}]
    assert found["ranks"][1] == {"rank": 2, "shown": 2, "clicks": 1}
    assert found["clicked"] == found["nothing_found"] == pytest.approx(1 / 3)


def test_further_result_pages_are_no_further_queries(crawl_dir: Path, web: TestClient) -> None:
    with web:
        pings(web, "harbour", limit=5)
        web.post(pings(web, "harbour", limit=5, page=2)[0], headers=OURS)

    found = logged(crawl_dir)
    assert found["queries"] == 1
    assert found["ranks"][5] == {"rank": 6, "shown": 1, "clicks": 1}


@pytest.mark.parametrize("header", ["DNT: 1", "Sec-GPC: 1", "Sec-Purpose: prefetch"])
def test_who_does_not_want_to_be_counted_is_not_nor_are_programs(
    crawl_dir: Path, web: TestClient, header: str
) -> None:
    with web:
        assert set(pings(web, "harbour", dict([header.split(": ")]))) == {""}
        web.get("/api/search", params={"q": "harbour"})

    assert logged(crawl_dir)["queries"] == 0


def test_what_is_found_while_one_types_counts_once_it_was_looked_at_or_opened(
    crawl_dir: Path, web: TestClient
) -> None:
    with web:
        pings(web, "harb", TYPED)
        page = web.get("/search", params={"q": "harbour"}, headers=TYPED)
        (answer,) = re.findall(r'data-typed="(\w+)"', page.text)
        web.post(f"/used?answer={answer}", headers=OURS)
        web.post(pings(web, "pilots", TYPED)[0], headers=OURS)

    found = logged(crawl_dir)
    assert {one["query"]: one["clicks"] for one in found["asked"]} == {"harbour": 0, "pilots": 1}


def test_what_was_typed_and_left_is_forgotten(crawl_dir: Path, web: TestClient) -> None:
    with web:
        used = web.app.state.use  # type: ignore[attr-defined]
        used._typed.update((number, shown(number)) for number in range(MAX_TYPED))
        pings(web, "harbour", TYPED)

    assert len(used._typed) == MAX_TYPED and 0 not in used._typed


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_another_sites_page_reports_nothing(
    crawl_dir: Path, web: TestClient, headers: dict[str, str]
) -> None:
    with web:
        told = web.post(pings(web, "harbour")[0], headers=headers)

    assert told.status_code == 403
    assert logged(crawl_dir)["ranks"][0]["clicks"] == 0


@pytest.mark.parametrize(
    "headers, told",
    [({"Origin": SITE, "Sec-Fetch-Site": "cross-site"}, 204), *((headers, 403) for headers in FOREIGN)],
    ids=str,
)
def test_box_in_a_page_of_an_allowed_site_counts_as_the_page_does(
    crawl_dir: Path, headers: dict[str, str], told: int
) -> None:
    (crawl_dir / NAME).unlink(missing_ok=True)
    config = Config(crawl_dir, query_log_days=30, origins=(SITE,), deadline_seconds=60)
    with TestClient(make_app(config), HERE) as web:
        for query in ("harb", "harbour"):
            answer = web.get("/api/search", params={"q": query, "typed": 1}).json()["answer"]
        said = web.post(f"/used?answer={answer}&rank=2", headers=headers)

    assert said.status_code == told
    assert said.headers.get("access-control-allow-origin") == (SITE if told == 204 else None)
    assert logged(crawl_dir)["asked"] == [{"query": "harbour", "times": 1, "clicks": 1}] * (told == 204)


NO_ANSWERS = ["", "?answer=1", "?answer=000000000000000g&rank=1", "?answer=0000000000000001&rank=x"]


@pytest.mark.parametrize("parameters", NO_ANSWERS)
def test_what_no_page_of_ours_sends_is_refused(web: TestClient, parameters: str) -> None:
    with web:
        assert web.post(f"/used{parameters}", headers=OURS).status_code == 400


def test_an_unknown_page_or_rank_counts_for_nothing(crawl_dir: Path, web: TestClient) -> None:
    with web:
        first = pings(web, "harbour")[0]
        assert web.post(first.replace("rank=1", "rank=99"), headers=OURS).status_code == 204
        assert web.post("/used?answer=0000000000000001&rank=1", headers=OURS).status_code == 204

    assert sum(one["clicks"] for one in logged(crawl_dir)["ranks"]) == 0


def test_a_report_can_only_be_posted_and_leads_nowhere(web: TestClient) -> None:
    with web:
        assert web.get("/used?answer=0000000000000001").status_code == 405
        told = web.post("/used?answer=0000000000000001&rank=1&url=http://evil.test/", headers=OURS)
    assert told.status_code == 204 and "location" not in told.headers


def test_the_page_says_that_it_is_logged(web: TestClient) -> None:
    with web:
        footer = lxml_html.fromstring(web.get("/").text).cssselect("footer")[0].text_content()
    assert "Queries and the results that are opened are logged for 30 days, without who asked." in footer


def test_nothing_in_the_file_tells_who_asked_or_when(crawl_dir: Path, web: TestClient) -> None:
    with web:
        web.get("/search", params={"q": "harbour"}, headers={"User-Agent": "Mosaic/1.0", "Cookie": "a=b"})

    content = (crawl_dir / NAME).read_bytes()
    assert not any(told in content for told in (b"127.0.0.1", b"testclient", b"Mosaic", b"a=b"))
    with closing(sqlite3.connect(crawl_dir / NAME)) as db:
        columns = [one[1] for one in db.execute("PRAGMA table_info (answers)")]
    assert columns == ["id", "day", "query", "total", "start", "plain"]
    assert stat.S_IMODE((crawl_dir / NAME).stat().st_mode) == 0o600


def test_searching_goes_on_where_the_log_cannot_be_written(
    web: TestClient, crawl_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (crawl_dir / NAME).mkdir()
    try:
        with web:
            assert len(pings(web, "harbour")) == 15
    finally:
        (crawl_dir / NAME).rmdir()

    assert [line for line in caplog.messages if "queries are not logged" in line]


# The file


@pytest.fixture
def open_log(tmp_path: Path) -> Iterator[Callable[[int], QueryLog]]:
    with ExitStack() as stack:
        yield lambda days: stack.enter_context(closing(QueryLog(tmp_path / NAME, days)))


def test_days_that_are_over_are_deleted_with_their_pages(tmp_path: Path, open_log: Any) -> None:
    log = open_log(2)
    log.write([shown(1, DAY, "old", "http://old.test/")], [], DAY)
    log.write([shown(2, DAY + 1, "new", "http://new.test/")], [], DAY + 1)

    log.write([], [], DAY + 2)

    assert [one["query"] for one in logged(tmp_path)["asked"]] == ["new"]
    assert b"http://old.test/" not in (tmp_path / NAME).read_bytes()


def test_a_day_takes_no_more_than_its_share(
    tmp_path: Path, open_log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "MOST", 10)
    kept = open_log(2)

    kept.write([shown(number, DAY) for number in range(4)], [], DAY)
    kept.write([shown(number, DAY) for number in range(4, 100)], [], DAY)
    kept.write([shown(100, DAY + 1)], [], DAY + 1)

    assert [one["queries"] for one in logged(tmp_path)["by_day"]] == [5, 1]


def test_with_many_waiting_new_ones_are_dropped_and_nobody_waits(
    crawl_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webcrawler.web.use.MAX_WAITING", 3)
    kept, begun, ends = Use(Config(crawl_dir, query_log_days=1)), threading.Event(), threading.Event()
    monkeypatch.setattr(kept, "_write", lambda *given: (begun.set(), ends.wait(PATIENCE_SECONDS)))

    for _ in range(10):
        kept.start()
    assert begun.wait(PATIENCE_SECONDS) and kept._thread._work_queue.qsize() == 2
    ends.set()
    kept.close()


urls = st.integers(0, 3).map(lambda hits: tuple(f"http://{n}.test/" for n in range(hits)))
queries = st.sampled_from(["a", "A", "b c"])
answers = st.tuples(st.integers(0, 40), st.integers(DAY - 5, DAY), queries, urls)
clicked = st.tuples(st.integers(0, 40), st.integers(1, 4))


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(answers, max_size=30), st.lists(clicked, max_size=30))
def test_the_figures_are_those_of_a_plain_count(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, clicks: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    some = [shown(number, day, query, *urls) for number, day, query, urls in rows]
    with closing(QueryLog(folder / NAME, 100)) as kept:
        kept.write(some, clicks, DAY)

    found, first = logged(folder), {one.id: one for one in reversed(some)}
    total = len(first) or 1
    opened = {(id, rank) for id, rank in clicks if id in first and rank <= len(first[id].urls)}
    assert found["queries"] == len(first)
    assert sum(one["times"] for one in found["asked"]) == len(first)
    assert sum(one["clicks"] for one in found["asked"]) == len(opened)
    assert found["nothing_found"] * total == pytest.approx(sum(not one.urls for one in first.values()))
    assert found["clicked"] * total == pytest.approx(len({id for id, _ in opened}))
    for one in found["ranks"]:
        assert one["shown"] == sum(len(page.urls) >= one["rank"] for page in first.values())
        assert one["clicks"] == sum(rank == one["rank"] for _, rank in opened)


def test_without_a_log_the_figures_say_how_to_keep_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="QUERY_LOG_DAYS=30"):
        figures(tmp_path, 10)
