"""A real-time search finds its pages at once, whether the index has them yet or not."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from localweb import Answer, Site, scrapy, sites
from test_follower import page, write
from test_realtime import WITH_INDEX, document, search
from waiting import holder, until

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Finds, applied_seq, follower, indexable
from webcrawler.search import Searcher


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as opened:
        yield opened


@pytest.fixture
def finds() -> Iterator[Finds]:
    with closing(Finds()) as opened:
        yield opened


def answers(folder: Path, query: str, finds: Finds | None = None) -> list[tuple[int, float]]:
    return Searcher(folder, finds=finds).rank(query)


def add(finds: Finds, catalog: Catalog, *names: str) -> None:
    documents = [catalog.find(f"http://a.example/{name}") for name in names]
    found = {document.number: document for document in documents if document}
    finds.add(indexable(catalog, found), catalog.identity)


TEXTS = {"one": "quokka wombat", "two": "quokka quokka", "three": "wombat", "four": "quokka " + "other " * 30}


@pytest.mark.parametrize("indexed", range(len(TEXTS) + 1))
def test_finds_beside_an_index_are_scored_as_if_it_had_them(
    tmp_path: Path, catalog: Catalog, finds: Finds, indexed: int
) -> None:
    names = list(TEXTS)
    write(catalog, *(page(name, TEXTS[name]) for name in names[:indexed]))
    follower.wait_until_caught_up(tmp_path)
    write(catalog, *(page(name, TEXTS[name]) for name in names[indexed:]))
    for name in names[indexed:]:
        add(finds, catalog, name)
    beside = answers(tmp_path, "quokka", finds)

    follower.wait_until_caught_up(tmp_path)

    assert len(beside) == 3
    assert beside == [(page, pytest.approx(score)) for page, score in answers(tmp_path, "quokka")]


def test_a_find_that_the_index_has_by_now_is_one_hit(tmp_path: Path, catalog: Catalog, finds: Finds) -> None:
    write(catalog, *(page(name, text) for name, text in TEXTS.items()))
    add(finds, catalog, "one", "two")
    searcher = Searcher(tmp_path, finds=finds)
    assert len(searcher.search("quokka").hits) == 2

    follower.wait_until_caught_up(tmp_path)

    assert len(searcher.search("quokka").hits) == 3
    assert answers(tmp_path, "quokka", finds) == answers(tmp_path, "quokka")


# ---- the whole


def _endless(site: Site, over: threading.Event) -> Answer:
    """Some hundred pages; the next ones come when it is over, so that their crawl lasts."""
    number = len(site.asked)
    if number > 250:
        over.wait()
    links = {f"p{number}_{i}": f"on {i}" for i in range(3)}
    return document(f"Page {number}", f"backlog {number} " * 50, **links)


@pytest.mark.slow
def test_a_search_beside_a_crawl_whose_views_starve_finds_what_it_finds_alone(tmp_path: Path) -> None:
    names = [f"q{i}" for i in range(25)]  # a list shows 30
    start = document("Quokkas", "quokka", **{name: f"quokka {name}" for name in names})
    routes = {f"/{name}": document(name, f"quokka {name} " * (i + 1)) for i, name in enumerate(names)}
    alone, beside = tmp_path / "alone", tmp_path / "beside"
    over = threading.Event()
    with sites(searched={"/": start, **routes}, crawled={"*": lambda site: _endless(site, over)}) as web:
        words = (f"seeds={web['searched'].url}/", "enough=0")
        wanted = {hit["url"] for hit in search(alone, *words)[1]["hits"]}
        local = {"ADDRESSES_ALLOWED": "127.0.0.1/32", "FRONTIER_DELAY": 0, "RANKER_ENABLED": "no"}
        seeds = f"seeds={web['crawled'].url}/"
        crawl = scrapy("crawl", "index", "-a", seeds, folder=beside, ITEM_PIPELINES=WITH_INDEX, **local)
        try:
            until(lambda: applied_seq(beside / "index") > 0, "the first pages in the index")
            os.kill(holder(beside), signal.SIGSTOP)
            until(lambda: len(web["crawled"].asked) > 200, "many pages")
            _, journal = search(beside, *words, process="leaves its views to the crawl")
            assert crawl.poll() is None
        finally:
            over.set()
            os.kill(holder(beside), signal.SIGKILL)
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=240)

    assert {hit["url"] for hit in journal["hits"]} == wanted
    assert journal["reason"] == "nothing_left"


@pytest.mark.slow
def test_a_search_whose_views_are_killed_starts_another_and_finds_the_same(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(_: Site) -> Answer:
        killed.append(until(lambda: holder(tmp_path / "killed"), "the views"))
        os.kill(killed[-1], signal.SIGKILL)
        return document("Last", "quokka")

    pages = {f"/q{i}": document(f"q{i}", f"quokka q{i} " * (i + 1), last="the last quokka") for i in range(9)}
    start = document("Quokkas", "quokka", **{path[1:]: "quokka" for path in pages})
    with sites(searched={"/": start, **pages, "/last": document("Last", "quokka")}) as web:
        words = (f"seeds={web['searched'].url}/", "enough=0")
        wanted = {hit["url"] for hit in search(tmp_path / "alone", *words)[1]["hits"]}
        web["searched"].routes["/last"] = kill
        _, journal = search(tmp_path / "killed", *words, process="its views are killed")

    assert {hit["url"] for hit in journal["hits"]} == wanted
    assert len(killed) == 1
    until(lambda: holder(tmp_path / "killed") not in (0, *killed), "other views")
