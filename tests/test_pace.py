"""Virtual crawls by the clock: polite, and never over before they can be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import Run, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler import urls
from webcrawler.connection import Connection
from webcrawler.evaluation import Pace, measures, private_redis
from webcrawler.evaluation.recorded import Recorded
from webcrawler.evaluation.virtual import Web, crawl, paced_crawl
from webcrawler.linkgraph import Graph

MS = 0.002  # a clock of milliseconds rounds


@pytest.fixture(scope="module")
def redis() -> Iterator[Connection]:
    with private_redis() as connection:
        yield connection


def web_of(servers: str, *links: tuple[int, int]) -> Web:
    """Pages on the servers whose letters are given, one each."""
    sources, targets = np.array(links, np.int64).reshape(-1, 2).T
    graph = Graph.of(sources, targets, len(servers))
    named = [f"http://{server}.example/{page}" for page, server in enumerate(servers)]
    return Web(Recorded(graph, np.arange(len(servers)), named))


def star(servers: str) -> Web:
    return web_of(servers, *((0, page) for page in range(1, len(servers))))


def test_pages_of_one_server_come_one_after_the_other_with_pauses(redis: Connection) -> None:
    pace = Pace(delay=2.0, latency=0.5, downloads=9)
    each = pace.seconds("http://a.example")

    order, seconds = paced_crawl(star("aaaa"), "fifo", 0, redis, 1, pace)

    assert order.tolist() == [0, 1, 2, 3]
    assert seconds == pytest.approx([each, 2 * each + 2, 3 * each + 4, 4 * each + 6], abs=4 * MS)
    assert pace.shortest(["http://a.example"] * 4) == pytest.approx(4 * each + 6)


def test_pages_of_other_servers_come_at_the_same_time(redis: Connection) -> None:
    pace = Pace(delay=2.0, latency=0.5, downloads=9)
    first, slowest = (pace.seconds(f"http://{server}.example") for server in "ab")

    order, seconds = paced_crawl(star("abb"), "fifo", 0, redis, 1, pace)

    assert order.tolist() == [0, 1, 2]
    assert seconds == pytest.approx([first, first + slowest, first + 2 * slowest + 2], abs=4 * MS)


def test_no_more_downloads_than_there_are_places(redis: Connection) -> None:
    pace = Pace(delay=0.0, latency=0.5, downloads=1)

    _, seconds = paced_crawl(star("abc"), "fifo", 0, redis, 1, pace)

    assert seconds[-1] == pytest.approx(sum(pace.seconds(f"http://{s}.example") for s in "abc"), abs=4 * MS)


def test_a_server_keeps_to_its_speed_and_servers_differ() -> None:
    pace = Pace(latency=1.0)
    speeds = sorted(pace.seconds(f"http://{number}.example") for number in range(999))

    assert speeds[499] == pytest.approx(1, rel=0.15)
    assert speeds[840] / speeds[499] == pytest.approx(np.e, rel=0.2)
    assert pace.seconds("http://a.example") == pace.seconds("http://a.example")


@settings(max_examples=examples(25), deadline=None)
@given(
    st.text("abc", min_size=2, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30),
    st.sampled_from(["fifo", "backlink", "pagerank", "breadth"]),
    st.builds(Pace, st.sampled_from([0.0, 0.3, 5.0]), st.just(0.4), st.integers(1, 4)),
)
def test_any_crawl_is_polite_and_finds_what_there_is(
    redis: Connection, servers: str, links: list[tuple[int, int]], mode: str, pace: Pace
) -> None:
    pages = len(servers)
    web = web_of(servers, *sorted({(a % pages, b % pages) for a, b in links if a % pages != b % pages}))

    order, seconds = paced_crawl(web, mode, 0, redis, 3, pace)

    of = [urls.server(web.recorded.urls[page]) for page in order.tolist()]
    assert sorted(order.tolist()) == sorted(crawl(web, mode, 0, redis, 3).tolist())
    assert (np.diff(seconds) >= 0).all()
    assert seconds[-1] >= pace.shortest(of) - MS * len(of)
    for server in set(of):
        ends = seconds[[place for place, one in enumerate(of) if one == server]]
        assert (np.diff(ends) >= pace.seconds(server) + pace.delay - MS).all()


def test_the_area_over_time_counts_how_long_each_hot_page_was_there() -> None:
    order, hot = np.array([2, 0, 1]), np.array([True, False, True])

    area = measures.area_in_time(order, np.array([1.0, 4.0, 9.0]), hot, 8.0)

    assert area == pytest.approx(100 * (7 / 8 + 4 / 8) / 2)
    assert measures.area_in_time(order, np.array([9.0, 10.0, 11.0]), hot, 8.0) == 0


def test_evaluate_compares_by_time_where_a_delay_is_given(run: Run, tmp_path: Path) -> None:
    (tmp_path / "web.txt").write_text("0 1\n0 2\n0 3\n1 4\n2 4\n3 4\n")
    asked = str(tmp_path / "web.txt"), "--hot", "ib:3", "--orderings", "fifo,backlink"

    answer = run("evaluate", *asked, "--delay", "1", "--json", str(tmp_path / "paced.json"))
    plain = run("evaluate", *asked, "--json", str(tmp_path / "plain.json"))

    assert "area under P_ST over time, %" in answer.out and "over time" not in plain.out
    figures = [json.loads((tmp_path / f"{name}.json").read_text()) for name in ("paced", "plain")]
    pace = {"delay": 1.0, "latency": 0.5, "downloads": 32}
    assert [one["provenance"]["pace"] for one in figures] == [pace, None]
    paced, other = (one["runs"] for one in figures)
    assert [one["auc_time"].keys() for one in paced] == [{"ib:3"}] * 2
    assert [one["auc_time"] for one in other] == [{}] * 2
    assert paced[1]["auc_time"]["ib:3"] > paced[0]["auc_time"]["ib:3"]
