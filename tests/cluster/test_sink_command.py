"""A crawl with SINK_URL, and what `webcrawler sink` says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Run
from localweb import crawl, page, sites
from waiting import at_rest

from .opensearch import Cluster as Nodes
from .sunk import differences, pages, sunk, write

pytestmark = pytest.mark.opensearch


def test_crawl_ends_when_the_cluster_has_all(opensearch: Nodes, tmp_path: Path) -> None:
    url = opensearch.url("crawl")
    with sites(a={"/": page("/b", "/none"), "/b": page("/")}) as web:
        seed = f"seeds={web['a'].url}/"
        crawl(tmp_path, "index", "-a", seed, ITEM_PIPELINES="", SINK_URL=url, RANKER_ENABLED="yes")

    assert differences(opensearch, "crawl", at_rest(tmp_path)).none


def test_status_says_what_waits(opensearch: Nodes, run: Run, tmp_path: Path) -> None:
    url, folder = opensearch.url("status"), write(tmp_path / "crawl", *pages(3))

    before = run("sink", "status", "--json", "-s", f"SINK_URL={url}")

    assert before.err == ""
    said = json.loads(before.out)
    assert (said["pages"], said["changes_waiting"], said["blocked"]) == (0, 3, False)
    assert folder.exists()


def test_rebuild_writes_again_what_the_cluster_has_lost(opensearch: Nodes, run: Run, tmp_path: Path) -> None:
    url, folder = opensearch.url("lost"), write(tmp_path / "crawl", *pages(3))
    run("sink", "rebuild", "-s", f"SINK_URL={url}")
    at_rest(folder)
    opensearch.ask("/lost-pages-000001/_refresh", "POST")
    opensearch.ask("/lost-pages-000001/_delete_by_query", "POST", {"query": {"match_all": {}}})
    assert not differences(opensearch, "lost", folder).none

    answered = run("sink", "rebuild", "-s", f"SINK_URL={url}")

    assert (answered.status, answered.err) == (0, "")
    assert differences(opensearch, "lost", at_rest(folder)).none


def test_errors_lists_what_the_cluster_refuses(opensearch: Nodes, run: Run, tmp_path: Path) -> None:
    from .sunk import page as fetched

    url, long = opensearch.url("errors"), f"http://a.test/{'x' * 33_000}"
    sunk(write(tmp_path / "crawl", fetched(long)), url)

    answered = run("sink", "errors", "--json", "-s", f"SINK_URL={url}")

    assert [one["url"] for one in json.loads(answered.out)] == [long]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["status"], "SINK_URL is not set"),
        (["flush"], "status | errors | rebuild"),
        (["status", "-s", "SINK_URL=localhost"], "the address of a cluster is not valid"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    run: Run, tmp_path: Path, arguments: list[str], said: str
) -> None:
    write(tmp_path / "crawl", *pages(1))

    answered = run("sink", *arguments)

    assert answered.status == 2
    assert said in answered.err
    assert answered.err.count("\n") == 1


def test_index_of_somebody_else_is_left_alone(opensearch: Nodes, run: Run, tmp_path: Path) -> None:
    opensearch.ask("/theirs-pages", "PUT", {})
    write(tmp_path / "crawl", *pages(1))

    answered = run("sink", "rebuild", "-s", f"SINK_URL={opensearch.url('theirs')}")

    assert answered.status == 2
    assert "is not of this program" in answered.err
