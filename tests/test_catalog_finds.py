"""The finds of a search of the web: marked in the catalog, seen by their search alone, and gone with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from crawled import link
from searched import FETCHED, entry

from webcrawler.archive import discard_left_over
from webcrawler.archive.catalog import Catalog
from webcrawler.background import search_lock, try_lock
from webcrawler.index.follower import Follower
from webcrawler.linkgraph import catalog_graph
from webcrawler.records import Entry, Link
from webcrawler.search import Searcher
from webcrawler.search.vocabulary.documents import Collected
from webcrawler.urls import url_id
from webcrawler.web.judge import JudgmentFiles

OURS, FOUND, OTHER, NAMED, LINKED = (
    f"http://{name}.test/" for name in ("ours", "found", "other", "named", "linked")
)


def text(url: str, body: str, *links: Link, token: int = 1) -> Entry:
    made = entry((url, f"Title of {url}", body), *links, fetched=FETCHED + token)
    return replace(made, fetch=replace(made.fetch, lease=made.fetch.lease._replace(token=token)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection of one page, which links to one that was never fetched."""
    write(tmp_path, text(OURS, "quokka", link(LINKED, "quokkas, too")))
    return tmp_path


def write(folder: Path, *entries: Entry, job: str = "") -> None:
    with closing(Catalog(folder / "catalog.sqlite", job=job)) as catalog:
        catalog.write([(one, None) for one in entries])
    follow(folder)


def follow(folder: Path) -> None:
    with closing(Follower(folder)) as follower:
        follower.catch_up()


def discard(folder: Path, job: str, *kept: str) -> set[int]:
    with closing(Catalog(folder / "catalog.sqlite", job=job)) as catalog:
        return catalog.discard_finds([url_id(url) for url in kept])


def documents(folder: Path) -> set[str]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        urls = dict(catalog.urls.all())
        return {urls[number] for number in catalog.documents(list(urls))}


def hits(folder: Path, job: str = "", query: str = "quokka") -> set[str]:
    return {hit.url for hit in Searcher(folder, job=job).search(query).hits}


@pytest.fixture
def reading(folder: Path) -> Iterator[Catalog]:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        yield catalog


# ---- while the search runs


def test_a_find_is_seen_by_its_own_search_only(folder: Path) -> None:
    write(folder, text(FOUND, "quokka", link(NAMED, "quokka by name"), link(LINKED, "that one")), job="one")

    assert hits(folder, "one") == {OURS, LINKED, FOUND, NAMED}
    assert hits(folder) == hits(folder, "two") == {OURS, LINKED}
    assert Searcher(folder).search("quokka").total == 2
    assert {number for number, _ in Searcher(folder).rank("quokka")} == {1, 2}


def test_an_open_searcher_sees_no_find_either(folder: Path) -> None:
    searcher = Searcher(folder)
    assert searcher.search("quokka").total == 2

    write(folder, text(FOUND, "quokka"), job="one")

    assert searcher.search("quokka").total == 2


def test_a_document_that_was_there_before_is_no_find(folder: Path) -> None:
    write(folder, text(OURS, "quokka again", link(LINKED, "quokkas, too"), token=2), job="one")

    assert hits(folder) == {OURS, LINKED}
    assert discard(folder, "one") == set()
    assert documents(folder) == {OURS}


def test_finds_are_no_part_of_what_is_counted(folder: Path, reading: Catalog) -> None:
    before = reading.stats(), reading.count_documents(), reading.last_documents(9), reading.first_documents(9)

    write(folder, text(FOUND, "quokka", link(OURS, "there")), job="one")

    after = reading.stats(), reading.count_documents(), reading.last_documents(9), reading.first_documents(9)
    assert after == before
    assert catalog_graph(reading).links == 1
    assert reading.links.outlinks([3])[0].size == 0
    assert Collected(reading, until=10**6).size == 1


def test_what_only_another_search_has_found_is_fetched_again(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), text(OTHER, "quokka", link(FOUND, "it")), job="one")
    id = url_id(FOUND)

    for job, is_known in (("one", True), ("two", False), ("", False)):
        with closing(Catalog(folder / "catalog.sqlite", readonly=True, job=job)) as catalog:
            numbers = {url: number for number, url in catalog.urls.all()}
            assert (catalog.fetches.explored([id]) == {id}) == is_known
            assert (catalog.links.open([numbers[OTHER]]) == []) == is_known


# ---- at its end


def test_what_is_not_kept_leaves_catalog_and_index(folder: Path, reading: Catalog) -> None:
    write(folder, text(FOUND, "quokka", link(NAMED, "quokka by name"), link(OURS, "wombat")), job="one")
    assert OURS in hits(folder, query="wombat")

    assert discard(folder, "one") == {url_id(FOUND)}

    assert hits(folder, "one") == {OURS, LINKED}  # before the index has followed
    follow(folder)
    assert documents(folder) == {OURS}
    assert hits(folder) == hits(folder, "one") == {OURS, LINKED}
    assert hits(folder, query="wombat") == set()
    assert reading.stats() == {"servers": 1, "documents": 1, "duplicates": 0, "links": 1}
    assert reading.fetches.last(FOUND) is not None
    assert reading.fetches.explored([url_id(FOUND)]) == set()  # a later search may find it again
    assert reading.jobs_with_finds() == []


def test_what_is_kept_is_there_for_all(folder: Path, reading: Catalog) -> None:
    write(folder, text(FOUND, "quokka", link(NAMED, "quokka by name")), text(OTHER, "quokka"), job="one")
    seq = reading.last_seq()

    assert discard(folder, "one", FOUND) == {url_id(OTHER)}

    assert documents(folder) == {OURS, FOUND}
    follow(folder)
    assert hits(folder) == {OURS, LINKED, FOUND, NAMED}
    assert catalog_graph(reading).links == 2
    assert {change.kind for change in reading.changes(seq, 9)} == {"update", "delete"}


def test_a_find_of_two_searches_stays_until_both_have_let_it_go(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), job="one")
    write(folder, text(FOUND, "quokka", token=2), job="two")

    assert discard(folder, "one") == {url_id(FOUND)}
    assert hits(folder, "one") == {OURS, LINKED}
    assert hits(folder, "two") == {OURS, LINKED, FOUND}

    assert discard(folder, "two") == {url_id(FOUND)}
    assert documents(folder) == {OURS}


def test_a_find_that_one_of_two_searches_keeps_stays(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), job="one")
    write(folder, text(FOUND, "quokka", token=2), job="two")

    discard(folder, "one", FOUND)

    assert discard(folder, "two") == set()
    assert hits(folder) == {OURS, LINKED, FOUND}


@pytest.mark.parametrize("body", ["quokka", "quokka, once more"])
def test_a_find_that_a_crawl_reaches_stays(folder: Path, reading: Catalog, body: str) -> None:
    write(folder, text(FOUND, "quokka", link(OURS)), job="one")
    seq = reading.last_seq()

    write(folder, text(FOUND, body, link(OURS), token=2))

    assert [change.kind for change in reading.changes(seq, 9)] == ["update"]
    assert hits(folder) == {OURS, LINKED, FOUND}
    assert discard(folder, "one") == set()
    assert documents(folder) == {OURS, FOUND}


def test_a_find_that_is_gone_leaves_no_mark_behind(folder: Path, reading: Catalog) -> None:
    write(folder, text(FOUND, "quokka"), job="one")
    fetch = text(FOUND, "", token=2).fetch
    gone = Entry(replace(fetch, state="failed", reason="not-found", status=410))

    write(folder, gone, job="one")

    assert documents(folder) == {OURS}
    assert reading.jobs_with_finds() == []


def test_many_finds_leave_in_several_transactions(
    folder: Path, reading: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webcrawler.archive.catalog._writer.DISCARDED", 2)
    urls = [f"{FOUND}{number}" for number in range(5)]
    write(folder, *(text(url, f"quokka {url}") for url in urls), job="one")

    assert discard(folder, "one", urls[3]) == {url_id(url) for url in urls if url != urls[3]}
    assert documents(folder) == {OURS, urls[3]}
    assert discard(folder, "one") == set()


def test_the_twin_of_a_find_takes_its_part_when_that_leaves(folder: Path) -> None:
    twin = replace(text(OTHER, "quokka"), digest=text(FOUND, "").digest)
    write(folder, text(FOUND, "quokka"), job="one")
    write(folder, twin)

    discard(folder, "one")

    follow(folder)
    assert hits(folder) == {OURS, LINKED, OTHER}


# ---- searches that have died


def test_finds_of_a_search_that_has_died_leave_and_those_of_one_that_lives_stay(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), job="dead")
    write(folder, text(OTHER, "quokka"), job="alive")
    search_lock(folder, "alive").parent.mkdir()
    lock = try_lock(search_lock(folder, "alive"))
    assert lock

    discard_left_over(folder)
    discard_left_over(folder)

    assert documents(folder) == {OURS, OTHER}
    lock.close()
    discard_left_over(folder)
    assert documents(folder) == {OURS, OTHER}  # it may be resumed
    os.utime(search_lock(folder, "alive"), (0, 0))
    discard_left_over(folder)
    assert documents(folder) == {OURS}


def test_what_was_judged_good_stays(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), text(OTHER, "quokka"), job="dead")
    judgments = JudgmentFiles(folder / "feedback")
    judgments.save("marsupials", FOUND, "good")
    judgments.save("marsupials", OTHER, "bad")

    discard_left_over(folder)

    assert documents(folder) == {OURS, FOUND}


def test_where_the_judgments_cannot_be_read_nothing_is_discarded(folder: Path) -> None:
    write(folder, text(FOUND, "quokka"), job="dead")
    (folder / "feedback").mkdir()
    (folder / "feedback" / "qrels.txt").write_text("broken\n")

    discard_left_over(folder)

    assert documents(folder) == {OURS, FOUND}
    assert hits(folder) == {OURS, LINKED}


def test_without_a_catalog_there_is_nothing_to_discard(tmp_path: Path) -> None:
    discard_left_over(tmp_path)

    assert list(tmp_path.iterdir()) == []
