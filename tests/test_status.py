"""The status page: what it says of a crawl that runs, of one that is over, and where nothing is."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import replace
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
from webcrawler.background import Views, hold_crawl
from webcrawler.clock import now
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, Report, ordering, standing
from webcrawler.records import Entry
from webcrawler.search import span
from webcrawler.web import Config, make_app
from webcrawler.web.readable import size
from webcrawler.web.status import overview
from webcrawler.web.status import page as status_page
from webcrawler.web.status.overview import BIN_SECONDS, NOT_HERE, SILENT, Activity, Overviews, Rates, rates
from webcrawler.web.status.page import round_up

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


def test_freshness_is_told_by_estimate_and_by_audit(
    web: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "FIRST_SECONDS", 240.0)  # on a busy machine it takes more than a second
    pages = [("http://a.test/1", "One", "one"), ("http://b.test/2", "Two", "two")]
    publish(tmp_path, [entry(row, fetched=now() - 90 * 86_400) for row in pages])
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        again = entry(pages[0], fetched=now())
        lease = again.fetch.lease._replace(request='{"audit":true}', token=2)
        catalog.write([(replace(again, fetch=replace(again.fetch, lease=lease)), None)])

    text, found = text_of(web), web.get("/api/status").json()["freshness"]

    assert found["audit"]["documents"] == found["unchecked"] == 1
    assert found["current"]["share"] == pytest.approx(0.75, abs=0.1)
    assert re.search(rf"by estimate ?{100 * found['current']['share']:.1f} %", text)
    assert "by audit of 1 document" in text
    assert "never checked" in text


def test_where_nothing_is_it_says_so_and_nothing_of_freshness(web: TestClient) -> None:
    text, found = text_of(web), web.get("/api/status").json()

    assert "nothing was crawled yet" in text and "Freshness" not in text
    assert (found["documents"], found["freshness"]) == (0, None)


def test_crawl_that_is_over_is_told_from_the_catalog(web: TestClient, tmp_path: Path) -> None:
    publish(tmp_path, [ONE, entry(("http://b.test/2", "Two", "two"))])

    text, found = text_of(web), web.get("/api/status").json()

    assert "No crawl runs" in text and NOT_HERE in text
    assert found["frontier"] is None and found["crawling"] is False
    assert found["documents"] == 2
    assert found["outcomes"] == {"done/document": 2}
    assert (found["views"]["index"]["documents"], found["views"]["index"]["lag"]) == (2, 0)
    assert found["sizes"]["catalog"] > 0


def test_index_lag_is_what_the_index_has_not_applied(web: TestClient, tmp_path: Path) -> None:
    publish(tmp_path, [ONE])
    arrive(tmp_path, [f"http://a.test/{n}" for n in range(2, 5)], NOW)

    assert web.get("/api/status").json()["views"]["index"]["lag"] == 3


@pytest.mark.parametrize("is_alive", [True, False], ids=["", "killed"])
def test_rebuilding_is_told_while_somebody_does_it(web: TestClient, tmp_path: Path, is_alive: bool) -> None:
    publish(tmp_path, [ONE])
    (tmp_path / "index.new").mkdir()
    with (is_alive and Views(tmp_path).lock()) or nullcontext():
        views = web.get("/api/status").json()["views"]

    assert views["index"]["rebuilding"] is is_alive
    assert views["vocabulary"]["documents"] is None  # it does not say


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
    monkeypatch.setattr("webcrawler.web.status.overview.REDIS_SECONDS", 0.05)
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


def test_plots_are_readable_without_seeing_them(web: TestClient, tmp_path: Path) -> None:
    arrive(tmp_path, [f"http://a.test/{n}" for n in range(10)], now() - 60)

    tree = lxml_html.fromstring(web.get("/status").text)

    plots = [svg for svg in tree.iter("svg") if svg.get("class") == "plot"]
    assert [(plot.get("aria-label") or "")[:14] for plot in plots] == ["Pages a second"] * 2
    assert all(rect.get("height") for plot in plots for rect in plot.iter("rect"))
    assert not [element for element in tree.iter() if element.get("style")]


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


# ---- rates


def test_rates_are_counted_from_the_catalogs_times(tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        for n in range(100):
            catalog.write(arrivals([f"http://a.test/{n}"], NOW - 60 * n))

        found = Activity().look(catalog, NOW)

    assert sum(found.hour) == 60
    assert sum(found.recent) == 5  # minutes 0 to 4: what was fetched 300 s ago is a stretch too old
    assert set(found.hour) == {1}


def test_second_look_reads_only_what_came_since(tmp_path: Path) -> None:
    activity = Activity()
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write(arrivals([f"http://a.test/{n}" for n in range(10)], NOW - 30))
        first, again = (activity.look(catalog, NOW) for _ in range(2))
        catalog.write(arrivals([f"http://b.test/{n}" for n in range(7)], NOW - 5))
        third = activity.look(catalog, NOW)

    assert sum(first.hour) == sum(again.hour) == 10
    assert sum(third.hour) == 17


def test_another_catalog_in_its_place_is_counted_anew(tmp_path: Path) -> None:
    activity = Activity()
    for name in ("a", "b"):
        with closing(Catalog(tmp_path / f"{name}.sqlite")) as catalog:
            catalog.write(arrivals(["http://a.test/"], NOW - 30))
            found = activity.look(catalog, NOW)

    assert sum(found.hour) == 1


def test_what_happens_now_is_the_mean_of_ten_seconds_that_are_over() -> None:
    newest = int(NOW // BIN_SECONDS)
    bins = Counter({newest: 20, newest - 1: 10, newest - 2: 30, newest - 3: 1_000})

    assert rates(bins, NOW).per_second == 6.0
    assert rates(bins, NOW + 2).per_second == 5.0
    assert rates(Counter(), NOW).per_second == 0.0


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


# ---- plots and words


@pytest.mark.parametrize(
    "value, upper",
    [(0, 1), (0.03, 0.05), (0.3, 0.5), (1, 1), (1.1, 2), (3, 5), (7, 10), (10, 10), (99, 100), (101, 200)],
)
def test_upper_edge_is_a_round_number(value: float, upper: float) -> None:
    assert round_up(value) == pytest.approx(upper)


def test_bars_stand_within_the_plot_and_touch_its_edge(
    web: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawled(tmp_path, fetched("http://a.test/"))
    shown = Rates(0.0, [0, 50, 100, 25], [0, 60])
    monkeypatch.setattr(Activity, "look", lambda *given: shown)

    tree = lxml_html.fromstring(web.get("/status").text)

    (svg, _) = (svg for svg in tree.iter("svg") if svg.get("class") == "plot")
    bars = list(svg.iter("rect"))
    sizes = [[float(bar.get(name, "")) for name in ("x", "y", "width", "height")] for bar in bars]
    assert svg.get("viewbox") == "0 0 4 20.0"
    assert [height for *_, height in sizes] == [10, 20, 5]
    assert [y + height for _, y, _, height in sizes] == [20] * 3
    assert [x for x, *_ in sizes] == [1, 2, 3]
    assert all(x + width <= 4 for x, _, width, _ in sizes)
    assert [bar.get("class") for bar in bars] == ["whole", "whole", "partial"]
    assert svg.get("aria-label") == "Pages a second over the last five minutes: at most 20, now 20"


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
