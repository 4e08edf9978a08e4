"""`webcrawler merge`: what several machines have crawled is searched and ranked as if one had crawled it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from conftest import Run
from dumped import dumped
from localweb import Answer, Site, copy_at_rest, crawl, page, sites
from test_rebuild_command import WITH_INDEX

from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.connection import connect
from webcrawler.linkgraph.stored import load
from webcrawler.scope import Scope, change, read
from webcrawler.search import Searcher

PAGES = 14
WORDS = ("page", "wombat", "to 3", "to twin")


class Crawls:
    """Two data folders of one crawl, and one of another crawl of the same site."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.site = site
        self.halves = [self._crawl(folder / name, folder, most) for name, most in (("a", 7), ("b", 99))]
        self.whole = self._crawl(folder / "whole", folder / "alone", 99)

    def _crawl(self, folder: Path, redis: Path, most: int) -> Path:
        with connect(None, redis):
            settings = {"REDIS_URL": f"unix://{redis}/redis/redis.sock", "RANKER_ENABLED": "yes"}
            arguments = ("index", "-a", f"seeds={self.site.url}/", "-a", f"max_pages={most}")
            crawled = crawl(folder, *arguments, ITEM_PIPELINES=WITH_INDEX, BUDGET_REPEATS=0, **settings)
        assert crawled.status == 0, crawled.log
        return copy_at_rest(folder, folder.with_name(f"{folder.name}-at-rest"))


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawls]:
    inner: dict[str, Any] = {
        f"/{n}": page("/", f"/{n * 2 % PAGES}", f"/{n * 3 % PAGES}", "/twin/1", "/twin/2")
        for n in range(PAGES)
    }
    twins = {f"/twin/{n}": Answer("<title>Wombat twin</title><a href=/3>to 3</a>") for n in range(9)}
    routes = {"/": page(*list(twins)[:3], *inner, *twins), **inner, **twins}
    with sites(site=routes) as web:
        yield Crawls(tmp_path_factory.mktemp("crawls"), web["site"])


def said(folder: Path) -> dict[str, Any]:
    """By URL: documents, links, duplicates, ranks; and what searches find."""
    rows, searcher = dumped(folder), Searcher(folder, deadline_seconds=60)
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        known = dict(catalog.urls.all())
        ranks = load(folder / "ranks", catalog.identity)
        assert ranks
    hits = {word: searcher.search(word).hits for word in WORDS}
    return {
        "documents": {(row[0], row[4]) for row in rows["documents"]},
        "links": rows["links"],
        "ranks": {url: round(float(ranks.of([number])[0]), 9) for number, url in known.items()},
        "hits": {word: [(hit.url, hit.relevance, hit.snippet) for hit in hits[word]] for word in WORDS},
        "duplicates": sum(bool(row[17]) for row in rows["documents"]),
    }


@pytest.mark.slow
def test_two_folders_of_one_crawl_are_merged_to_what_one_folder_would_have(
    crawls: Crawls, tmp_path: Path, run: Run
) -> None:
    told = json.loads(run("merge", *map(str, crawls.halves), str(tmp_path / "into"), "--json").out)

    assert said(tmp_path / "into") == said(crawls.whole)
    assert told["documents"] == PAGES + 10 and told["duplicates"] == 8
    assert all(said(half)["duplicates"] < 8 for half in crawls.halves)


@pytest.mark.slow
def test_the_folders_stay_as_they_are_and_a_second_merge_takes_them_again(
    crawls: Crawls, tmp_path: Path, run: Run
) -> None:
    halves, before = crawls.halves, [dumped(half) for half in crawls.halves]

    run("merge", *map(str, halves), str(tmp_path / "first"))
    run("merge", str(tmp_path / "first"), str(halves[0]), str(tmp_path / "second"))

    assert [dumped(half) for half in halves] == before
    assert said(tmp_path / "second") == said(tmp_path / "first")


@pytest.mark.slow
def test_what_any_of_them_has_removed_or_blocked_stays_out(crawls: Crawls, tmp_path: Path, run: Run) -> None:
    halves = [Path(copytree(half, tmp_path / half.name)) for half in crawls.halves]
    change(halves[0], lambda _: Scope(include=("http://a.test/*",), removed=(f"{crawls.site.url}/3",)))
    with closing(Catalog(halves[1] / "catalog.sqlite")) as catalog:
        catalog.block("http://b.test")

    found = json.loads(run("merge", *map(str, halves), str(tmp_path / "into"), "--json").out)

    assert found["blocked_servers"] == ["http://b.test"]
    assert read(tmp_path / "into") == Scope(removed=(f"{crawls.site.url}/3",))
    assert f"{crawls.site.url}/3" not in {row[0] for row in dumped(tmp_path / "into")["documents"]}


@pytest.mark.slow
def test_it_says_what_is_wrong_with_a_folder(crawls: Crawls, tmp_path: Path, run: Run) -> None:
    half = str(crawls.halves[0])

    assert "last the new one" in run("merge", half).err
    assert "is no data folder" in run("merge", half, str(tmp_path), str(tmp_path / "into")).err
    assert "has a catalog already" in run("merge", half, str(crawls.halves[1])).err
    with hold_crawl(crawls.halves[0]):
        assert "end it first" in run("merge", half, str(tmp_path / "into")).err


@pytest.mark.slow
def test_it_changes_nothing_in_a_folder_that_is_being_crawled(
    crawls: Crawls, tmp_path: Path, run: Run
) -> None:
    into = tmp_path / "into"
    into.mkdir()

    with hold_crawl(into):
        refused = run("merge", *map(str, crawls.halves), str(into))

    assert "end it first" in refused.err
    assert {path.name for path in into.rglob("*")} == {"crawls.lock", "pages"}
