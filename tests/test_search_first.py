"""A real-time search beside a crawl has its pages in the index first, whoever started the follower."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from localweb import Answer, Site, scrapy, sites
from test_follower import found, page, urls, write
from test_realtime import WITH_INDEX, document, search
from waiting import holder, until

from webcrawler.archive.catalog import Catalog
from webcrawler.background import FOLLOWER, hold_crawl, hold_search
from webcrawler.index import applied_seq, follower, newest_seq
from webcrawler.index.changes import Follower

BACKLOG = 1200


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "catalog.sqlite")
    yield opened
    opened.close()


# ---- the order of the changes


SOME_ORDERS = [
    "page page search page page early backlog backlog backlog step step",
    "page search page early page early page early step step step step",
    "page page search page early change early backlog search page early step step",
    "page search page page early die early step search change early backlog step",
]


@pytest.mark.parametrize("steps", SOME_ORDERS)
def test_what_comes_early_and_what_is_left_are_all_that_came(tmp_path: Path, steps: str) -> None:
    apply_in_order(tmp_path, steps.split())


def test_what_came_since_a_search_began_is_committed_before_what_a_crawl_left(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, *(page(f"page{i}", "backlog") for i in range(BACKLOG)))
    began = catalog.last_seq()
    write(catalog, page("find", "quokka"))

    with Follower(tmp_path) as following, hold_search(tmp_path, began):
        following.run(lambda: True, stopped=lambda: bool(found(tmp_path, "quokka")))

    assert found(tmp_path, "backlog") == []
    assert (applied_seq(tmp_path / "index"), newest_seq(tmp_path / "index")) == (0, catalog.last_seq())


@pytest.mark.slow
def test_what_a_crawl_left_is_committed_while_a_search_goes_on_and_has_what_it_needs(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, *(page(f"page{i}", "backlog") for i in range(BACKLOG)))

    with Follower(tmp_path) as following, hold_search(tmp_path, catalog.last_seq()):
        following.run(lambda: True, stopped=lambda: applied_seq(tmp_path / "index") == catalog.last_seq())

    assert len(found(tmp_path, "backlog")) == BACKLOG


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["page", "change", "search", "early", "backlog", "step", "die"]), max_size=40)
)
@settings(max_examples=examples(30), deadline=None)
def test_in_whatever_order_changes_are_applied_the_index_holds_what_the_catalog_holds(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    apply_in_order(tmp_path_factory.mktemp("order"), steps)


def apply_in_order(folder: Path, steps: list[str]) -> None:
    """Let an index follow these steps, and hold it against the catalog at the end."""
    numbers, held = count(), []
    catalog = Catalog(folder / "catalog.sqlite")
    following = Follower(folder)
    names, changed = set[str](), set[str]()
    for step in steps:
        match step:
            case "page":
                names.add(name := f"page{next(numbers)}")
                write(catalog, page(name, f"{name} first"))
            case "change" if names:
                changed.add(name := min(names))
                write(catalog, page(name, f"{next(numbers)} modern", fetched=2.0 + next(numbers)))
            case "search":
                held.append(hold_search(folder, catalog.last_seq()))
                following.put_newest_first()
            case "early":
                following.step_early()
            case "backlog" | "step":
                following.step(limit=1 if step == "backlog" else 500)
            case "die":  # what was not committed is forgotten
                following = Follower(folder)
        assert applied_seq(folder / "index") <= newest_seq(folder / "index") <= catalog.last_seq()
    following.catch_up()

    assert urls(folder) == sorted(names)
    assert set(found(folder, "modern")) == changed
    assert applied_seq(folder / "index") == newest_seq(folder / "index") == catalog.last_seq()


# ---- who applies them


def priority(process: subprocess.Popen[bytes]) -> int:
    return os.getpriority(os.PRIO_PROCESS, process.pid)


@contextmanager
def ending(process: subprocess.Popen[bytes] | None) -> Iterator[None]:
    assert process is not None
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_search_replaces_a_follower_of_lower_priority_and_leaves_one_of_the_lowest(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, page("page", "word"))
    with hold_crawl(tmp_path), ending(of_crawl := FOLLOWER.ensure_started(tmp_path)):
        assert of_crawl is not None
        until(lambda: holder(tmp_path, FOLLOWER) == of_crawl.pid, "the follower of the crawl")
        os.kill(of_crawl.pid, signal.SIGSTOP)  # as on a machine where others take all of the processors
        searched = hold_search(tmp_path)

        with ending(of_search := FOLLOWER.ensure_started(tmp_path, in_hurry=True)):
            assert of_search is not None
            until(lambda: holder(tmp_path, FOLLOWER) == of_search.pid, "the follower of the search")
            assert priority(of_search) == os.nice(0)
            assert of_crawl.wait() == -signal.SIGKILL
            assert FOLLOWER.ensure_started(tmp_path, in_hurry=True) is None

            searched.close()
            until(lambda: priority(of_search) == follower.LOWEST, "its lowest priority")


# ---- the whole


def _endless(site: Site, over: threading.Event) -> Answer:
    """Some hundred pages; the next ones come when it is over, so that their crawl lasts."""
    number = len(site.asked)
    if number > 250:
        over.wait()
    links = {f"p{number}_{i}": f"on {i}" for i in range(3)}
    return document(f"Page {number}", f"backlog {number} " * 50, **links)


@pytest.mark.slow
def test_a_search_beside_a_crawl_whose_follower_starves_finds_what_it_finds_alone(tmp_path: Path) -> None:
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
            os.kill(holder(beside, FOLLOWER), signal.SIGSTOP)
            until(lambda: len(web["crawled"].asked) > 200, "many pages")
            _, journal = search(beside, *words, process="leaves its follower to the crawl")
            assert crawl.poll() is None
        finally:
            over.set()
            crawl.send_signal(signal.SIGINT)
            crawl.communicate(timeout=240)

    assert {hit["url"] for hit in journal["hits"]} == wanted
    assert journal["reason"] == "nothing_left"
    follower.wait_until_caught_up(beside)


@pytest.mark.slow
def test_a_search_whose_follower_is_killed_starts_another_and_finds_the_same(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(_: Site) -> Answer:
        killed.append(until(lambda: holder(tmp_path / "killed", FOLLOWER), "the follower"))
        os.kill(killed[-1], signal.SIGKILL)
        return document("Last", "quokka")

    pages = {f"/q{i}": document(f"q{i}", f"quokka q{i} " * (i + 1), last="the last quokka") for i in range(9)}
    start = document("Quokkas", "quokka", **{path[1:]: "quokka" for path in pages})
    with sites(searched={"/": start, **pages, "/last": document("Last", "quokka")}) as web:
        words = (f"seeds={web['searched'].url}/", "enough=0")
        wanted = {hit["url"] for hit in search(tmp_path / "alone", *words)[1]["hits"]}
        web["searched"].routes["/last"] = kill
        _, journal = search(tmp_path / "killed", *words, process="its follower is killed")

    assert {hit["url"] for hit in journal["hits"]} == wanted
    assert len(killed) == 1 and holder(tmp_path / "killed", FOLLOWER) not in (0, *killed)
