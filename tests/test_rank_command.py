"""`webcrawler rank`: the top pages and servers of what was crawled."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from test_catalog import link, page, redirect
from test_commands import assert_told_off

from webcrawler.archive.catalog import Catalog, _links
from webcrawler.linkgraph import catalog_graph

HOME, NEWS, OTHER, OLD = "http://a.test/", "http://a.test/news", "http://b.test/x/y", "http://c.test/"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """NEWS and OTHER link to HOME, HOME to NEWS; OLD leads to HOME; OTHER's link to NEWS is nofollow."""
    folder = tmp_path_factory.mktemp("crawled")
    catalog = Catalog(folder / "catalog.sqlite")
    catalog.write(
        [
            (page(HOME, 1, "home", [link(NEWS), link(HOME)]), None),
            (page(NEWS, 1, "news", [link(HOME)]), None),
            (page(OTHER, 1, "other", [link(HOME), link(NEWS, rel="nofollow")]), None),
            (redirect(OLD, 1, HOME), None),
        ]
    )
    catalog.close()
    return folder


def answer(run: Run, crawled: Path, *arguments: str) -> dict[str, Any]:
    ended = run("rank", "--json", *arguments, folder=crawled)
    assert ended.status == 0, ended.err
    return dict(json.loads(ended.out))


def scores(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row.get("url") or row["server"]: row["score"] for row in rows}


def test_pagerank_is_what_is_shown_unless_told_otherwise(run: Run, crawled: Path) -> None:
    """At d = 1/2: OTHER and OLD 1/2, HOME = 1/2 + (NEWS + 1)/2, NEWS = 1/2 + HOME/2, so 5/3 and 4/3."""
    shown = answer(run, crawled, "--damping", "0.5")

    assert shown["algorithm"] == "pagerank"
    assert scores(shown["pages"]) == pytest.approx({HOME: 5 / 3, NEWS: 4 / 3, OTHER: 0.5, OLD: 0.5})
    assert [row["url"] for row in shown["pages"]][:2] == [HOME, NEWS]
    servers = {"http://a.test": 3, "http://b.test": 0.5, "http://c.test": 0.5}
    assert scores(shown["servers"]) == pytest.approx(servers)
    assert shown["servers"][0]["pages"] == 2


def test_nofollow_links_and_self_links_do_not_count_redirects_do(run: Run, crawled: Path) -> None:
    shown = answer(run, crawled, "--algorithm", "backlink")

    assert scores(shown["pages"]) == {HOME: 3, NEWS: 1, OTHER: 0, OLD: 0}
    assert scores(shown["servers"]) == {"http://a.test": 4, "http://b.test": 0, "http://c.test": 0}


def test_page_n_of_the_catalog_is_page_n_minus_1_of_the_graph(crawled: Path) -> None:
    catalog = Catalog(crawled / "catalog.sqlite", readonly=True)
    urls = dict(catalog.urls.all())

    graph = catalog_graph(catalog)

    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    links = {(urls[s + 1], urls[t + 1]) for s, t in ends}
    assert links == {(HOME, NEWS), (NEWS, HOME), (OTHER, HOME), (OLD, HOME)}
    assert graph.pages == len(urls)


@pytest.mark.parametrize("sources_at_once", [1, 2, 100])
def test_links_come_as_arrays_however_many_are_read_in_one_step(
    crawled: Path, monkeypatch: pytest.MonkeyPatch, sources_at_once: int
) -> None:
    monkeypatch.setattr(_links, "SOURCES", sources_at_once)
    catalog = Catalog(crawled / "catalog.sqlite", readonly=True)

    parts = list(catalog.links.arrays())

    assert [
        link for sources, targets in parts for link in zip(sources.tolist(), targets.tolist(), strict=True)
    ] == [(row.source, row.target) for row in catalog.links.all() if row.rel != "nofollow"]


def test_other_algorithms(run: Run, crawled: Path) -> None:
    forward, location, hits = (
        answer(run, crawled, "--algorithm", algorithm) for algorithm in ("forward", "location", "hits")
    )

    assert scores(forward["pages"]) == {HOME: 1, NEWS: 1, OTHER: 1, OLD: 1}
    assert scores(location["pages"]) == {HOME: -1, NEWS: -1, OLD: -1, OTHER: -2}
    assert "servers" not in location
    assert hits["pages"][0] == {"url": HOME, "score": pytest.approx(1), "hub": pytest.approx(0)}


@pytest.mark.parametrize("algorithm", ["pagerank", "hits"])
def test_the_engine_makes_no_difference(run: Run, crawled: Path, algorithm: str) -> None:
    ours = answer(run, crawled, "--algorithm", algorithm)
    theirs = answer(run, crawled, "--algorithm", algorithm, "--engine", "networkx")

    assert scores(theirs["pages"]) == pytest.approx(scores(ours["pages"]), abs=1e-6)


def test_only_the_top_is_shown(run: Run, crawled: Path) -> None:
    shown = answer(run, crawled, "--top", "1")

    assert [len(shown["pages"]), len(shown["servers"])] == [1, 1]
    assert "pages" not in answer(run, crawled, "--servers")


def test_the_table(run: Run, crawled: Path) -> None:
    shown = run("rank", "--top", "2", folder=crawled).out

    assert re.search(r"^Top pages by pagerank\n   1 +1\.\d\d  http://a.test/\n   2 ", shown)
    assert re.search(r"^Top servers by pagerank\n   1 +[\d.]+  http://a.test \(2 pages\)$", shown, re.M)


def test_a_catalog_without_links(run: Run, tmp_path: Path) -> None:
    Catalog(tmp_path / "catalog.sqlite").close()

    for algorithm in ("pagerank", "hits", "backlink", "location"):
        assert answer(run, tmp_path, "--algorithm", algorithm)["pages"] == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--damping", "1"), "--damping=1 is not a number between 0 and 1"),
        (("--damping", "0"), "--damping"),
        (("--damping", "-0.5"), "--damping"),
        (("--damping", "much"), "=much is not"),
        (("--algorithm", "magic"), "no algorithm 'magic': choose one of pagerank, hits"),
        (("--engine", "spark"), "no engine 'spark': choose one of scipy, networkx"),
        (("--algorithm", "backlink", "--engine", "spark"), "no engine"),
        (("--top", "0"), "--top=0 is not a whole number from 1"),
        (("--top", "-1"), "--top"),
        (("--top", "9" * 5000), "--top=9999"),
        (("--top", "some"), "--top"),
        (("--algorithm", "location", "--servers"), "location"),
        (("a.test",), "options only"),
        ((), "nothing was crawled into"),
    ],
)
def test_asked_wrongly(run: Run, arguments: tuple[str, ...], line: str) -> None:
    assert_told_off(run("rank", *arguments), line)
