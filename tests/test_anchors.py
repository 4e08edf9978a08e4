"""What others call a page: a view of the links, which no document is rewritten for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import failpoints
import pytest
from crawled import fetched, link
from whoosh.index import open_dir
from whoosh.query import Phrase

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live, Reading, changes, follower
from webcrawler.index.changes import Follower
from webcrawler.index.whoosh import Anchored, hit_encoding
from webcrawler.index.whoosh.folder import applied_seq
from webcrawler.records import Entry, Fetch, Lease, Link
from webcrawler.urls import server, url_id

A, B, C = "http://a.example", "http://b.example", "http://c.example"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "catalog.sqlite")
    yield opened
    opened.close()


def page(url: str, *links: Link, time: float = 1.0, noindex: bool = False, content: str = "") -> Entry:
    fetch = Fetch(
        Lease(url_id(url), url, url, server(url), 1),
        "done",
        "document",
        time,
        status=200,
        headers=(("Content-Type", "text/html"),),
    )
    found = fetched(url, *links)
    return Entry(fetch, (content or url).encode(), links=found.links, text=found.text, noindex=noindex)


def gone(url: str, time: float = 2.0) -> Entry:
    lease = Lease(url_id(url), url, url, server(url), 1)
    return Entry(Fetch(lease, "failed", "not-found", time, status=410))


def write(catalog: Catalog, *entries: Entry) -> None:
    catalog.write([(entry, None) for entry in entries])


def follow(folder: Path) -> None:
    with Follower(folder) as following:
        following.catch_up()


def reading(folder: Path) -> Reading:
    opened = Live(folder).reading()
    assert opened is not None
    return opened


def called(folder: Path, word: str, field: str = "anchor") -> dict[str, int]:
    """URL to how often a word counts in what others call it."""
    posted = reading(folder).posted(field, word)
    catalog = Catalog(folder / "catalog.sqlite", readonly=True)
    urls = catalog.urls.of(posted.pages.tolist())
    catalog.close()
    return {urls[page]: int(count) for page, count in zip(posted.pages.tolist(), posted.counts, strict=True)}


# Whose anchors


def test_a_page_is_found_by_what_others_call_it_though_it_was_never_fetched(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "red giants"), link(f"{A}/own", "dwarf stars")))

    follow(tmp_path)

    assert called(tmp_path, "giant") == {f"{B}/": 1}
    assert called(tmp_path, "dwarf") == {f"{A}/own": 1}


def test_cited_is_what_pages_of_other_servers_say(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "red giants"), link(f"{A}/own", "dwarf stars")))

    follow(tmp_path)

    assert called(tmp_path, "giant", "cited") == {f"{B}/": 1}
    assert called(tmp_path, "dwarf", "cited") == {}


def test_links_marked_nofollow_and_those_without_words_say_nothing(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell", rel="nofollow"), link(f"{C}/", " \n ")))

    follow(tmp_path)

    assert called(tmp_path, "cell") == {}
    assert applied_seq(tmp_path / "anchors") == catalog.last_seq()


def test_what_a_redirect_is_called_counts_for_the_page_it_leads_to(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/old", "cell")))
    write(catalog, fetched(f"{B}/old", reason="redirect", target=f"{B}/older"))
    write(catalog, fetched(f"{B}/older", reason="redirect", target=f"{B}/new"))

    follow(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/new": 1}


def test_redirects_in_a_circle_end(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/1", "cell")))
    write(catalog, fetched(f"{B}/1", reason="redirect", target=f"{B}/2"))
    write(catalog, fetched(f"{B}/2", reason="redirect", target=f"{B}/1"))

    follow(tmp_path)

    assert called(tmp_path, "cell") == {}


def test_what_a_duplicate_is_called_counts_for_the_original(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{B}/one", content="same"), page(f"{B}/two", content="same"))
    write(
        catalog, page(f"{A}/", link(f"{B}/two", "cell")), page("http://c.example/", link(f"{B}/one", "gene"))
    )

    follow(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/one": 1}


def test_pages_that_are_not_to_be_found_are_not_found_by_their_anchors_either(
    tmp_path: Path, catalog: Catalog
) -> None:
    names = ("gone", "private", "blocked")
    urls = {name: f"http://{name}.example/" for name in names}
    write(catalog, page(f"{A}/", *(link(url, f"cell {name}") for name, url in urls.items())))
    follow(tmp_path)
    assert sorted(called(tmp_path, "cell")) == sorted(urls.values())

    write(catalog, page(urls["private"], noindex=True), gone(urls["gone"]))
    catalog.block("http://blocked.example")
    follow(tmp_path)

    assert called(tmp_path, "cell") == {}


# How often


def test_a_text_counts_once_more_each_time_that_twice_as_many_pages_use_it(
    tmp_path: Path, catalog: Catalog
) -> None:
    sources = [f"http://s{i}.example/" for i in range(9)]
    for number, source in enumerate(sources):
        targets = [f"{B}/{least}" for least in (1, 2, 3, 4, 8, 9) if number < least]
        write(catalog, page(source, *(link(target, "cell") for target in targets)))

    follow(tmp_path)

    counts = {f"{B}/1": 1, f"{B}/2": 2, f"{B}/3": 2, f"{B}/4": 3, f"{B}/8": 4, f"{B}/9": 4}
    assert called(tmp_path, "cell") == called(tmp_path, "cell", "cited") == counts


def test_all_pages_of_its_own_server_count_as_one(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, *(page(f"{B}/{i}", link(f"{B}/home", "cell")) for i in range(20)))

    follow(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/home": 1}


def test_a_page_keeps_the_texts_that_most_use(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_TEXTS", 1)
    write(catalog, page(f"{A}/1", link(f"{B}/", "rare cell")), page(f"{A}/2", link(f"{B}/", "star")))
    write(catalog, page(f"{C}/", link(f"{B}/", "star")))

    follow(tmp_path)

    assert called(tmp_path, "rare") == {}
    assert called(tmp_path, "star") == {f"{B}/": 2}


def test_no_phrase_and_no_neighbourhood_spans_two_texts(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{C}/", "red")), page(f"{B}/", link(f"{C}/", "giant " * 50)))

    follow(tmp_path)

    posted = {word: reading(tmp_path).posted("anchor", word) for word in ("red", "giant")}
    places = {word: one.values.flat().positions.tolist() for word, one in posted.items()}
    assert places["red"] == [64]
    assert places["giant"] == list(range(32))
    with open_dir(str(tmp_path / "anchors")).searcher() as searcher:
        assert len(searcher.search(Phrase("anchor", ["giant", "red"], slop=30))) == 0
        assert len(searcher.search(Phrase("anchor", ["giant", "giant"]))) == 1


def test_hit_lists_of_anchors_keep_places_capitals_and_repeats() -> None:
    lists = hit_encoding.anchor_lists((("The Cell", 2), ("cell wall", 1)))

    found = {term: [(hit >> 4, bool(hit & 1)) for hit in packed] for term, packed in lists.items()}
    assert found == {
        "the": [(0, True), (64, True)],
        "cell": [(1, True), (65, True), (128, False)],
        "wall": [(129, False)],
    }


# Changes


@pytest.mark.parametrize(
    "links",
    [(), (link(f"{C}/", "cell"),), (link(f"{B}/", "cell", rel="nofollow"),), (link(f"{B}/", "star"),)],
    ids=["no link", "another link", "nofollow", "another text"],
)
def test_a_link_that_vanished_says_nothing_any_more(
    tmp_path: Path, catalog: Catalog, links: tuple[Link, ...]
) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)
    assert f"{B}/" in called(tmp_path, "cell")

    write(catalog, page(f"{A}/", *links, time=2.0))
    follow(tmp_path)

    assert f"{B}/" not in called(tmp_path, "cell")


def test_links_of_a_page_that_is_gone_vanish(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")), page(f"{C}/"))
    follow(tmp_path)

    write(catalog, gone(f"{A}/"))
    follow(tmp_path)

    assert called(tmp_path, "cell") == {}


def test_a_redirect_that_leads_elsewhere_takes_its_names_along(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/moving", "cell")))
    write(catalog, fetched(f"{B}/moving", reason="redirect", target=f"{B}/one"))
    follow(tmp_path)
    assert called(tmp_path, "cell") == {f"{B}/one": 1}

    moved = fetched(f"{B}/moving", reason="redirect", target=f"{B}/two")
    write(catalog, replace(moved, fetch=replace(moved.fetch, fetched=2.0)))
    follow(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/two": 1}


def test_a_new_link_rewrites_no_document(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{B}/"))
    follow(tmp_path)
    before = {path.name for path in (tmp_path / "index").glob("*.seg")}

    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/": 1}
    assert before <= {path.name for path in (tmp_path / "index").glob("*.seg")}


@pytest.mark.slow
def test_step_by_step_and_at_once_come_to_the_same(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pages that come, change and go, and two pages to a commit."""
    monkeypatch.setattr(changes, "ANCHOR_PAGES", 2)
    for time in range(1, 4):
        for name in "abcd":
            targets = [f"http://{other}.example/{time % 3}" for other in "abcd" if other != name]
            texts = [f"word{time % 2} {other}" for other in "xyz"]
            links = (link(target, text) for target, text in zip(targets, texts, strict=True))
            write(catalog, page(f"http://{name}.example/", *links, time=float(time)))
        follow(tmp_path)
    step_by_step = everything(tmp_path)

    follower.reindex(tmp_path)

    assert everything(tmp_path) == step_by_step != {}


def everything(folder: Path) -> dict[tuple[str, str], dict[str, int]]:
    terms = {
        (field, term) for field in ("anchor", "cited") for term, _ in reading(folder).frequencies(field, "")
    }
    found = {(field, term): called(folder, term, field) for field, term in terms}
    return {key: pages for key, pages in found.items() if pages}


def test_pages_never_fetched_go_with_their_blocked_server_and_come_back(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)

    catalog.block(B)
    follow(tmp_path)
    assert called(tmp_path, "cell") == {}

    catalog.unblock(B)
    follow(tmp_path)
    assert called(tmp_path, "cell") == {f"{B}/": 1}


def test_a_page_never_fetched_that_is_not_there_is_not_found_though_nothing_else_happens(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)

    write(catalog, gone(f"{B}/"))
    follow(tmp_path)
    assert called(tmp_path, "cell") == {}

    seq = catalog.last_seq()
    write(catalog, gone(f"{B}/", time=3.0))
    assert catalog.last_seq() == seq  # that it is still not there is no news


# Kills


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "passing"),
    [("anchors.read", 1), ("anchors.read", 2), ("anchors.committed", 1), ("index.written", 2)],
)
def test_a_killed_follower_loses_and_doubles_nothing(
    tmp_path: Path, catalog: Catalog, name: str, passing: int
) -> None:
    for number in range(12):
        write(catalog, page(f"http://s{number}.example/", *(link(f"{B}/{i}", f"cell{i}") for i in range(8))))
    code = (
        "import sys; from pathlib import Path; from webcrawler.index import changes, follower;"
        "changes.ANCHOR_PAGES = 4; sys.exit(follower.main(sys.argv[1:]))"
    )
    run = [sys.executable, "-c", code, str(tmp_path), "--once"]

    killed = subprocess.run(
        run, env=os.environ | failpoints.environment(f"{name}:kill:{passing}"), check=False
    )
    again = subprocess.run(run, check=False)

    assert (killed.returncode, again.returncode) == (-9, 0)
    assert [called(tmp_path, f"cell{i}") for i in range(8)] == [{f"{B}/{i}": 4} for i in range(8)]
    assert applied_seq(tmp_path / "anchors") == applied_seq(tmp_path / "index") == catalog.last_seq()


def test_damaged_anchors_are_made_anew_and_the_index_stays(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)
    before = {path.name for path in (tmp_path / "index").glob("*.seg")}
    (toc,) = (tmp_path / "anchors").glob("*.toc")
    toc.write_bytes(b"torn")

    follower.wait_until_caught_up(tmp_path)

    assert called(tmp_path, "cell") == {f"{B}/": 1}
    assert {path.name for path in (tmp_path / "index").glob("*.seg")} == before


def test_reindex_builds_the_anchors_anew_too(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(f"{A}/", link(f"{B}/", "cell")))
    follow(tmp_path)
    with Follower(tmp_path) as following:
        lost = Anchored(99, f"{C}/", C, (("lost", 1),))
        following._engine.commit_anchors([], [lost], catalog.last_seq())

    follower.reindex(tmp_path)

    assert reading(tmp_path).posted("anchor", "lost").pages.tolist() == []
    assert called(tmp_path, "cell") == {f"{B}/": 1}
    assert not (tmp_path / "anchors.new").exists()


def test_only_its_owner_may_enter_the_anchors_folder(tmp_path: Path, catalog: Catalog) -> None:
    follow(tmp_path)

    assert (tmp_path / "anchors").stat().st_mode & 0o777 == 0o700
