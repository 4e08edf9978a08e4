"""A real-time search into a collection that somebody looks after: what stays of it is what was asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from localweb import Answer, Crawled, Site, copy_at_rest, crawl, scrapy
from test_realtime import WITH_INDEX
from waiting import PATIENCE_SECONDS, until

from webcrawler.archive.catalog import Catalog
from webcrawler.background import RESUMABLE_SECONDS, search_lock
from webcrawler.connection import connect
from webcrawler.index import follower
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal
from webcrawler.scope import Scope, change
from webcrawler.search import Searcher
from webcrawler.web.judge import JudgmentFiles

pytestmark = pytest.mark.slow

SETTINGS = {"ITEM_PIPELINES": WITH_INDEX, "ADDRESSES_ALLOWED": "127.0.0.0/8"}


def page(title: str, *links: str) -> Answer:
    """It is about quokkas if its title is."""
    anchors = "".join(f'<p><a href="{link}">link {number}</a>' for number, link in enumerate(links))
    return Answer(f"<!doctype html><title>{title}</title><p>about {title}{anchors}")


class Sites(NamedTuple):
    """One of ours, with two pages, and two others that it links to."""

    ours: Site
    near: Site
    far: Site

    @property
    def found(self) -> set[str]:
        """The pages of the others; those about quokkas are similar."""
        return self.similar | {self.near.url + "/", self.far.url + "/last"}

    @property
    def similar(self) -> set[str]:
        return {self.near.url + "/quokka", self.far.url + "/"}


@pytest.fixture(scope="module")
def servers() -> Iterator[Sites]:
    opened = Sites(*(Site(host=f"127.0.0.{number}").start() for number in (1, 2, 3)))
    yield opened
    for site in opened:
        site.stop()


def set_up(servers: Sites) -> Sites:
    """Nobody has asked for anything."""
    ours, near, far = servers
    for site in servers:
        site.routes.clear()
        site.asked.clear()
    ours.routes |= {"/": page("Ours", "/more"), "/more": page("Quokka at home", near.url + "/")}
    near.routes |= {
        "/": page("Near", "/quokka", far.url + "/"),
        "/quokka": page("Quokka, near", ours.url + "/more", near.url + "/never"),
    }
    far.routes |= {"/": page("Quokka, far", "/last"), "/last": page("The end")}
    return servers


@pytest.fixture
def sites(servers: Sites) -> Sites:
    return set_up(servers)


@pytest.fixture(scope="module")
def crawled(servers: Sites, tmp_path_factory: pytest.TempPathFactory) -> Path:
    set_up(servers)
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    run(folder, "index", f"seeds={servers.ours.url}/", "domains=127.0.0.1")
    change(folder, lambda scope: Scope())  # the domains would be those of searches, too
    assert seen_by_all(folder) == {servers.ours.url + "/more"}
    return folder


@pytest.fixture
def folder(crawled: Path, sites: Sites, tmp_path: Path) -> Path:
    return copy_at_rest(crawled, tmp_path / "crawl")


def run(folder: Path, spider: str, *arguments: str, process: str = "") -> Crawled:
    words = (part for one in arguments for part in ("-a", one))
    done = crawl(folder, spider, *words, process=process, **SETTINGS)
    assert done.status == 0, done.log
    follower.wait_until_caught_up(folder)
    return done


def search(folder: Path, *arguments: str, query: str = "query=quokka") -> Journal:
    run(folder, "realtime", query, "strategy=breadth", "job=test", *arguments)
    found = journal.read(folder, "test")
    assert found is not None
    return found


def seen_by_all(folder: Path, query: str = "quokka", job: str = "") -> set[str]:
    searcher = Searcher(folder, deadline_seconds=60, job=job)
    return {hit.url for hit in searcher.search(query, limit=100).hits if hit.fetched}


def documents(folder: Path) -> set[str]:
    return Crawled(folder, 0, "").documents()


def counts(folder: Path) -> dict[str, int]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        return catalog.stats()


def kill_a_search(sites: Sites, folder: Path, strategy: str = "breadth") -> None:
    """Kill one when the index holds all that it looks for."""
    reached = threading.Event()
    in_its_midst(sites, folder, reached.set)
    options = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
    told = ("-a", "query=quokka", "-a", "job=test", "-a", f"strategy={strategy}", "-s", "FRONTIER_DELAY=0")
    process = scrapy("crawl", "realtime", *options, *told, folder=folder)
    assert reached.wait(PATIENCE_SECONDS)
    process.kill()
    process.communicate()


def in_its_midst(sites: Sites, folder: Path, look: Callable[[], object]) -> None:
    """Call `look` while the search waits for its last page, and all others are in the index."""
    last = page("The end")

    def answer(_: Site) -> Answer:
        until(lambda: sites.similar <= seen_by_all(folder, job="test"), "the others in the index")
        look()
        return last

    sites.far.routes["/last"] = answer


def test_nothing_is_kept_and_the_collection_is_as_it_was(sites: Sites, folder: Path) -> None:
    before, looked = (documents(folder), counts(folder)), list[set[str]]()
    jobs = "", "test", "other"
    in_its_midst(sites, folder, lambda: looked.extend(seen_by_all(folder, job=job) for job in jobs))

    found = search(folder, "keep=no")

    ours = {sites.ours.url + "/more"}
    assert looked == [ours, ours | sites.similar, ours]
    assert {hit["url"] for hit in found["hits"]} == ours | sites.similar
    assert {hit["url"] for hit in found["hits"] if hit["kept"]} == ours
    assert (found["keep"], found["fetched"], found["kept"]) == ("no", 4, 0)
    assert (documents(folder), counts(folder)) == before
    assert seen_by_all(folder) == seen_by_all(folder, job="test") == ours
    assert len(Searcher(folder).rank("site:127.0.0.2")) == 1  # that one of ours links to, as before
    assert len(list((folder / "pages").glob("*.warc.gz"))) == 2


@pytest.mark.parametrize("arguments", [(), ("keep=similar",)], ids=["by default", "similar"])
def test_the_similar_pages_are_kept(sites: Sites, folder: Path, arguments: tuple[str, ...]) -> None:
    before = documents(folder)

    found = search(folder, *arguments)

    assert documents(folder) == before | sites.similar
    assert seen_by_all(folder) == {sites.ours.url + "/more"} | sites.similar
    assert (found["keep"], found["similar"], found["kept"], found["fetched"]) == ("similar", 2, 2, 4)
    assert all(hit["kept"] for hit in found["hits"])


def test_all_pages_are_kept_and_seen_at_once(sites: Sites, folder: Path) -> None:
    before, looked = documents(folder), list[set[str]]()
    in_its_midst(sites, folder, lambda: looked.append(seen_by_all(folder)))

    found = search(folder, "keep=yes")

    assert sites.similar <= looked[0]
    assert documents(folder) == before | sites.found
    assert (found["keep"], found["kept"], found["fetched"]) == ("yes", 4, 4)


def by_example(sites: Sites, folder: Path, *arguments: str) -> Journal:
    """The example links to a page of its kind, and that to another one."""
    sites.near.routes["/quokka"] = page("Quokka, near", sites.far.url + "/")
    example = f"examples={sites.near.url}/quokka"
    return search(folder, example, "strategy=seed-similarity", *arguments, query="query=")


def test_by_examples_alone_they_and_the_pages_of_their_kind_are_kept(sites: Sites, folder: Path) -> None:
    before = documents(folder)

    found = by_example(sites, folder)

    assert documents(folder) == before | sites.similar
    assert (found["keep"], found["similar"], found["kept"], found["fetched"]) == ("similar", 1, 2, 4)


def test_a_search_by_examples_alone_ends_when_enough_of_their_kind_are_found(
    sites: Sites, folder: Path
) -> None:
    sites.far.routes["/last"] = page("The end", "/never")

    found = by_example(sites, folder, "enough=1", "max_pages=50")

    assert (found["reason"], found["similar"]) == ("enough", 1)


def test_what_was_judged_good_stays(sites: Sites, folder: Path) -> None:
    before, good = documents(folder), sites.near.url + "/"
    JudgmentFiles(folder / "feedback").save("marsupials", good, "good")

    found = search(folder, "keep=no")

    assert documents(folder) == before | {good}
    assert found["kept"] == 1


def test_what_an_index_crawl_reaches_stays(sites: Sites, folder: Path) -> None:
    before, reached = documents(folder), sites.near.url + "/quokka"
    job = ("index", f"seeds={reached}", "max_pages=1")
    in_its_midst(sites, folder, lambda: run(folder, *job, process="while another one runs"))

    search(folder, "keep=no")

    assert documents(folder) == before | {reached}
    assert seen_by_all(folder) == {sites.ours.url + "/more", reached}
    assert sites.near.times("/quokka") == 2


def test_links_are_followed_within_its_domains(sites: Sites, folder: Path) -> None:
    before = documents(folder)

    search(folder, "keep=yes", "domains=127.0.0.2")

    assert documents(folder) == before | {sites.near.url + "/", sites.near.url + "/quokka"}


@pytest.mark.parametrize("next_one", ["crawl", "search"])
def test_the_finds_of_a_search_that_was_killed_leave_with_the_next_when_it_was_not_resumed(
    sites: Sites, folder: Path, next_one: str
) -> None:
    before = documents(folder), counts(folder)
    kill_a_search(sites, folder)
    assert documents(folder) > before[0]
    assert seen_by_all(folder) == {sites.ours.url + "/more"}
    lock = search_lock(folder, "test")
    long_ago = lock.stat().st_mtime - RESUMABLE_SECONDS - 1
    os.utime(lock, (long_ago, long_ago))

    if next_one == "crawl":
        run(folder, "index")
    else:
        search(folder, "keep=no", "max_pages=1", query="query=zither")

    assert (documents(folder), counts(folder)) == before
    assert seen_by_all(folder, job="test") == {sites.ours.url + "/more"}
    connect(None, folder).close()  # who leaves last stops the server


@pytest.mark.parametrize(
    ("strategy", "between"), [("breadth", "nothing"), ("breadth", "crawl"), ("adaptive", "nothing")]
)
def test_a_search_that_was_killed_goes_on_by_its_name_and_loses_nothing(
    sites: Sites, folder: Path, strategy: str, between: str
) -> None:
    kill_a_search(sites, folder, strategy)
    sites.far.routes["/last"] = page("The end")
    asked = {site: site.times("/") for site in sites}
    if between == "crawl":
        run(folder, "index")

    done = run(folder, "realtime", "job=test")

    assert "going on with the search test: 3 pages are there" in done.log
    found = journal.read(folder, "test")
    assert found and (found["query"], found["reason"]) == ("quokka", "nothing_left")
    assert (found["fetched"], found["similar"], found["kept"]) == (4, 2, 2)
    assert {hit["url"] for hit in found["hits"] if hit["source"] == "web"} == sites.similar
    assert seen_by_all(folder) == {sites.ours.url + "/more", *sites.similar}
    assert {site: site.times("/") for site in sites} == asked  # nothing is fetched twice
    connect(None, folder).close()


def test_a_name_that_is_given_to_another_question_begins_anew(sites: Sites, folder: Path) -> None:
    before = documents(folder)
    kill_a_search(sites, folder)
    sites.far.routes["/last"] = page("The end")

    found = search(folder, "keep=no", query="query=zither")

    assert found["query"] == "zither"
    assert documents(folder) == before
