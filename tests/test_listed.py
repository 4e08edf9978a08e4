"""Which URLs are in a state, why, since when, and who links to them: in the catalog, and as it is printed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from crawled import link
from localweb import PROJECT
from test_catalog_removing import remove

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.catalog._database import statements
from webcrawler.errors import BadInput
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import probe, server, url_id

HOME, OTHER, GONE, OLD = (f"http://a.test/{path}" for path in ("", "other", "gone", "old"))
PRIVATE = "http://a.test/private"


def fetched(url: str, when: float, reason: str = "document", *links: Link, **more: object) -> Entry:
    """A page with these links, or another end of a fetch."""
    state = "done" if reason in ("document", "redirect", "sitemap") else "failed"
    answer = {"status": 404 if reason == "not-found" else 0 if state == "failed" else 200, **more}
    words = answer.pop("words", f"Words of {url}")
    noindex = bool(answer.pop("noindex", False))
    fetch = Fetch(Lease(url_id(url), url, url, server(url), 1), state, reason, when, 0.1, **answer)  # type: ignore[arg-type]
    text = Text("Title", "", "", "", str(words)) if reason == "document" and not noindex else None
    digest = f"{url} {words}".encode() if reason == "document" else b""
    return Entry(fetch, digest, links=links, text=text, noindex=noindex)


def redirect(url: str, when: float, to: str) -> Entry:
    return fetched(url, when, "redirect", status=301, target=link(to))


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite")) as catalog:
        yield catalog


def write(catalog: Catalog, *entries: Entry) -> None:
    for entry in entries:
        catalog.write([(entry, None)])


def listed(catalog: Catalog, state: str, links: int = 9, to_visitors: bool = False) -> list[dict[str, Any]]:
    return list(catalog.listed(state, links, to_visitors))


def urls(catalog: Catalog, state: str, to_visitors: bool = False) -> list[str]:
    return [one["url"] for one in listed(catalog, state, to_visitors=to_visitors)]


def linked_from(
    catalog: Catalog, url: str, links: int = 9, to_visitors: bool = False
) -> list[tuple[str, ...]]:
    """URL, anchor, rel, and which redirect it goes through."""
    states = [*listed(catalog, "failed", links, to_visitors), *listed(catalog, "done", links, to_visitors)]
    (found,) = (one["linked_from"] for one in states if one["url"] == url)
    return [tuple(link.values()) for link in found]


# ---- which


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    """A page of each kind, all of them linked from the home page."""
    found = [
        fetched(OTHER, 2),
        fetched("http://a.test/copy", 3, words=f"Words of {OTHER}"),
        fetched("http://a.test/noindex", 3, noindex=True),
        fetched("http://a.test/empty", 3, words=""),
        fetched(GONE, 3, "not-found"),
        fetched("http://a.test/down", 3, "server-error", status=503, retry=True),
        fetched("http://a.test/expired", 3, "certificate-expired"),
        fetched(PRIVATE, 3, "robots-disallowed", error="Refused: robots-disallowed"),
        fetched("http://a.test/x.zip", 3, "not-indexable", status=200),
        redirect(OLD, 3, OTHER),
    ]
    found[1] = replace(found[1], digest=found[0].digest)
    links = [link(one.fetch.lease.url) for one in found]
    write(catalog, fetched(HOME, 1, "document", *links, link("http://b.test/")), *found)
    return catalog


@pytest.mark.parametrize(
    ("state", "paths"),
    [
        ("broken", "gone down expired"),
        ("failed", "gone down expired private x.zip"),
        ("blocked", "private"),
        ("empty", "empty"),
        ("noindex", "noindex"),
        ("duplicate", "copy"),
        ("document", " other empty"),
        ("done", " other copy noindex empty old"),
        ("not-found", "gone"),
        ("failed/not-found", "gone"),
        ("404", "gone"),
        ("503", "down"),
        ("redirect", "old"),
        ("done/redirect", "old"),
        ("quarantined", None),
        ("timeout", None),
        ("removed", None),
    ],
)
def test_a_state_a_reason_or_a_status_lists_the_urls_that_have_it(
    filled: Catalog, state: str, paths: str | None
) -> None:
    expected = [] if paths is None else [f"http://a.test/{path}" for path in paths.split(" ")]

    assert urls(filled, state) == expected


def test_what_was_linked_to_and_never_fetched_is_a_state(filled: Catalog) -> None:
    (far,) = listed(filled, "not-fetched")

    linked_from = [{"url": HOME, "anchor": "", "rel": "", "through": ""}]
    assert list(far.values()) == ["http://b.test/", "not-fetched", "", 0, "", None, None, 1, linked_from]


def test_the_states_are_those_of_the_documentation_and_a_status(catalog: Catalog) -> None:
    states = (
        (PROJECT / "docs/reference/states.md").read_text("utf-8").partition("## Links that are refused")[0]
    )
    groups = (PROJECT / "docs/reference/commands.md").read_text("utf-8").partition("\n## pages\n")[2]
    named = set(re.findall(r"(?m)^\| `([^`]+)` \|", states)) - {"queued", "leased"}

    known, _ = statements("listed.sql")
    assert set(re.findall(r"'([^']+)'", known)) == named | set(
        re.findall(r"(?m)^\| `([^`]+)` \|", groups.partition("\n## ")[0])
    )
    for wrong in ("nonsense", "queued", "", "4040", "４０４"):
        with pytest.raises(BadInput, match=r"no state .*broken, blocked, empty, not-fetched, done"):
            catalog.listed(wrong, 1)


def test_a_blocked_server_and_a_removed_page_are_what_their_owner_has_decided(
    filled: Catalog, tmp_path: Path
) -> None:
    filled.block("http://b.test")
    remove(tmp_path / "crawl", GONE)
    write(filled, fetched(HOME, 9, "document", link(GONE)))

    assert urls(filled, "blocked") == [PRIVATE, "http://b.test/"]
    assert [(one["url"], one["since"]) for one in listed(filled, "removed")] == [(GONE, None)]
    assert GONE not in urls(filled, "broken")


def test_what_nothing_links_to_any_more_is_no_broken_link(catalog: Catalog) -> None:
    write(catalog, fetched(GONE, 1, "not-found", link(GONE)), fetched(HOME, 2, "document", link(GONE)))
    assert urls(catalog, "broken") == [GONE]

    write(catalog, fetched(HOME, 3, "document", words="mended"))

    assert (urls(catalog, "broken"), urls(catalog, "failed")) == ([], [GONE])


def test_what_asks_how_a_server_says_not_found_is_not_listed(catalog: Catalog) -> None:
    write(catalog, fetched(probe("http://a.test"), 1, "not-found"))

    assert urls(catalog, "failed") == []


def test_finds_of_a_search_and_what_only_they_link_to_are_not_broken_links(
    catalog: Catalog, tmp_path: Path
) -> None:
    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite", job="job")) as search:
        write(search, fetched(HOME, 1, "document", link(GONE)), fetched(GONE, 2, "not-found"))

    assert (urls(catalog, "document"), urls(catalog, "broken")) == ([], [])
    assert linked_from(catalog, GONE) == []


def test_visitors_are_told_only_of_what_a_search_may_show(filled: Catalog, tmp_path: Path) -> None:
    hidden = [f"http://{name}" for name in ("a.test/removed", "c.test/", "a.test/noindex")]
    write(filled, *(fetched(url, 4, "document", link(GONE), noindex=url == hidden[2]) for url in hidden[:2]))
    write(filled, fetched(hidden[2], 9, "document", link(GONE), noindex=True))
    write(
        filled,
        redirect("http://c.test/old", 4, GONE),
        fetched(OTHER, 9, "document", link("http://c.test/old")),
    )
    remove(tmp_path / "crawl", hidden[0], "http://a.test/down")
    write(filled, fetched("http://a.test/x", 10))  # obeys
    filled.block("http://b.test")
    filled.block("http://c.test")

    assert urls(filled, "noindex", to_visitors=True) == urls(filled, "removed", to_visitors=True) == []
    assert urls(filled, "blocked", to_visitors=True) == [PRIVATE]
    assert urls(filled, "broken", to_visitors=True) == [GONE, "http://a.test/expired"]
    assert {*hidden, HOME, OTHER} <= {url for url, *_ in linked_from(filled, GONE)}
    assert [url for url, *_ in linked_from(filled, GONE, to_visitors=True)] == [HOME]


# ---- why, and since when


@pytest.mark.parametrize(
    ("history", "reason", "since"),
    [
        ([("document", 1), ("not-found", 2), ("not-found", 3)], "not-found", 2),
        ([("not-found", 1), ("server-error", 2)], "server-error", 1),
        ([("not-found", 1), ("document", 2), ("timeout", 3)], "timeout", 3),
        ([("not-found", 1), ("redirect", 2), ("redirect", 3)], "redirect", 2),
        ([("document", 1), ("redirect", 2)], "redirect", 2),
        ([("document", 1), ("document", 2)], "document", 1),
        ([("document", 1), ("changed", 2), ("changed", 3)], "document", 2),
    ],
)
def test_it_is_so_since_the_first_fetch_that_came_to_that(
    catalog: Catalog, history: Sequence[tuple[str, float]], reason: str, since: float
) -> None:
    for what, when in history:
        of_kind = {
            "redirect": redirect(GONE, when, OTHER),
            "changed": fetched(GONE, when, words="other words"),
        }
        write(catalog, of_kind.get(what) or fetched(GONE, when, what))

    (one,) = listed(catalog, reason)
    assert (one["url"], one["since"], one["fetched"]) == (GONE, since, history[-1][1])


def test_a_document_that_a_check_does_not_find_is_broken_while_it_stays(catalog: Catalog) -> None:
    write(catalog, fetched(HOME, 1, "document", link(GONE)), fetched(GONE, 2), fetched(GONE, 9, "not-found"))

    (one,) = listed(catalog, "broken")

    assert catalog.find(GONE)
    assert (one["reason"], one["status"], one["since"]) == ("not-found", 404, 9)


def test_a_note_says_more_than_the_reason(catalog: Catalog) -> None:
    write(catalog, fetched(OTHER, 1, "unreachable", error="OSError: no route"))
    write(catalog, fetched(PRIVATE, 1, "robots-disallowed", error="Refused: robots-disallowed"))

    assert [one["note"] for one in listed(catalog, "failed")] == ["OSError: no route", ""]


# ---- who links there


def test_who_links_to_a_redirect_links_to_where_it_leads(catalog: Catalog) -> None:
    write(
        catalog,
        fetched(HOME, 1, "document", link(OLD, "old news"), link(GONE, "gone", "nofollow")),
        redirect(OLD, 2, GONE),
        fetched(GONE, 3, "not-found"),
    )

    expected = [(HOME, "gone", "nofollow", ""), (OLD, "", "redirect", ""), (HOME, "old news", "", OLD)]
    assert linked_from(catalog, GONE) == expected
    assert linked_from(catalog, GONE, links=1) == expected[:1]


def test_urls_are_told_as_they_are_fetched(catalog: Catalog) -> None:
    spelled = link(GONE)._replace(spelling="http://a.test/gone?")
    write(catalog, fetched(HOME, 1, "document", spelled))

    assert urls(catalog, "not-fetched") == ["http://a.test/gone?"]


def test_redirects_in_a_circle_end(catalog: Catalog) -> None:
    write(catalog, fetched(HOME, 1, "document", link(OLD)), redirect(OLD, 2, OTHER), redirect(OTHER, 3, OLD))

    assert [url for url, *_ in linked_from(catalog, OTHER)] == [OLD, HOME]


def test_a_sitemap_that_names_a_page_links_to_it(catalog: Catalog) -> None:
    sitemap = fetched("http://a.test/sitemap.xml", 1, "sitemap", link(GONE))
    write(catalog, sitemap, fetched(GONE, 2, "not-found"))

    assert urls(catalog, "broken") == [GONE]
    assert linked_from(catalog, GONE) == [("http://a.test/sitemap.xml", "", "sitemap", "")]


def test_a_page_that_links_to_itself_is_nobody_who_links_there(catalog: Catalog) -> None:
    write(catalog, fetched(HOME, 1, "document", link(HOME, "home")))

    assert linked_from(catalog, HOME) == []


# ---- as it is printed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home page links twice to what is gone; what is down is named by nobody."""
    folder = tmp_path_factory.mktemp("crawl")
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        write(
            catalog,
            fetched(
                HOME, 1, "document", link(GONE, "\t=HYPERLINK(1); “x”\x1b[2J"), link("http://down.test/")
            ),
            fetched(OTHER, 2, "document", link(GONE)),
            fetched(GONE, 90_000, "not-found"),
            fetched("http://down.test/", 90_001, "unreachable", error="OSError: no\nroute"),
        )
    return folder


def test_people_read_why_since_when_and_where_each_link_stands(run: Run, folder: Path) -> None:
    assert run("pages", "-n", "1", folder=folder).out == (
        "1. http://a.test/gone\n"
        "    not-found 404 since 1970-01-02 01:00:00 UTC · in-links: 2\n"
        "    linked from http://a.test/ “ =HYPERLINK(1); “x”[2J”\n"
        "2. http://down.test/\n"
        "    unreachable since 1970-01-02 01:00:01 UTC OSError: no route · in-links: 1\n"
        "    linked from http://a.test/\n"
    )
    assert run("pages", "--state", "timeout", folder=folder).out == "there are none\n"


def test_json_is_one_array_with_a_url_on_each_line(run: Run, folder: Path) -> None:
    out = run("pages", "--state", "broken", "--json", folder=folder).out

    gone, _ = json.loads(out)
    assert out.count("\n") == 4
    assert gone.pop("linked_from")[1] == {"url": OTHER, "anchor": "", "rel": "", "through": ""}
    assert list(gone.items()) == [
        ("url", GONE),
        ("state", "failed"),
        ("reason", "not-found"),
        ("status", 404),
        ("note", ""),
        ("since", 90_000),
        ("fetched", 90_000),
        ("in_links", 2),
    ]
    assert json.loads(run("pages", "--state", "timeout", "--json", folder=folder).out) == []


def test_csv_has_a_row_for_each_link_and_no_text_that_a_spreadsheet_runs(run: Run, folder: Path) -> None:
    out = run("pages", "--csv", folder=folder).out

    first, second, third = csv.DictReader(out.splitlines())
    assert (first["url"], first["linked_from"], second["linked_from"]) == (GONE, HOME, OTHER)
    assert first["since"] == "1970-01-02 01:00:00"
    assert first["anchor"] == "'=HYPERLINK(1); “x”[2J"
    assert third["note"] == "OSError: no route"
    assert all(re.fullmatch(r'("[^"]*",){11}"[^"]*"', row) for row in out.splitlines())


def test_what_nobody_links_to_has_a_row_too(run: Run, folder: Path) -> None:
    rows = csv.DictReader(run("pages", "--state", "done", "--csv", folder=folder).out.splitlines())

    assert [(row["url"], row["in_links"], row["linked_from"]) for row in rows] == [
        (HOME, "0", ""),
        (OTHER, "0", ""),
    ]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--state", "nonsense"], "no state 'nonsense': a status such as 404, or one of broken, blocked, "),
        (["-n", "x"], "-n=x is not a whole number"),
        (["broken"], "pages takes options only"),
    ],
)
def test_what_is_asked_wrongly_is_one_line(run: Run, folder: Path, options: list[str], line: str) -> None:
    answer = run("pages", *options, folder=folder)

    assert (answer.status, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith(f"error: {line}")


def test_where_nothing_was_crawled_it_says_so(run: Run, tmp_path: Path) -> None:
    assert "nothing was crawled into" in run("pages", folder=tmp_path / "nothing").err
    assert not (tmp_path / "nothing").exists()
