"""What Prometheus and a load balancer are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crawled import link
from prometheus_client.parser import text_string_to_metric_families
from searched import entry, publish
from starlette.testclient import TestClient

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, ordering
from webcrawler.web import Config, make_app

HERE = "http://127.0.0.1:8000"
LOCAL, ANYWHERE = ("127.0.0.1", 50_000), ("203.0.113.9", 50_000)


def served(crawl_dir: Path, client: tuple[str, int] = LOCAL, **config: Any) -> TestClient:
    return TestClient(make_app(Config(crawl_dir, **config)), HERE, client=client)


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, [entry((f"http://a.test/{n}", f"Page {n}", "biology")) for n in range(3)])
    return folder


@pytest.fixture
def web(crawl_dir: Path) -> Iterator[TestClient]:
    with served(crawl_dir) as web:
        yield web


def values(web: TestClient) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = web.get("/metrics")
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def counted(web: TestClient, name: str, **labels: str) -> float:
    return values(web).get((name, frozenset(labels.items())), 0.0)


def test_requests_are_counted_by_route_and_status(web: TestClient) -> None:
    for query in ("biology", "gene", "a&page=x"):
        web.get(f"/search?q={query}")
    for name in "ab":
        web.get(f"/static/{name}.css")

    assert counted(web, "webcrawler_requests_total", route="/search", status="200") == 2
    assert counted(web, "webcrawler_requests_total", route="/search", status="400") == 1
    assert counted(web, "webcrawler_requests_total", route="/static/{name}", status="404") == 2


def test_paths_that_strangers_invent_are_one_row(web: TestClient) -> None:
    for n in range(50):
        web.get(f"/invented/{n}")

    routes = {dict(labels).get("route") for _, labels in values(web)}
    assert counted(web, "webcrawler_requests_total", route="other", status="404") == 50
    assert len(routes) < 10


def test_what_middlewares_refuse_is_counted(crawl_dir: Path) -> None:
    with served(crawl_dir) as web:
        answers = [web.get("/search?q=a").status_code for _ in range(2)]
        evil = web.get("/", headers={"Host": "evil.test"}).status_code
        registry = web.app.state.metrics.registry  # type: ignore[attr-defined]
        seen = registry.get_sample_value("webcrawler_requests_total", {"route": "other", "status": "421"})

    assert (answers, evil, seen) == ([200, 200], 421, 1)


def test_answers_from_memory_and_the_time_of_all_in_bins_up_to_seconds_are_counted(web: TestClient) -> None:
    for _ in range(3):
        web.get("/search?q=biology")

    assert counted(web, "webcrawler_answers_cached_total") == 2
    assert counted(web, "webcrawler_request_seconds_bucket", route="/search", le="+Inf") == 3
    assert counted(web, "webcrawler_request_seconds_count", route="/search") == 3


def test_index_and_crawl_are_gauges(tmp_path: Path) -> None:
    publish(tmp_path, [entry((f"http://a.test/{n}", "", "x")) for n in range(3)])
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([(entry((f"http://b.test/{n}", "", "x")), None) for n in range(2)])
    with served(tmp_path) as web:
        assert counted(web, "webcrawler_index_documents") == 3
        assert counted(web, "webcrawler_index_lag_changes") == 2
        assert values(web)["webcrawler_crawl_alive", frozenset()] == 0


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    with served(tmp_path) as web:
        text = web.get("/metrics").text
        found = {name for name, _ in values(web)}

    assert "webcrawler_crawl_alive" in found and " NaN" not in text
    unknown = ("index_lag_changes", "crawl_documents_per_second", "frontier_urls")
    assert found.isdisjoint(f"webcrawler_{name}" for name in unknown)


@pytest.mark.parametrize("is_named", [True, False], ids=["", "not named"])
def test_crawl_of_another_spider_is_told_by_its_frontier_where_that_is_named(
    tmp_path: Path, is_named: bool
) -> None:
    with connect(None, tmp_path) as connection:
        frontier = Frontier(connection.new_client(), ordering("fifo"), "topics")
        frontier.open("fifo")
        frontier.discover([link(f"http://a.test/{n}") for n in range(3)])
        frontier.expire(alive_seconds=60)  # says that it lives
        frontier.lease(1)
        with served(tmp_path, frontier="topics" if is_named else "index") as web:
            found = values(web)

    queued = found.get(("webcrawler_frontier_urls", frozenset({("state", "queued")})))
    assert queued == (2 if is_named else None)
    assert found["webcrawler_crawl_alive", frozenset()] == is_named


@pytest.mark.parametrize(
    "client, headers, status",
    [
        ("127.0.0.1", {}, 200),
        ("::1", {}, 200),
        ("203.0.113.9", {}, 403),
        ("203.0.113.9", {"X-Forwarded-For": "127.0.0.1"}, 403),
        ("127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}, 403),  # a proxy of this machine
        ("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 403),
        ("127.0.0.1", {"Forwarded": "for=127.0.0.1"}, 403),
    ],
)
def test_who_may_read_metrics(tmp_path: Path, client: str, headers: dict[str, str], status: int) -> None:
    with served(tmp_path, (client, 1)) as web:
        assert web.get("/metrics", headers=headers).status_code == status


def test_two_applications_count_apart(crawl_dir: Path) -> None:
    with served(crawl_dir) as one, served(crawl_dir) as other:
        one.get("/search?q=biology")

        assert counted(other, "webcrawler_requests_total", route="/search", status="200") == 0


# ---- health


def test_healthy_where_the_index_can_be_read(web: TestClient) -> None:
    answer = web.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert answer.headers["cache-control"] == "no-store"


def test_healthy_where_nothing_is_indexed_yet(tmp_path: Path) -> None:
    with served(tmp_path, ANYWHERE) as web:
        assert web.get("/healthz").status_code == 200


def test_unwell_where_the_index_cannot_be_read(tmp_path: Path) -> None:
    publish(tmp_path, [entry(("http://a.test/", "", "x"))])
    for path in (tmp_path / "index").iterdir():
        if path.is_file():
            path.write_bytes(b"garbage")
    with served(tmp_path, ANYWHERE) as web:
        answer = web.get("/healthz")

    assert answer.status_code == 503
    assert "index cannot be read" in answer.json()["reason"]
    assert str(tmp_path) not in answer.text
