"""The status page: what it says of a crawl that runs, of one that is over, and where nothing is."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFrontier
from crawled import crawled, fetched, link
from frontiers import fail, lease_one, now_ms
from lxml import html as lxml_html
from searched import entry, publish
from starlette.testclient import TestClient
from waiting import PATIENCE_SECONDS

from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.clock import now
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, Report, ordering, standing
from webcrawler.records import Entry
from webcrawler.search import span
from webcrawler.web import Config, make_app
from webcrawler.web import status as status_page
from webcrawler.web.readable import size
from webcrawler.web.status import NOT_HERE, SILENT, Overviews

NOW = 1_700_003_600.0
ONE = entry(("http://a.test/1", "One", "one"))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(make_app(Config(tmp_path)), "http://localhost") as web:
        yield web


def arrivals(urls: list[str], when: float) -> list[tuple[Entry, None]]:
    return [(entry((url, "", "x"), fetched=when), None) for url in urls]


def arrive(folder: Path, urls: list[str], when: float) -> None:
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        catalog.write(arrivals(urls, when))


def text_of(web: TestClient, path: str = "/status") -> str:
    answer = web.get(path)
    assert answer.status_code == 200
    return " ".join("".join(map(str, lxml_html.fromstring(answer.text).itertext())).split())


# ---- the page


def test_where_nothing_is_it_says_so(web: TestClient) -> None:
    text, found = text_of(web), web.get("/api/status").json()

    assert "nothing was crawled yet" in text
    assert (found["documents"], found["indexed"], found["index_lag"]) == (0, 0, None)


def test_crawl_that_is_over_is_told_from_the_catalog(web: TestClient, tmp_path: Path) -> None:
    publish(tmp_path, [ONE, entry(("http://b.test/2", "Two", "two"))])

    text, found = text_of(web), web.get("/api/status").json()

    assert "No crawl runs" in text and NOT_HERE in text
    assert found["frontier"] is None and found["crawling"] is False
    assert found["documents"] == 2
    assert found["outcomes"] == {"done/document": 2}
    assert (found["indexed"], found["index_lag"]) == (2, 0)
    assert found["sizes"]["catalog"] > 0


def test_index_lag_is_what_the_index_has_not_applied(web: TestClient, tmp_path: Path) -> None:
    publish(tmp_path, [ONE])
    arrive(tmp_path, [f"http://a.test/{n}" for n in range(2, 5)], NOW)

    assert web.get("/api/status").json()["index_lag"] == 3


def test_crawl_is_alive_while_somebody_holds_its_lock(web: TestClient, tmp_path: Path) -> None:
    crawled(tmp_path, fetched("http://a.test/"))
    with hold_crawl(tmp_path):
        found = web.get("/api/status").json()

    assert found["crawling"] is True and "A crawl runs" in found["held_back"]


def test_running_crawl_is_shown_through_its_redis(web: TestClient, tmp_path: Path) -> None:
    """The embedded server of the folder: asked, never started, and not kept up."""
    crawled(tmp_path, fetched("http://a.test/"))
    connection = connect(None, tmp_path)
    with connection, hold_crawl(tmp_path):
        frontier = Frontier(connection.new_client(), ordering("fifo"))
        frontier.open("fifo")
        frontier.discover([link(f"http://{host}.test/{n}") for host in "ab" for n in range(3)])
        leases = frontier.lease(1)
        found, text = web.get("/api/status").json(), text_of(web)

    assert leases.leases and found["frontier"]["stats"]["queued"] == 5
    assert found["frontier"]["stats"]["seen"] == 6
    shown = {row["server"]: row["queued"] + row["leased"] for row in found["frontier"]["servers"]}
    assert shown == {"http://a.test": 3, "http://b.test": 3}
    assert "http://a.test" in text and "http://b.test" in text
    with TestClient(make_app(Config(tmp_path)), "http://localhost") as web:
        assert web.get("/api/status").json()["frontier_unknown"] == NOT_HERE
    assert not (tmp_path / "redis" / "redis.sock").exists()  # nobody started it again


def test_redis_that_hangs_costs_a_moment_and_no_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webcrawler.web.status.REDIS_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with TestClient(make_app(Config(tmp_path, redis_url=url)), "http://localhost") as web:
            found = web.get("/api/status").json()

    assert found["frontier_unknown"] == SILENT


GONE = "http://a.test/gone"


def hrefs(web: TestClient, path: str) -> list[str]:
    return [link.get("href", "") for link in lxml_html.fromstring(web.get(path).text).iter("a")]


@pytest.mark.parametrize("is_crawling", [True, False])
def test_what_is_counted_leads_to_a_list_of_it(web: TestClient, tmp_path: Path, is_crawling: bool) -> None:
    crawled(tmp_path, fetched("http://a.test/", link(GONE)), fetched(GONE, reason="not-found"))
    with connect(None, tmp_path) if is_crawling else nullcontext() as connection:
        if connection:
            frontier = Frontier(connection.new_client(), ordering("fifo"))
            frontier.open("fifo")
            frontier.discover([link(GONE)])
            fail(frontier, lease_one(frontier), "not-found", retry=False)
        lists = [href for href in hrefs(web, "/status") if href.startswith("/status/pages")]

    reason = "not-found" if is_crawling else "failed/not-found"
    assert lists[0] == "/status/pages" and f"/status/pages?state={reason}" in lists
    assert all(web.get(path).status_code == 200 for path in lists)


def test_a_list_shows_why_since_when_and_who_links_there(web: TestClient, tmp_path: Path) -> None:
    crawled(tmp_path, fetched("http://a.test/", link(GONE, "<b>gone")), fetched(GONE, reason="not-found"))

    text = text_of(web, "/status/pages")

    assert "http://a.test/gonenot found (200)1 Jan 1970 http://a.test/ “<b>gone”" in text
    assert "These are the first" not in text
    assert {GONE, "http://a.test/"} <= set(hrefs(web, "/status/pages"))
    assert "There are none." in text_of(web, "/status/pages?state=timeout")


def test_a_long_list_is_cut_and_says_what_prints_all_of_it(
    web: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_page, "LISTED", 2)
    crawled(tmp_path, *(fetched(f"http://a.test/{n}") for n in range(3)))

    text = text_of(web, "/status/pages?state=document")

    assert "http://a.test/1" in text and "http://a.test/2" not in text
    assert "These are the first 2." in text and "webcrawler pages --state document --csv" in text


def test_a_list_that_is_asked_for_while_one_is_made_is_made_later(
    web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ends = threading.Event(), threading.Event()

    def listed(path: Path, state: str) -> list[object]:
        begun.set()
        assert ends.wait(PATIENCE_SECONDS)
        return []

    monkeypatch.setattr(status_page, "_listed", listed)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(web.get, "/status/pages")
        assert begun.wait(PATIENCE_SECONDS)
        second = web.get("/status/pages")
        ends.set()

    assert (second.status_code, second.headers["retry-after"]) == (503, "2")
    assert first.result().status_code == web.get("/status/pages").status_code == 200


def test_what_is_no_state_is_refused_in_one_line(web: TestClient, tmp_path: Path) -> None:
    crawled(tmp_path, fetched("http://a.test/"))

    answer = web.get("/status/pages?state=%3Cb%3E")

    assert answer.status_code == 400
    assert "no state &#39;&lt;b&gt;&#39;: a status such as 404, or one of broken, " in answer.text


def test_page_is_renewed_only_when_asked_to(web: TestClient) -> None:
    assert "http-equiv" not in web.get("/status").text
    assert '<meta http-equiv="refresh" content="5">' in web.get("/status?refresh=5").text


def test_all_who_ask_share_one_look(tmp_path: Path) -> None:
    crawled(tmp_path, fetched("http://a.test/"))
    overviews = Overviews(Config(tmp_path))

    async def ask() -> list[Any]:
        return await asyncio.gather(*(overviews.newest() for _ in range(20)))

    found = asyncio.run(ask())
    overviews.close()

    assert len({id(one) for one in found}) == 1


def test_folder_that_may_only_be_read_is_shown(web: TestClient, tmp_path: Path) -> None:
    publish(tmp_path, [ONE])
    (tmp_path / "crawls.lock").touch()
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".sqlite-shm"]
    before = {path: path.stat().st_mtime_ns for path in files}

    text_of(web)

    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_rate_is_of_the_last_ten_seconds(web: TestClient, tmp_path: Path) -> None:
    assert web.get("/api/status").json()["per_second"] is None
    arrive(tmp_path, [f"http://a.test/{n}" for n in range(30)], now())
    arrive(tmp_path, [f"http://b.test/{n}" for n in range(30)], now() - 60)

    with TestClient(make_app(Config(tmp_path)), "http://localhost") as another:
        assert another.get("/api/status").json()["per_second"] == 3.0


# ---- where a frontier stands


def test_standing_names_the_servers_with_the_most_urls_first(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=1000.0)
    for host, pages in {"a": 5, "b": 3, "c": 1}.items():
        frontier.discover([link(f"http://{host}.test/{n}") for n in range(pages)])
    leased = {lease.server: lease for lease in frontier.lease(3).leases}
    began = now_ms(frontier)
    frontier.fetched([Report(leased["http://a.test"], 0.1)])

    found = standing(frontier, 2)

    rows = [(row.server, row.queued, row.leased, row.downloads, row.answers) for row in found.servers]
    assert rows == [("http://a.test", 4, 1, 0, "in time"), ("http://b.test", 2, 1, 1, "not asked yet")]
    (due, *_) = (row.due_seconds for row in found.servers)
    assert due <= 1000 <= due + (now_ms(frontier) - began) / 1000
    assert found.downloading == 2
    assert found.stats["leased"] == 3
    assert found.due_seconds is not None
    assert found.all_servers


def test_empty_frontier_stands_nowhere(make_frontier: MakeFrontier) -> None:
    found = standing(make_frontier(), 20)

    assert found.ready == found.doubtful == found.waiting == 0
    assert (found.servers, found.due_seconds) == ([], None)


def test_standing_adds_up_over_partitions(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(partitions=4)
    frontier.discover([link(f"http://{host}.test/{n}") for host in "abcdefgh" for n in range(2)])

    found = standing(frontier, 20)

    assert found.ready + found.doubtful + found.waiting == 8
    assert sum(row.queued for row in found.servers) == 16 == found.stats["queued"]


# ---- words


@pytest.mark.parametrize(
    "number, said", [(0, "0 bytes"), (999, "999 bytes"), (1_500, "1.5 kB"), (2.4e8, "240 MB")]
)
def test_sizes_as_people_read_them(number: float, said: str) -> None:
    assert size(number) == said


@pytest.mark.parametrize(
    "seconds, said",
    [(0, "0 s"), (0.04, "0 s"), (0.5, "0.5 s"), (1.2, "1 s"), (59, "59 s"), (60, "1 min"), (90_000, "1 d")],
)
def test_spans_of_time_as_people_read_them(seconds: float, said: str) -> None:
    assert span(seconds) == said
