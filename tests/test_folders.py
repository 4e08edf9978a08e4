"""CRAWL_DIR=a:b: several data folders are searched as if one crawl had filled one folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from conftest import Run, examples
from dumped import dumped
from failpoints import HOOK
from hypothesis import given, settings
from hypothesis import strategies as st
from localweb import scrapy
from searched import FETCHED, entry, publish
from test_serve_command import refused, serving
from waiting import until

from webcrawler.archive.catalog import Catalog, Position, compact
from webcrawler.background import MERGER
from webcrawler.folders import MergedView, copy_news
from webcrawler.index import indexed_documents
from webcrawler.index.follower import lag
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.scope import Scope, change
from webcrawler.search import Searcher
from webcrawler.urls import server, url_id

WORD = "wombat"


def named(*folders: Path) -> Path:
    """As CRAWL_DIR names them."""
    return Path(os.pathsep.join(map(str, folders)))


def view_in(cache: Path, *folders: Path) -> MergedView:
    return MergedView.find(list(map(str, folders)), str(cache))


def view_of(cache: Path, *folders: Path) -> MergedView:
    view = view_in(cache, *folders)
    assert view.bring_up_to_date(lambda step, done, total: None)
    return view


def found(view: MergedView, query: str = WORD) -> set[str]:
    return {hit.url for hit in Searcher(view.folder, deadline_seconds=60).search(query).hits}


def link(url: str, anchor: str = "") -> Link:
    return Link(url, url_id(url), url, anchor)


def fetched(url: str, when: int, says: str | None, *links: Link) -> Entry:
    """A document that says this, or nothing there."""
    lease = Lease(url_id(url), url, url, server(url), token=when)
    state, reason = ("failed", "not-found") if says is None else ("done", "document")
    fetch = Fetch(lease, state, reason, FETCHED + when, status=200 if says else 404)
    if says is None:
        return Entry(fetch)
    return Entry(fetch, sha1(says.encode()).digest(), links=links, text=Text(says, "", "", "", says))


def write(folder: Path, *entries: Entry) -> None:
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        for one in entries:
            catalog.write([(one, None)])


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with a page of their own each, and a page that both know."""
    folders = tmp_path / "a", tmp_path / "b"
    for n, folder in enumerate(folders, 1):
        own, both = f"http://{folder.name}.test/", "http://both.test/"
        write(folder, fetched(own, n, f"{WORD} of {folder.name}"), fetched(both, n, f"{WORD} {n}", link(own)))
    return folders


# ---- as one folder


@pytest.mark.parametrize(
    ("bounds", "shown"),
    [
        ([("a.test",), ("b.test", "c.test")], True),
        ([("a.test",), ("b.test",)], False),
        ([("a.test",), ()], True),
        ([("a.test",), None], True),
    ],
)
def test_a_page_that_nobody_fetched_is_shown_within_the_domains_of_any_folder(
    tmp_path: Path, bounds: list[tuple[str, ...] | None], shown: bool
) -> None:
    never, folders = "http://c.test/", (tmp_path / "a", tmp_path / "b")
    for n, (folder, domains) in enumerate(zip(folders, bounds, strict=True)):
        write(folder, fetched(f"http://{folder.name}.test/", n, f"page {n}", link(never, WORD)))
        if domains is not None:
            change(folder, lambda scope, own=domains: replace(scope, domains=own))  # type: ignore[misc]

    assert (never in found(view_of(tmp_path / "cache", *folders), f"{WORD} is:uncrawled")) == shown


STEP = st.tuples(
    st.integers(0, 5),  # which URL: the even ones are of one folder, the odd ones of the other
    st.sampled_from([None, "one", "two", "three"]),
    st.lists(st.integers(0, 7), max_size=3, unique=True),
)


def url(n: int) -> str:
    return f"http://{'ab'[n % 2]}.site.test/{n}"


def told(folder: Path) -> dict[str, Any]:
    """What catalogs have by URL. Why a fetch brought a duplicate depends on who had been asked before."""
    tables = dumped(folder)
    fetches = [(*row[:4], *row[5:]) for row in tables["fetches"]]
    return {name: tables[name] for name in ("urls", "documents", "links", "texts")} | {"fetches": fetches}


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(st.lists(st.lists(STEP, max_size=4, unique_by=lambda step: step[0]), max_size=3))  # changes are seen
def test_whenever_it_is_brought_up_to_date_it_has_what_one_folder_would_have(
    days: Sequence[Sequence[Any]],
) -> None:
    with TemporaryDirectory() as name, ExitStack() as opened:
        one, view, *parts = (
            opened.enter_context(closing(Catalog(Path(name) / folder / "catalog.sqlite")))
            for folder in ("one", "view", "a", "b")
        )
        when, before = 0, [Position("") for _ in parts]
        for day in days:
            for n, says, targets in day:
                when += 1
                page = fetched(url(n), when, says, *(link(url(m), f"to {m}") for m in targets))
                one.write([(page, None)])
                parts[n % 2].write([(page, None)])
            copy_news(parts, before, view, lambda step, done, total: None)
            before = [part.source.position() for part in parts]

            assert told(Path(name) / "view") == told(Path(name) / "one")


# ---- what changes


def test_the_next_search_sees_what_has_changed(two: tuple[Path, Path], tmp_path: Path, run: Run) -> None:
    def search() -> str:
        return run("search", WORD, "-s", f"MERGED_DIR={tmp_path}", folder=named(*two)).out

    first = search()
    write(two[1], fetched("http://new.test/", 9, f"a new {WORD}"), fetched("http://b.test/", 9, None))
    write(two[1], fetched("http://b.test/", 9_000, None))  # it is believed the second time

    second = search()

    assert "http://b.test/" in first and "http://b.test/" not in second
    assert "http://new.test/" not in first and "http://new.test/" in second


def test_the_newest_fetch_decides_what_a_page_says(two: tuple[Path, Path], tmp_path: Path) -> None:
    assert found(view_of(tmp_path, *two), f'"{WORD} 2"') == {"http://both.test/"}

    write(two[0], fetched("http://both.test/", 3, f"{WORD} 3"))

    view = view_of(tmp_path, *two)
    assert found(view, f'"{WORD} 3"') == {"http://both.test/"} and not found(view, f'"{WORD} 2"')


def test_a_page_that_one_folder_gives_up_is_that_of_the_other(two: tuple[Path, Path], tmp_path: Path) -> None:
    view_of(tmp_path, *two)
    with closing(Catalog(two[1] / "catalog.sqlite")) as catalog:
        both = catalog.find("http://both.test/")
        assert both
        catalog.discard([both.number])

    assert found(view_of(tmp_path, *two), f'"{WORD} 1"') == {"http://both.test/"}


def test_what_any_folder_has_removed_is_not_shown_until_all_let_it_in(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    change(two[0], lambda _: Scope(removed=("http://both.test/*",)))
    assert found(view_of(tmp_path, *two)) == {"http://a.test/", "http://b.test/"}

    change(two[1], lambda _: Scope(removed=("http://b.test/*",)))
    assert found(view_of(tmp_path, *two)) == {"http://a.test/"}

    for folder in two:
        change(folder, lambda _: Scope())
    assert found(view_of(tmp_path, *two)) == {"http://a.test/", "http://b.test/", "http://both.test/"}


def test_a_server_that_any_folder_blocks_is_not_shown(two: tuple[Path, Path], tmp_path: Path) -> None:
    view_of(tmp_path, *two)
    with closing(Catalog(two[0] / "catalog.sqlite")) as catalog:
        catalog.block("http://both.test")
        assert found(view_of(tmp_path, *two)) == {"http://a.test/", "http://b.test/"}
        write(two[1], fetched("http://both.test/2", 9, WORD))
        kept = {row[0] for row in told(view_of(tmp_path, *two).folder)["documents"]}
        assert kept == {"http://a.test/", "http://b.test/"}

        catalog.unblock("http://both.test")

    assert "http://both.test/2" in found(view_of(tmp_path, *two))


def test_finds_of_a_search_of_the_web_are_not_shown(two: tuple[Path, Path], tmp_path: Path) -> None:
    find = fetched("http://find.test/", 9, WORD), fetched("http://both.test/", 9, f"{WORD} 9")
    with closing(Catalog(two[0] / "catalog.sqlite", job="search")) as catalog:
        catalog.write([(find[0], None)])
        assert "http://find.test/" not in found(view_of(tmp_path, *two))

        catalog.discard_finds([url_id("http://find.test/")])  # it is kept

    assert "http://find.test/" in found(view_of(tmp_path, *two))


@pytest.mark.parametrize("what", ["purged", "made anew"])
def test_a_folder_whose_past_is_another_one_is_taken_in_anew(
    two: tuple[Path, Path], tmp_path: Path, what: str
) -> None:
    before = view_of(tmp_path, *two).folder.resolve()
    if what == "purged":
        compact(two[1] / "catalog.sqlite")
    else:
        rmtree(two[1])
        write(two[1], fetched("http://other.test/", 1, WORD))

    view = view_of(tmp_path, *two)

    assert view.folder.resolve() != before and not before.exists()
    assert ("http://other.test/" in found(view)) == (what == "made anew")
    assert "http://a.test/" in found(view)


# ---- who waits for whom


def test_nothing_is_done_where_nothing_has_changed(two: tuple[Path, Path], tmp_path: Path) -> None:
    steps: list[str] = []
    view = view_of(tmp_path, *two)

    again = view_in(tmp_path, two[1], two[0])
    again.bring_up_to_date(lambda step, done, total: steps.append(step))

    assert steps == [] and again.folder == view.folder and not again.behind()


def test_several_may_ask_at_the_same_time_for_what_nobody_has_made(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    def ask(_: int) -> set[str]:
        view = view_in(tmp_path, *two)
        view.bring_up_to_date(lambda step, done, total: None)
        return found(view)

    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(ask, range(3)))

    assert answers == [{"http://a.test/", "http://b.test/", "http://both.test/"}] * 3


def test_while_another_process_is_at_it_the_old_view_is_read(two: tuple[Path, Path], tmp_path: Path) -> None:
    view = view_of(tmp_path, *two)
    write(two[0], fetched("http://new.test/", 9, WORD))
    with MERGER.at_work(view.place):
        assert not view.bring_up_to_date(lambda step, done, total: None)

    assert "http://new.test/" not in found(view) and view.behind()


def searched_until(failpoint: str, folders: tuple[Path, Path], cache: Path) -> int:
    """The exit status of a search that is killed there."""
    armed = {"FAILPOINTS": failpoint, "PYTHONPATH": HOOK, "MERGED_DIR": cache}
    killed = scrapy("search", WORD, folder=named(*folders), **armed)
    killed.communicate()
    return killed.returncode


@pytest.mark.slow
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    "failpoint",
    ["catalog.before-commit:kill", "catalog.statement:kill:3", "index.read:kill", "anchors.read:kill"],
)
def test_killed_at_any_step_it_leaves_a_whole_view_or_none_and_may_be_repeated(
    two: tuple[Path, Path], tmp_path: Path, failpoint: str, is_first: bool
) -> None:
    if not is_first:
        view_of(tmp_path / "cache", *two)
        write(two[1], fetched("http://new.test/", 9, WORD), fetched("http://both.test/", 9, WORD))

    assert searched_until(failpoint, two, tmp_path / "cache") == -9

    view = view_in(tmp_path / "cache", *two)
    assert view.folder.exists() != is_first
    again, fresh = view_of(tmp_path / "cache", *two), view_of(tmp_path / "other", *two)
    assert told(again.folder) == told(fresh.folder)
    assert found(again) == found(fresh)
    assert len([path for path in view.place.iterdir() if path.is_dir()]) == 2  # the view, and the link to it


@pytest.mark.slow
def test_killed_while_it_takes_a_removed_page_out_the_next_one_does_the_rest(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    view_of(tmp_path / "cache", *two)
    change(two[0], lambda _: Scope(removed=("http://both.test/*",)))
    searched_until("index.read:kill", two, tmp_path / "cache")

    view = view_of(tmp_path / "cache", *two)

    assert not lag(view.folder) and indexed_documents(view.folder / "index") == 2


# ---- commands


@pytest.mark.parametrize(
    "command",
    [
        *("crawl index -a seeds=http://a.test/", "reindex", "rank", "rebuild", "report", "freshness"),
        *("remove http://a.test/", "frontier clear", "frontier rebuild", "merge a b c"),
        *("import x.warc.gz", "export x.warc.gz"),
    ],
)
def test_what_does_not_search_refuses_several_folders_in_one_line(
    two: tuple[Path, Path], run: Run, command: str
) -> None:
    answer = run(*command.split(), folder=named(*two))

    line = "error: CRAWL_DIR names 2 folders, for search and serve only: name one, or merge them\n"
    assert answer == (2, "", line)


def test_a_folder_that_is_there_may_have_the_separator_in_its_name(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "a:b"
    publish(folder, [entry(("http://a.test/", "A wombat", "digs"))])

    assert "http://a.test/" in run("search", WORD, folder=folder).out


def test_a_folder_without_a_catalog_is_named(two: tuple[Path, Path], tmp_path: Path, run: Run) -> None:
    none = tmp_path / "none"

    answer = run("search", WORD, "-s", f"MERGED_DIR={tmp_path}", folder=named(two[0], none))

    assert answer.status == 2
    assert answer.err.startswith(f"error: there is no catalog in {none}") and answer.err.count("\n") == 1


@pytest.mark.slow
def test_the_server_answers_from_all_folders_and_follows_them(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERGED_DIR", str(tmp_path / "cache"))
    with serving(named(*two)) as (_, address):

        def hits() -> set[str]:
            found = httpx.get(f"{address}/api/search?q={WORD}", timeout=60).json()
            return hits() if found["partial"] else {hit["url"] for hit in found["hits"]}

        assert hits() == {"http://a.test/", "http://b.test/", "http://both.test/"}
        assert httpx.get(f"{address}/api/status").json()["folders"] == list(map(str, two))
        assert str(two[1]) in httpx.get(f"{address}/status").text
        answer = httpx.post(f"{address}/live", data={"q": WORD}, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 403 and "several folders" in answer.text

        write(two[1], fetched("http://new.test/", 9, WORD))
        change(two[0], lambda _: Scope(removed=("http://both.test/*",)))
        until(lambda: hits() == {"http://a.test/", "http://b.test/", "http://new.test/"}, "the news")
        change(two[0], lambda _: Scope())  # the view is made anew
        until(lambda: "http://both.test/" in hits(), "the new view")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value"),
    [("SERVE_FEEDBACK", "yes"), ("QUERY_LOG_DAYS", "30"), ("SERVE_PAGES_TOKEN", "0123456789abcdef")],
)
def test_a_server_of_several_folders_takes_nothing_in(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, setting: str, value: str
) -> None:
    monkeypatch.setenv(setting, value)

    status, said = refused(named(*two), "--port", "0")

    assert status == 2 and said.count("\n") == 1
    assert said.startswith(f"error: {setting} writes what comes in: CRAWL_DIR names 2 folders")
