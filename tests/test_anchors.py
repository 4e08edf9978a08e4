"""What others call a page: a view of the links, which no document is rewritten for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import failpoints
import pytest
from crawled import fetched, link
from whoosh.index import open_dir
from whoosh.query import Phrase

from webcrawler.archive.catalog import Catalog
from webcrawler.index import Live, Reading, follower, schema
from webcrawler.index.folder import applied_seq
from webcrawler.index.follower import Follower
from webcrawler.index.hits import anchor_lists
from webcrawler.index.schema import Anchored
from webcrawler.records import Entry, Fetch, Lease, Link
from webcrawler.urls import server, url_id

A, B, C = "http://a.example", "http://b.example", "http://c.example"


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


class Crawl:
    """A data folder: what was fetched into its catalog, and what its index makes of that."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.catalog = folder, Catalog(folder / "catalog.sqlite")

    def write(self, *entries: Entry) -> None:
        self.catalog.write([(entry, None) for entry in entries])

    def follow(self) -> None:
        with closing(Follower(self.folder)) as following:
            following.catch_up()

    def index(self, *entries: Entry) -> None:
        """Write them, and have the index follow."""
        self.write(*entries)
        self.follow()

    def reading(self) -> Reading:
        opened = Live(self.folder).reading()
        assert opened is not None
        return opened

    def called(self, word: str, field: str = "anchor") -> dict[str, int]:
        """URL to how often a word counts in what others call it."""
        posted = self.reading().posted(field, word)
        urls = self.catalog.urls.of(posted.pages.tolist())
        return {urls[page]: int(n) for page, n in zip(posted.pages.tolist(), posted.counts, strict=True)}

    def segments(self) -> set[str]:
        """Of the documents."""
        return {path.name for path in (self.folder / "index").glob("*.seg")}


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    crawl = Crawl(tmp_path)
    yield crawl
    crawl.catalog.close()


# Whose anchors


def test_a_page_never_fetched_is_found_by_what_others_call_it_and_cited_by_other_servers_only(
    crawl: Crawl,
) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "red giants"), link(f"{A}/own", "dwarf stars")))

    assert crawl.called("giant") == crawl.called("giant", "cited") == {f"{B}/": 1}
    assert crawl.called("dwarf") == {f"{A}/own": 1}
    assert crawl.called("dwarf", "cited") == {}


def test_links_marked_nofollow_and_those_without_words_say_nothing(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell", rel="nofollow"), link(f"{C}/", " \n ")))

    assert crawl.called("cell") == {}
    assert applied_seq(crawl.folder / "anchors") == crawl.catalog.last_seq()


def test_what_a_redirect_is_called_counts_for_the_page_it_leads_to(crawl: Crawl) -> None:
    crawl.write(page(f"{A}/", link(f"{B}/old", "cell")))
    crawl.write(fetched(f"{B}/old", reason="redirect", target=f"{B}/older"))
    crawl.index(fetched(f"{B}/older", reason="redirect", target=f"{B}/new"))

    assert crawl.called("cell") == {f"{B}/new": 1}


def test_redirects_in_a_circle_end(crawl: Crawl) -> None:
    crawl.write(page(f"{A}/", link(f"{B}/1", "cell")))
    crawl.write(fetched(f"{B}/1", reason="redirect", target=f"{B}/2"))
    crawl.index(fetched(f"{B}/2", reason="redirect", target=f"{B}/1"))

    assert crawl.called("cell") == {}


def test_what_a_duplicate_is_called_counts_for_the_original(crawl: Crawl) -> None:
    crawl.write(page(f"{B}/one", content="same"), page(f"{B}/two", content="same"))
    crawl.index(page(f"{A}/", link(f"{B}/two", "cell")), page("http://c.example/", link(f"{B}/one", "gene")))

    assert crawl.called("cell") == {f"{B}/one": 1}


def test_pages_that_are_not_to_be_found_are_not_found_by_their_anchors_either(crawl: Crawl) -> None:
    names = ("gone", "private", "blocked")
    urls = {name: f"http://{name}.example/" for name in names}
    crawl.index(page(f"{A}/", *(link(url, f"cell {name}") for name, url in urls.items())))
    assert sorted(crawl.called("cell")) == sorted(urls.values())

    crawl.write(page(urls["private"], noindex=True), gone(urls["gone"]))
    crawl.catalog.block("http://blocked.example")
    crawl.follow()

    assert crawl.called("cell") == {}


# How often


def test_a_text_counts_once_more_each_time_that_twice_as_many_pages_use_it(crawl: Crawl) -> None:
    sources = [f"http://s{i}.example/" for i in range(9)]
    for number, source in enumerate(sources):
        targets = [f"{B}/{least}" for least in (1, 2, 3, 4, 8, 9) if number < least]
        crawl.write(page(source, *(link(target, "cell") for target in targets)))

    crawl.follow()

    counts = {f"{B}/1": 1, f"{B}/2": 2, f"{B}/3": 2, f"{B}/4": 3, f"{B}/8": 4, f"{B}/9": 4}
    assert crawl.called("cell") == crawl.called("cell", "cited") == counts


def test_all_pages_of_its_own_server_count_as_one(crawl: Crawl) -> None:
    crawl.index(*(page(f"{B}/{i}", link(f"{B}/home", "cell")) for i in range(20)))

    assert crawl.called("cell") == {f"{B}/home": 1}


def test_a_page_keeps_the_texts_that_most_use(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MAX_TEXTS", 1)
    crawl.write(page(f"{A}/1", link(f"{B}/", "rare cell")), page(f"{A}/2", link(f"{B}/", "star")))
    crawl.index(page(f"{C}/", link(f"{B}/", "star")))

    assert crawl.called("rare") == {}
    assert crawl.called("star") == {f"{B}/": 2}


def test_no_phrase_and_no_neighbourhood_spans_two_texts(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{C}/", "red")), page(f"{B}/", link(f"{C}/", "giant " * 50)))

    posted = {word: crawl.reading().posted("anchor", word) for word in ("red", "giant")}
    places = {word: one.values.flat().positions.tolist() for word, one in posted.items()}
    assert places["red"] == [64]
    assert places["giant"] == list(range(32))
    with open_dir(str(crawl.folder / "anchors")).searcher() as searcher:
        assert len(searcher.search(Phrase("anchor", ["giant", "red"], slop=30))) == 0
        assert len(searcher.search(Phrase("anchor", ["giant", "giant"]))) == 1


def test_hit_lists_of_anchors_keep_places_capitals_and_repeats() -> None:
    lists = anchor_lists((("The Cell", 2), ("cell wall", 1)))

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
def test_a_link_that_vanished_says_nothing_any_more(crawl: Crawl, links: tuple[Link, ...]) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))
    assert f"{B}/" in crawl.called("cell")

    crawl.index(page(f"{A}/", *links, time=2.0))

    assert f"{B}/" not in crawl.called("cell")


def test_links_of_a_page_that_is_gone_vanish(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")), page(f"{C}/"))

    crawl.index(gone(f"{A}/"))

    assert crawl.called("cell") == {}


def test_a_redirect_that_leads_elsewhere_takes_its_names_along(crawl: Crawl) -> None:
    crawl.write(page(f"{A}/", link(f"{B}/moving", "cell")))
    crawl.index(fetched(f"{B}/moving", reason="redirect", target=f"{B}/one"))
    assert crawl.called("cell") == {f"{B}/one": 1}

    moved = fetched(f"{B}/moving", reason="redirect", target=f"{B}/two")
    crawl.index(replace(moved, fetch=replace(moved.fetch, fetched=2.0)))

    assert crawl.called("cell") == {f"{B}/two": 1}


def test_a_new_link_rewrites_no_document(crawl: Crawl) -> None:
    crawl.index(page(f"{B}/"))
    before = crawl.segments()

    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))

    assert crawl.called("cell") == {f"{B}/": 1}
    assert before <= crawl.segments()


@pytest.mark.slow
def test_step_by_step_and_at_once_come_to_the_same(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pages that come, change and go, and two pages to a commit."""
    monkeypatch.setattr(follower, "ANCHOR_PAGES", 2)
    for time in range(1, 4):
        for name in "abcd":
            targets = [f"http://{other}.example/{time % 3}" for other in "abcd" if other != name]
            texts = [f"word{time % 2} {other}" for other in "xyz"]
            links = (link(target, text) for target, text in zip(targets, texts, strict=True))
            crawl.write(page(f"http://{name}.example/", *links, time=float(time)))
        crawl.follow()
    step_by_step = everything(crawl)

    follower.reindex(crawl.folder)

    assert everything(crawl) == step_by_step != {}


def everything(crawl: Crawl) -> dict[tuple[str, str], dict[str, int]]:
    found = {
        (field, term): crawl.called(term, field)
        for field in ("anchor", "cited")
        for term, _ in crawl.reading().frequencies(field, "")
    }
    return {key: pages for key, pages in found.items() if pages}


def test_pages_never_fetched_go_with_their_blocked_server_and_come_back(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))

    crawl.catalog.block(B)
    crawl.follow()
    assert crawl.called("cell") == {}

    crawl.catalog.unblock(B)
    crawl.follow()
    assert crawl.called("cell") == {f"{B}/": 1}


def test_a_page_never_fetched_that_is_not_there_is_not_found_though_nothing_else_happens(
    crawl: Crawl,
) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))

    crawl.index(gone(f"{B}/"))
    assert crawl.called("cell") == {}

    seq = crawl.catalog.last_seq()
    crawl.write(gone(f"{B}/", time=3.0))
    assert crawl.catalog.last_seq() == seq  # that it is still not there is no news


# Kills


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "passing"),
    [("anchors.read", 1), ("anchors.read", 2), ("anchors.committed", 1), ("index.written", 2)],
)
def test_a_killed_follower_loses_and_doubles_nothing(crawl: Crawl, name: str, passing: int) -> None:
    for number in range(12):
        crawl.write(page(f"http://s{number}.example/", *(link(f"{B}/{i}", f"cell{i}") for i in range(8))))
    code = (
        "import sys; from webcrawler import views; from webcrawler.index import follower;"
        "follower.ANCHOR_PAGES = 4; sys.exit(views.main(sys.argv[1:]))"
    )
    run = [sys.executable, "-c", code, str(crawl.folder)]

    armed = os.environ | failpoints.environment(f"{name}:kill:{passing}")
    killed = subprocess.run(run, env=armed, stdin=subprocess.DEVNULL, check=False)
    again = subprocess.run(run, stdin=subprocess.DEVNULL, check=False)

    assert (killed.returncode, again.returncode) == (-9, 0)
    assert [crawl.called(f"cell{i}") for i in range(8)] == [{f"{B}/{i}": 4} for i in range(8)]
    applied = [applied_seq(crawl.folder / name) for name in ("anchors", "index")]
    assert applied == [crawl.catalog.last_seq()] * 2


def test_damaged_anchors_are_made_anew_and_the_index_stays(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))
    before = crawl.segments()
    (toc,) = (crawl.folder / "anchors").glob("*.toc")
    toc.write_bytes(b"torn")

    follower.wait_until_caught_up(crawl.folder)

    assert crawl.called("cell") == {f"{B}/": 1}
    assert crawl.segments() == before


def test_reindex_builds_the_anchors_anew_too(crawl: Crawl) -> None:
    crawl.index(page(f"{A}/", link(f"{B}/", "cell")))
    with closing(Follower(crawl.folder)) as following:
        lost = Anchored(99, f"{C}/", C, (("lost", 1),))
        following._engine.commit_anchors([], [lost], crawl.catalog.last_seq())

    follower.reindex(crawl.folder)

    assert crawl.reading().posted("anchor", "lost").pages.tolist() == []
    assert crawl.called("cell") == {f"{B}/": 1}
    assert not (crawl.folder / "anchors.new").exists()


def test_only_its_owner_may_enter_the_anchors_folder(crawl: Crawl) -> None:
    crawl.follow()

    assert (crawl.folder / "anchors").stat().st_mode & 0o777 == 0o700
