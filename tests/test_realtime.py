"""Real-time search: the index answers, the best documents lead on, and what is found is there for all."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from localweb import WITHOUT_INDEX, Answer, Crawled, Site, crawl, sites

from webcrawler.connection import connect
from webcrawler.index import follower
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal
from webcrawler.search import Searcher

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


@pytest.fixture
def site() -> Iterator[Site]:
    with sites(site=ROUTES) as opened:  # type: ignore[arg-type]
        yield opened["site"]


@pytest.fixture
def folder(site: Site, tmp_path: Path) -> Path:
    """Three documents, indexed."""
    seeds = ("-a", f"seeds={site.url}/", "-a", "max_pages=3", "-a", "mode=fifo")
    done = crawl(tmp_path / "crawl", "index", *seeds, ITEM_PIPELINES=WITH_INDEX, CONCURRENT_REQUESTS=1)
    assert done.documents() == {f"{site.url}{path}" for path in ("/", "/hub", "/old")}
    follower.wait_until_caught_up(done.folder)
    return done.folder


def search(folder: Path, *arguments: str, strategy: str = "best-first") -> tuple[Crawled, Journal]:
    words = ("-a", f"strategy={strategy}", "-a", "job=test", *arguments)
    done = crawl(folder, "realtime", *words, ITEM_PIPELINES=WITH_INDEX)
    assert done.status == 0, done.log
    found = journal.read(folder, "test")
    assert found is not None
    return done, found


def urls_of(folder: Path, query: str) -> list[str]:
    with_numbers = Searcher(folder).search(query).hits
    return [hit.url for hit in with_numbers if hit.fetched]


def test_an_old_document_leads_on_once_the_query_run_again_finds_it(site: Site, folder: Path) -> None:
    assert f"{site.url}/old" not in urls_of(folder, "quokka")

    done, found = search(folder, "-a", "query=quokka")

    assert f"{site.url}/old" in urls_of(folder, "quokka")  # by what /new calls it
    assert f"{site.url}/deep" in done.documents()  # to which nothing but /old links
    assert found["reason"] == "nothing_left"
    assert [site.times(path) for path in ("/", "/hub", "/old", "/new", "/deep")] == [1] * 5


def test_what_is_found_says_which_link_led_to_it(site: Site, folder: Path) -> None:
    _, found = search(folder, "-a", "query=quokka")

    by_url = {hit["url"].removeprefix(site.url): hit for hit in found["hits"]}
    assert by_url["/hub"]["source"] == "index"
    assert by_url["/hub"]["via"] is None
    assert by_url["/new"]["source"] == "web"
    assert by_url["/new"]["via"] == {"url": f"{site.url}/hub", "title": "Quokka", "anchor": "quokka news"}


def test_it_ends_with_enough_similar_documents(site: Site, folder: Path) -> None:
    _, found = search(folder, "-a", "query=quokka", "-a", "enough=1")

    assert found["reason"] == "enough"
    assert found["similar"] >= 1
    assert found["state"] == "finished"


def test_it_ends_at_max_pages(site: Site, folder: Path) -> None:
    done, found = search(folder, "-a", "query=quokka", "-a", "max_pages=1")

    assert (found["reason"], found["fetched"]) == ("max_pages", 1)
    assert len(done.documents()) == 4


def test_it_ends_when_any_process_asks_for_it_and_keeps_what_it_found(tmp_path: Path) -> None:
    with sites(endless={"*": lambda site: _endless(len(site.asked))}) as web:
        site = web["endless"]
        stopping = Timer(3.0, lambda: journal.stop(tmp_path / "crawl", "test"))
        stopping.start()

        done, found = search(tmp_path / "crawl", "-a", "query=quokka", "-a", f"seeds={site.url}/")

        stopping.join()
        assert found["reason"] == "stopped"
        assert 0 < found["fetched"] <= len(done.documents())


def _endless(number: int) -> Answer:
    return Answer(f'<!doctype html><title>Page {number}</title><p>page {number}<a href="/p{number}">on</a>')


def test_it_goes_on_when_redis_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"

    def kill_redis() -> None:
        os.kill(int((folder / "redis" / "server").read_text()), signal.SIGKILL)

    with sites(endless={"*": lambda site: _endless(len(site.asked))}) as web:
        site, killed = web["endless"], []

        def answer(asked: Site) -> Answer:
            number = len(asked.asked)
            if number == 10:
                kill_redis()
                killed.append(number)
            return _endless(number)

        site.routes["*"] = answer
        words = ("-a", "query=quokka", "-a", f"seeds={site.url}/", "-a", "max_pages=30")

        _, found = search(folder, *words)

    assert killed
    assert (found["reason"], found["fetched"]) == ("max_pages", 30)


def test_an_empty_index_begins_with_the_seeds(site: Site, tmp_path: Path) -> None:
    done, found = search(tmp_path / "crawl", "-a", "query=quokka", "-a", f"seeds={site.url}/")

    assert len(done.documents()) == len(ROUTES)
    assert [hit["source"] for hit in found["hits"]] == ["web"] * len(found["hits"])
    assert f"{site.url}/deep" in {hit["url"] for hit in found["hits"]}


def test_where_the_index_has_no_answer_it_begins_with_what_was_crawled_first(
    site: Site, folder: Path
) -> None:
    done, found = search(folder, "-a", "query=weather")

    assert f"{site.url}/far" in done.documents()
    assert "no answer" in found["note"]


def test_a_link_out_of_its_domains_is_not_followed(site: Site, folder: Path) -> None:
    done, _ = search(folder, "-a", "query=quokka", "-a", "domains=example.org")

    assert len(done.documents()) == 3


def test_the_crawl_that_filled_the_index_goes_on_as_if_nothing_had_been(site: Site, folder: Path) -> None:
    before = Crawled(folder, 0, "").frontier["states"]

    search(folder, "-a", "query=quokka")

    assert Crawled(folder, 0, "").frontier["states"] == before


def test_a_search_that_is_over_leaves_no_frontier_behind(site: Site, folder: Path) -> None:
    search(folder, "-a", "query=quokka")

    with connect(None, folder) as connection:
        assert [key for key in connection.client.scan_iter() if b"realtime:" in key] == []


@pytest.mark.parametrize(
    "strategy", ["adaptive", "webcrawler", "best-first", "shark", "hot", "seed-similarity", "breadth"]
)
def test_each_strategy_finds_what_the_links_lead_to(site: Site, folder: Path, strategy: str) -> None:
    done, found = search(folder, "-a", "query=quokka", "-a", f"seeds={site.url}/new", strategy=strategy)

    assert f"{site.url}/new" in done.documents()
    assert found["strategy"] == strategy
    assert found["similar"] >= 1


def test_pages_that_are_like_examples_are_found_without_a_query(site: Site, folder: Path) -> None:
    example = ("-a", f"examples={site.url}/new")

    done, found = search(folder, *example, strategy="seed-similarity")

    assert "quokka" in found["query"].lower()
    assert f"{site.url}/deep" in done.documents()


def test_where_no_example_can_be_fetched_it_says_that_nothing_is_left(site: Site, tmp_path: Path) -> None:
    _, found = search(tmp_path / "crawl", "-a", f"examples={site.url}/gone", strategy="seed-similarity")

    assert (found["reason"], found["fetched"]) == ("nothing_left", 0)


def test_with_nothing_to_begin_with_it_crawls_the_demo_web_and_says_so(tmp_path: Path) -> None:
    done, found = search(tmp_path / "crawl", "-a", "query=molecular biology", "-a", "max_pages=60")

    assert "crawling the demo web" in done.log
    assert 0 < found["fetched"] == len(done.documents())
