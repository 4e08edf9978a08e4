"""Checks: what becomes of a document when its URL is fetched again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from test_catalog import A, B, C, failure, fetch, kinds, link, page, text, write

from webcrawler.archive.catalog import Catalog, _database
from webcrawler.records import Entry, Place
from webcrawler.urls import url_id

HOUR, DAY = 3600.0, 86400.0
T = 1_800_000_000.0


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def column(catalog: Catalog, query: str) -> list[object]:
    return [value for (value,) in catalog._db.execute(query)]


def not_modified(url: str, time: float) -> Entry:
    return Entry(fetch(url, time, "not-modified", status=304))


def missing(url: str, time: float) -> Entry:
    return failure(url, time, "not-found", status=404)


def forbidden(url: str, time: float) -> Entry:
    return failure(url, time, "not-found", status=403)


def passing(url: str, time: float, target: str) -> Entry:
    return Entry(fetch(url, time, "redirect", status=302, target=link(target)))


def respaced(url: str, time: float, body: str) -> Entry:
    """Other bytes, but the same text and links."""
    return replace(page(url, time, body), digest=b"other bytes", text=text(f"  {body} \n"))


@pytest.mark.parametrize("check", [page(A, 5, "a", [link(B)]), not_modified(A, 5)])
def test_a_check_that_finds_nothing_new_writes_one_row_of_history_and_when(
    catalog: Catalog, check: Entry
) -> None:
    write(catalog, page(A, 1, "a", [link(B)]))
    seq = catalog.last_seq()

    verdict = write(catalog, check)

    assert verdict.unchanged == {url_id(A)}
    assert catalog.last_seq() == seq
    assert column(catalog, "SELECT changed FROM fetches ORDER BY seq") == [None, 0]
    assert column(catalog, "SELECT since FROM fetches ORDER BY seq") == [None, 1]
    assert column(catalog, "SELECT checked FROM documents") == [5]
    assert column(catalog, "SELECT fetched FROM documents") == [1]


def test_other_bytes_with_the_same_text_are_stored_and_change_nothing_else(catalog: Catalog) -> None:
    catalog.write([(page(A, 1, "two words"), Place("f", 1))])
    seq = catalog.last_seq()

    catalog.write([(respaced(A, 2, "two words"), Place("f", 2))])

    document = catalog.find(A)
    assert document
    assert (document.digest, document.place, document.fetched) == (b"other bytes", Place("f", 2), 2)
    assert catalog.last_seq() == seq
    assert column(catalog, "SELECT changed FROM fetches ORDER BY seq") == [None, 0]


def test_the_text_is_still_known_after_a_304(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"))
    write(catalog, not_modified(A, 3))

    assert write(catalog, respaced(A, 5, "a")).unchanged == {url_id(A)}
    assert write(catalog, page(A, 7, "new")).unchanged == set()


def test_other_bytes_with_the_same_text_part_duplicates(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"), page(B, 2, "a"))
    seq = catalog.last_seq()

    write(catalog, respaced(B, 3, "a"))

    assert kinds(catalog, seq) == [(B, "update")]
    assert [one.duplicate_of for one in catalog.documents([1, 2]).values()] == [0, 0]


@pytest.mark.parametrize(
    "other",
    [
        page(A, 5, "b", [link(B)]),
        page(A, 5, "a", [link(C)]),
        page(A, 5, "a", [link(B, "anchor")]),
        page(A, 5, "a", [link(B, rel="nofollow")]),
        replace(page(A, 5, "a", [link(B)], reason="noindex"), digest=b"other"),
    ],
)
def test_a_changed_text_link_or_anchor_is_a_change(catalog: Catalog, other: Entry) -> None:
    write(catalog, page(A, 1, "a", [link(B)]))
    seq = catalog.last_seq()

    write(catalog, replace(other, digest=b"other"))

    assert kinds(catalog, seq) == [(A, "update")]
    assert column(catalog, "SELECT changed FROM fetches ORDER BY seq") == [None, 1]
    assert column(catalog, "SELECT changed FROM documents") == [5]


def test_a_check_under_an_older_lease_does_not_say_that_the_document_is_current(catalog: Catalog) -> None:
    newer = page(A, 2, "a")
    write(catalog, replace(newer, fetch=replace(newer.fetch, lease=newer.fetch.lease._replace(token=9))))

    write(catalog, not_modified(A, 5))

    assert column(catalog, "SELECT checked FROM documents") == [2]


def test_links_before_are_told_of_a_checked_page_whose_links_change(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B)]))
    changed = page(A, 2, "b", [link(B), link(C)])
    lease = changed.fetch.lease._replace(was="done/document")

    verdict = write(catalog, replace(changed, fetch=replace(changed.fetch, lease=lease)))

    assert verdict.links_before == {url_id(A): {url_id(B)}}


@pytest.mark.parametrize(
    ("checks", "stays"),
    [
        ([failure(A, T + 5, "not-found", status=410)], [False]),
        ([failure(A, T + 5, "robots-disallowed")], [False]),
        ([Entry(fetch(A, T + 5, "redirect", status=301, target=link(B)))], [False]),
        *[
            ([failure(A, T + 5, reason), failure(A, T + 5 + HOUR, reason)], [True, False])
            for reason in ("not-indexable", "too-large", "unparsable", "redirect-loop")
        ],
        ([missing(A, T + 5), missing(A, T + 6)], [True, True]),
        ([missing(A, T + 5), missing(A, T + 5 + HOUR)], [True, False]),
        ([missing(A, T + 5), page(A, T + 6, "a"), missing(A, T + 5 + HOUR)], [True, True, True]),
        ([missing(A, T + 5), not_modified(A, T + 6), missing(A, T + 5 + HOUR)], [True, True, True]),
        ([forbidden(A, T + 5), forbidden(A, T + 5 + DAY)], [True, True]),
        ([forbidden(A, T + 5), forbidden(A, T + 15 * DAY)], [True, False]),
        ([passing(A, T + 5, B), passing(A, T + 5 + HOUR, B)], [True, True]),
        ([passing(A, T + 5, B), passing(A, T + 5 + DAY, B)], [True, False]),
        ([failure(A, T + 5, "timeout"), failure(A, T + 13 * DAY, "timeout")], [True, True]),
        ([failure(A, T + 5, "timeout"), failure(A, T + 15 * DAY, "timeout")], [True, False]),
        ([failure(A, T + 5, "timeout"), failure(A, T + 15 * DAY, "timeout", retry=True)], [True, True]),
        (
            [failure(A, T + 5, "timeout"), page(A, T + 6, "a"), failure(A, T + 15 * DAY, "timeout")],
            [True] * 3,
        ),
    ],
)
def test_what_becomes_of_a_document_that_is_not_found(
    catalog: Catalog, checks: list[Entry], stays: list[bool]
) -> None:
    write(catalog, page(A, T, "a"))

    for check, stands in zip(checks, stays, strict=True):
        write(catalog, check)
        assert (catalog.find(A) is not None) is stands


def test_a_document_that_stays_keeps_text_links_and_its_place_in_searches(catalog: Catalog) -> None:
    write(catalog, page(A, T, "a", [link(B)]))
    seq = catalog.last_seq()

    verdict = write(catalog, missing(A, T + 5))

    assert verdict.held == {url_id(A)}
    assert kinds(catalog, seq) == []
    assert catalog.texts([1])
    assert catalog.urls.hidden([1]) == set()
    assert len(list(catalog.links.all())) == 1


def test_a_page_back_from_the_dead_is_new(catalog: Catalog) -> None:
    write(catalog, page(A, T, "a"))
    write(catalog, failure(A, T + 1, "not-found", status=410))
    seq = catalog.last_seq()

    write(catalog, page(A, T + 2, "a"))

    assert kinds(catalog, seq) == [(A, "insert")]


SITE = [f"http://site.test/{n}" for n in range(20)]


@pytest.fixture
def site(catalog: Catalog) -> Catalog:
    """A catalog with all documents of a server."""
    write(catalog, *[page(url, T, url) for url in SITE])
    return catalog


def all_missing(time: float) -> list[Entry]:
    return [missing(url, time + n) for n, url in enumerate(SITE)]


def all_moved(time: float) -> list[Entry]:
    to = link("http://site.test/maintenance")
    return [Entry(fetch(url, time + n, "redirect", status=301, target=to)) for n, url in enumerate(SITE)]


@pytest.mark.parametrize("away", [all_missing, all_moved])
def test_while_a_whole_server_is_missing_or_redirects_none_of_its_documents_is_removed_for_a_day(
    site: Catalog, away: Callable[[float], list[Entry]]
) -> None:
    for hours in (1, 2, 5, 20):
        write(site, *away(T + hours * HOUR))
        assert site.count_documents() == len(SITE)

    write(site, *away(T + 25 * HOUR))
    assert site.count_documents() == 0


def test_a_few_pages_that_are_gone_leave_even_if_they_are_checked_first(site: Catalog) -> None:
    gone = SITE[:5]

    write(site, *[failure(url, T + HOUR, "not-found", status=410) for url in gone[:4]])
    write(site, *[page(url, T + HOUR, url) for url in SITE[5:11]])
    write(site, failure(gone[4], T + HOUR, "not-found", status=410))  # the fifth of eleven
    write(site, *[page(url, T + HOUR, url) for url in SITE[11:]])

    assert site.count_documents() == len(SITE) - len(gone)


def test_a_second_mass_404_long_after_the_first_removes_nothing_either(site: Catalog) -> None:
    write(site, *all_missing(T + HOUR))
    for day in range(1, 10):  # a few pages at a time, as in a crawl that checks little: no incident is told
        write(site, *[page(url, T + day * DAY, url) for url in SITE[2 * day - 2 : 2 * day]])
    write(site, *[page(url, T + 10 * DAY, url) for url in SITE[18:]])

    write(site, *all_missing(T + 20 * DAY))
    write(site, *all_missing(T + 20 * DAY + 2 * HOUR))

    assert site.count_documents() == len(SITE)


def test_pages_that_are_asked_for_again_and_again_make_no_incident(site: Catalog) -> None:
    for n in range(30):
        write(site, missing(SITE[0], T + 1 + n))

    write(site, missing(SITE[0], T + 2 * HOUR))

    assert site.find(SITE[0]) is None


def test_a_server_that_recovers_loses_only_what_is_really_gone(site: Catalog) -> None:
    write(site, *all_missing(T + HOUR))
    write(site, *[page(url, T + 5 * HOUR, url) for url in SITE[1:]], missing(SITE[0], T + 5 * HOUR))

    write(site, *[page(url, T + 9 * HOUR, url) for url in SITE[1:]], missing(SITE[0], T + 9 * HOUR))

    assert site.count_documents() == len(SITE) - 1
    assert site.find(SITE[0]) is None


def test_a_page_that_is_there_says_what_is_new_though_the_others_of_its_server_are_missing(
    site: Catalog,
) -> None:
    write(site, *all_missing(T + HOUR)[1:], page(SITE[0], T + HOUR, "new"))
    assert site.texts([1])[1].body == "new"

    write(site, page(SITE[0], T + 2 * HOUR, "newer"))
    assert site.texts([1])[1].body == "newer"


def test_a_batch_written_twice_counts_its_checks_once(site: Catalog) -> None:
    for _ in range(3):
        write(site, missing(SITE[0], T + 1), not_modified(SITE[1], T + 1))

    assert column(site, "SELECT checks FROM checks") == [2]
    assert column(site, "SELECT missing FROM checks") == [1]


def test_history_has_ascending_numbers_over_batches(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"), page(B, 2, "b"))
    write(catalog, page(A, 3, "c"), not_modified(B, 4))

    assert column(catalog, "SELECT seq FROM fetches ORDER BY fetched") == [1, 2, 3, 4]


def test_the_newest_number_is_found_without_reading_the_history(catalog: Catalog) -> None:
    history = _database.statements("history.sql")[0]
    (subquery,) = re.findall(r"\((SELECT coalesce\(max\(seq\).*?)\) \+ 1", history)

    plan = [row[3] for row in catalog._db.execute(f"EXPLAIN QUERY PLAN {subquery}")]

    assert plan == ["SEARCH fetches USING COVERING INDEX fetches_by_seq (seq>?)"]


def test_a_batch_reads_of_what_is_gone_only_what_it_links_to(catalog: Catalog) -> None:
    """A broad crawl has as many URLs that are gone as pages."""
    revive = _database.statements("linked.sql")[-1]

    plan = [row[3] for row in catalog._db.execute(f"EXPLAIN QUERY PLAN {revive}")]

    assert {step for step in plan if "gone" in step or " g " in step} == {
        "SEARCH gone USING INTEGER PRIMARY KEY (rowid=?)",
        "SCAN gone",  # one row: is there any?
        "SEARCH g USING INTEGER PRIMARY KEY (rowid=?)",
    }


def test_a_document_of_an_older_catalog_is_checked_by_its_bytes(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"))
    catalog._db.execute("UPDATE documents SET text_digest = NULL")
    seq = catalog.last_seq()

    assert write(catalog, page(A, 2, "a")).unchanged
    assert write(catalog, respaced(A, 3, "a")).unchanged
    assert catalog.last_seq() == seq
