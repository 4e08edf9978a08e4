"""Real-time search: the index answers, the best documents lead on, and what is found is there for all."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from localweb import WITHOUT_INDEX, Answer, Crawled, Site, copy_at_rest, crawl, redirect, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect
from webcrawler.index import follower
from webcrawler.orderings import strategies
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal
from webcrawler.search import Searcher
from webcrawler.web.judge import JudgmentFiles

Searched = tuple[Crawled, Journal, list[str]]
WITH_INDEX = json.dumps(json.loads(WITHOUT_INDEX) | {"pipelines.fulltext.FullTextPipeline": 400})


def document(title: str, body: str = "", **anchors: str) -> Answer:
    """Links by the name of their path: `new="what the anchor says"`."""
    links = "".join(f'<p><a href="/{path}">{anchor}</a>' for path, anchor in anchors.items())
    return Answer(f"<!doctype html><title>{title}</title><p>{body}{links}")


# The index crawl fetches the first three; nothing but what the search finds calls /old by its name.
ROUTES = {
    "/": document("Start", "Where all begins", hub="Animals", old="Some notes"),
    "/hub": document("Quokka", "The quokka is an animal. quokka quokka", new="quokka news"),
    "/old": document("Notes", "Nothing that anybody looks for", deep="more"),
    "/new": document("Quokka news", "News of the quokka", old="quokka burrows", far="the weather"),
    "/deep": document("Burrows of the quokka", "A quokka lives here. quokka"),
    "/far": document("The weather", "Rain"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with sites(site={}) as opened:
        yield opened["site"]


@pytest.fixture
def site(server: Site) -> Site:
    server.routes = dict(ROUTES)
    server.asked.clear()
    return server


@pytest.fixture(scope="module")
def crawled(server: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    server.routes = dict(ROUTES)
    seeds = ("-a", f"seeds={server.url}/", "-a", "max_pages=3", "-a", "mode=fifo")
    where = tmp_path_factory.mktemp("crawled") / "crawl"
    done = crawl(where, "index", *seeds, ITEM_PIPELINES=WITH_INDEX, CONCURRENT_REQUESTS=1)
    assert done.documents() == {f"{server.url}{path}" for path in ("/", "/hub", "/old")}
    follower.wait_until_caught_up(where)
    return where


@pytest.fixture
def folder(crawled: Path, site: Site, tmp_path: Path) -> Path:
    """Three documents, indexed."""
    return copy_at_rest(crawled, tmp_path / "crawl")


def search(
    folder: Path,
    *arguments: str,
    query: str = "quokka",
    strategy: str = "best-first",
    process: str = "",
    **settings: object,
) -> tuple[Crawled, Journal]:
    """Keeps all that it finds: tests/test_finds.py is about what is kept."""
    words = (f"query={query}", f"strategy={strategy}", "job=test", "keep=yes", *arguments)
    told = (part for word in words for part in ("-a", word))
    done = crawl(folder, "realtime", *told, process=process, ITEM_PIPELINES=WITH_INDEX, **settings)
    assert done.status == 0, done.log
    found = journal.read(folder, "test")
    assert found is not None
    return done, found


def urls_of(folder: Path, query: str) -> list[str]:
    return [hit.url for hit in Searcher(folder, deadline_seconds=60).search(query).hits if hit.fetched]


def _endless(site: Site) -> Answer:
    number = len(site.asked)
    return Answer(f'<!doctype html><title>Page {number}</title><p>page {number}<a href="/p{number}">on</a>')


@pytest.fixture(scope="module")
def searched(crawled: Path, server: Site, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """What a search into the three documents has left, and asked for."""
    server.routes = dict(ROUTES)
    server.asked.clear()
    folder = copy_at_rest(crawled, tmp_path_factory.mktemp("searched") / "crawl")
    return *search(folder), server.pages


@pytest.mark.slow
def test_an_old_document_leads_on_once_the_query_run_again_finds_it(
    crawled: Path, searched: Searched, server: Site
) -> None:
    done, found, asked = searched

    assert f"{server.url}/old" not in urls_of(crawled, "quokka")
    assert f"{server.url}/old" in urls_of(done.folder, "quokka")  # by what /new calls it
    assert f"{server.url}/deep" in done.documents()  # to which nothing but /old links
    assert found["reason"] == "nothing_left"
    assert sorted(asked) == ["/deep", "/far", "/new"]  # the crawl had the others


@pytest.mark.slow
def test_what_is_found_says_which_link_led_to_it(searched: Searched, server: Site) -> None:
    by_url = {hit["url"].removeprefix(server.url): hit for hit in searched[1]["hits"]}

    assert (by_url["/hub"]["source"], by_url["/hub"]["via"]) == ("index", None)
    assert by_url["/new"]["source"] == "web"
    assert by_url["/new"]["via"] == {"url": f"{server.url}/hub", "title": "Quokka", "anchor": "quokka news"}


@pytest.mark.slow
def test_the_crawl_that_filled_the_index_goes_on_as_if_nothing_had_been(
    crawled: Path, searched: Searched
) -> None:
    assert searched[0].frontier["states"] == Crawled(crawled, 0, "").frontier["states"]


@pytest.mark.slow
def test_a_search_that_is_over_leaves_no_frontier_behind(searched: Searched) -> None:
    with connect(None, searched[0].folder) as connection:
        assert [key for key in connection.client.scan_iter() if b"realtime:" in key] == []


@pytest.mark.slow
def test_of_a_seed_it_is_not_said_that_a_link_led_to_it(site: Site, tmp_path: Path) -> None:
    site.routes |= {"/r": redirect("/new"), "/new": document("Quokka news", "quokka", old="on")}
    site.routes["/old"] = document("Quokka notes", "quokka", new="quokka: back")

    _, found = search(tmp_path, f"seeds={site.url}/r")

    via = {hit["url"].removeprefix(site.url): hit["via"] for hit in found["hits"]}
    assert via["/new"] is None
    assert via["/old"] == {"url": f"{site.url}/new", "title": "Quokka news", "anchor": "on"}


@pytest.mark.slow
def test_it_ends_with_enough_similar_documents(site: Site, folder: Path) -> None:
    _, found = search(folder, "enough=1")

    assert (found["state"], found["reason"], found["enough"]) == ("finished", "enough", 1)
    assert found["fetched"] >= found["similar"] >= 1


@pytest.mark.slow
def test_it_ends_at_max_pages(site: Site, folder: Path) -> None:
    done, found = search(folder, "max_pages=1")

    assert (found["reason"], found["fetched"]) == ("max_pages", 1)
    assert len(done.documents()) == 4


@pytest.mark.slow
def test_it_ends_when_any_process_asks_for_it_and_keeps_what_it_found(site: Site, tmp_path: Path) -> None:
    def answer(asked: Site) -> Answer:
        if len(asked.pages) == 5:
            journal.stop(tmp_path, "test")
        return _endless(asked)

    site.routes = {"*": answer}

    done, found = search(tmp_path, f"seeds={site.url}/")

    assert found["reason"] == "stopped"
    assert 0 < found["fetched"] <= len(done.documents())


@pytest.mark.slow
def test_a_stop_that_is_asked_for_before_it_has_begun_ends_it(site: Site, tmp_path: Path) -> None:
    journal.stop(tmp_path, "test")

    _, found = search(tmp_path, f"seeds={site.url}/")

    assert found["reason"] == "stopped"


@pytest.mark.slow
def test_limits_of_scrapys_own_stop_it(site: Site, tmp_path: Path) -> None:
    site.routes = {"*": _endless}

    _, found = search(tmp_path, f"seeds={site.url}/", CLOSESPIDER_ITEMCOUNT=3)

    assert found["reason"] == "stopped"


@pytest.mark.slow
def test_it_comes_to_its_own_end_though_the_catalog_cannot_be_read_meanwhile(
    site: Site, tmp_path: Path
) -> None:
    """The version of the tables is that of a newer program, which those that are writing do not look at."""

    def answer(asked: Site) -> Answer:
        number = len(asked.pages)
        if number == 2:
            with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
                catalog.execute("PRAGMA user_version = 99")
        return document(f"Quokka {number}", "quokka " * number, **{f"p{number}": "quokka"})

    site.routes = {"*": answer}

    _, found = search(tmp_path, f"seeds={site.url}/", "enough=10")

    assert (found["state"], found["reason"]) == ("finished", "enough")
    assert found["similar"] >= 10


@pytest.mark.slow
def test_an_index_that_cannot_be_read_does_not_keep_it_from_beginning(site: Site, folder: Path) -> None:
    for segment in (folder / "index").glob("*.seg"):
        segment.write_bytes(b"damaged")

    done, _ = search(folder, f"seeds={site.url}/new", "max_pages=1")

    assert f"{site.url}/new" in done.documents()


@pytest.mark.slow
def test_a_page_that_may_not_be_found_does_not_count_as_similar(site: Site, tmp_path: Path) -> None:
    noindex = '<meta name="robots" content="noindex"><title>Quokka</title><p>quokka<a href="/">back</a>'
    site.routes = {"/": Answer(noindex)}

    _, found = search(tmp_path, f"seeds={site.url}/", "enough=1")

    assert (found["reason"], found["fetched"], found["similar"]) == ("nothing_left", 1, 0)


@pytest.mark.slow
def test_it_goes_on_when_redis_is_killed(site: Site, tmp_path: Path) -> None:
    killed: list[int] = []

    def answer(asked: Site) -> Answer:
        if len(asked.asked) == 10:
            killed.append(int((tmp_path / "redis" / "server").read_text()))
            os.kill(killed[0], signal.SIGKILL)
        return _endless(asked)

    site.routes = {"*": answer}

    _, found = search(tmp_path, f"seeds={site.url}/", "max_pages=30")

    assert killed
    assert (found["reason"], found["fetched"]) == ("max_pages", 30)


@pytest.mark.slow
def test_where_the_index_has_no_answer_it_begins_with_what_was_crawled_first(
    site: Site, folder: Path
) -> None:
    done, found = search(folder, query="weather")

    assert f"{site.url}/far" in done.documents()
    assert "no answer" in found["note"]


def marked(strategy: str) -> Any:
    if strategy == "classifier" and not find_spec("sklearn"):
        return pytest.param(strategy, marks=pytest.mark.skip("no extra"))
    return pytest.param(strategy, marks=() if strategy == "best-first" else pytest.mark.slow)


@pytest.mark.parametrize("strategy", [marked(mode.name) for mode in strategies()])
def test_each_strategy_finds_what_the_links_lead_to(site: Site, tmp_path: Path, strategy: str) -> None:
    done, found = search(tmp_path, f"seeds={site.url}/", strategy=strategy)

    assert done.documents() == {site.url + path for path in ROUTES}
    assert (found["strategy"], found["reason"]) == (strategy, "nothing_left")
    assert f"{site.url}/deep" in {hit["url"] for hit in found["hits"]}
    assert {hit["source"] for hit in found["hits"]} == {"web"}


@pytest.mark.slow
def test_pages_that_are_like_examples_are_found_without_a_query(site: Site, folder: Path) -> None:
    done, found = search(folder, f"examples={site.url}/new", query="", strategy="seed-similarity")

    assert "quokka" in found["query"].lower()
    assert f"{site.url}/deep" in done.documents()


@pytest.mark.slow
@pytest.mark.parametrize("example", ["examples={}/redirects", "seeds={}/redirects", "examples={}/copy"])
def test_an_example_may_redirect_and_be_named_as_a_seed_and_say_what_another_page_says(
    site: Site, folder: Path, example: str
) -> None:
    site.routes |= {"/redirects": redirect("/on"), "/on": redirect("/new"), "/copy": ROUTES["/hub"]}

    _, found = search(folder, example.format(site.url), query="", strategy="seed-similarity")

    assert "quokka" in found["query"].lower()
    assert found["hits"]


@pytest.mark.slow
def test_pages_that_were_judged_good_for_the_query_are_examples(site: Site, tmp_path: Path) -> None:
    JudgmentFiles(tmp_path / "feedback").save("quokka", f"{site.url}/new", "good")

    done, found = search(tmp_path, "examples=@feedback", query="Quokka", strategy="seed-similarity")

    assert done.documents() == {site.url + path for path in ("/new", "/old", "/far", "/deep")}
    assert {hit["via"] is None for hit in found["hits"] if hit["url"].endswith("/new")} == {True}


@pytest.mark.slow
def test_where_no_example_can_be_fetched_it_says_that_nothing_is_left(site: Site, tmp_path: Path) -> None:
    _, found = search(tmp_path, f"examples={site.url}/gone", query="", strategy="seed-similarity")

    assert (found["reason"], found["fetched"]) == ("nothing_left", 0)
    assert found["note"] == "no page could be fetched: not-found"


@pytest.mark.slow
def test_with_nothing_to_begin_with_it_crawls_the_demo_web_and_says_so(tmp_path: Path) -> None:
    done, found = search(tmp_path, "max_pages=60", query="molecular biology")

    assert "crawling the demo web" in done.log
    assert "this is the demo web" in found["note"]
    with closing(Catalog(done.folder / "catalog.sqlite", readonly=True)) as catalog:
        stats = catalog.stats()
    assert 0 < found["fetched"] == stats["documents"] - stats["duplicates"]
