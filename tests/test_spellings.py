"""What was fetched by another spelling than its canonical URL is fetched by that again, whoever asks for it.

A server may have `/docs/index.html` and answer 404 for `/docs/`, which is the same URL to us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from inprocess import command
from localweb import Site, crawl
from test_catalog import A, fetch, link, number_of, page, write
from test_refresh import LivingSite, Page, again, once

from webcrawler.archive.catalog import Catalog
from webcrawler.records import Entry, Original, Place
from webcrawler.urls import MAX_LENGTH, url_id

DOCS = "http://a.test/docs/"
INDEX = DOCS + "index.html"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def spelled(entry: Entry, spelling: str) -> Entry:
    lease = entry.fetch.lease._replace(spelling=spelling)
    return replace(entry, fetch=replace(entry.fetch, lease=lease))


def linking(spelling: str) -> Entry:
    """A page that links to the document by that spelling."""
    return page(A, 1, "a", [link(DOCS)._replace(spelling=spelling)])


def spelling(catalog: Catalog) -> str | None:
    number = number_of(catalog, DOCS)
    return catalog.urls.spellings([number]).get(number)


def test_a_document_is_checked_by_the_spelling_that_was_fetched(catalog: Catalog) -> None:
    write(catalog, spelled(page(DOCS, 1, "a"), INDEX), page(A, 1, "b"))

    due = catalog.checks.due([number_of(catalog, url) for url in (DOCS, A)])

    assert [(one.url, one.spelling) for one in due] == [(DOCS, INDEX), (A, A)]


def test_a_url_that_was_only_linked_to_has_the_spelling_of_the_first_link(catalog: Catalog) -> None:
    write(catalog, linking(INDEX))
    write(catalog, page("http://a.test/b", 2, "b", [link(DOCS)]))

    assert spelling(catalog) == INDEX
    assert [far.url for far in catalog.links.open([number_of(catalog, A)])] == [INDEX]


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [
        (linking(INDEX), page(DOCS, 2, "b"), None),
        (spelled(page(DOCS, 1, "a"), INDEX), page(DOCS, 2, "a"), None),
        (spelled(page(DOCS, 1, "a"), INDEX), page(DOCS, 2, "other"), None),
        (spelled(page(DOCS, 1, "a"), INDEX), Entry(fetch(DOCS, 2, "not-found", status=404)), INDEX),
    ],
    ids=["only linked to before", "unchanged", "changed", "not found"],
)
def test_a_spelling_that_finds_the_document_replaces_another(
    catalog: Catalog, first: Entry, then: Entry, kept: str | None
) -> None:
    write(catalog, first)

    write(catalog, then)

    assert spelling(catalog) == kept


def test_a_spelling_too_long_to_be_fetched_is_not_kept(catalog: Catalog) -> None:
    write(catalog, linking(INDEX + "?utm_source=" + "x" * MAX_LENGTH))

    assert spelling(catalog) is None


def test_a_repeated_body_names_the_record_that_has_it_as_it_was_fetched(catalog: Catalog) -> None:
    catalog.write([(spelled(page(DOCS, 1, "a"), INDEX), Place("f.warc.gz", 0))])

    assert list(catalog.digests(9).values()) == [Original(INDEX, 1)]
    assert catalog.kept([url_id(DOCS)])[url_id(DOCS)][1] == Original(INDEX, 1)


# Real crawls


@pytest.fixture
def living() -> Iterator[LivingSite]:
    site = LivingSite(Site().start(), {"": Page(["docs/index.html"]), "docs/index.html": Page([])})
    yield site
    site.site.stop()


def frontier(tmp_path: Path, verb: str) -> None:
    answered = command("frontier", verb, folder=tmp_path)
    assert answered.status == 0, answered.err


@pytest.mark.slow
@pytest.mark.parametrize("before", [(), ("clear",), ("clear", "rebuild")], ids=" ".join)
def test_a_page_stays_that_is_not_there_by_its_canonical_url(
    tmp_path: Path, living: LivingSite, before: tuple[str, ...]
) -> None:
    once(tmp_path, living)

    for _ in range(2):
        for verb in before:
            frontier(tmp_path, verb)
        after = once(tmp_path, living, "-a", "refresh=once")

        assert after.documents() == {f"{living.site.url}/", f"{living.site.url}/docs/"}
        assert sorted(living.asked) == ["", "docs/index.html"]
    assert after.frontier["states"]["reasons"]["document"] == 2


def let_in_again(folder: Path, url: str) -> None:
    for undo in ((), ("--undo",)):
        assert command("remove", f"{url}*", *undo, folder=folder).status == 0


def rebuild(folder: Path, _: str) -> None:
    for verb in ("clear", "rebuild"):
        frontier(folder, verb)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "act"), [("9", again), ("9", let_in_again), ("1", rebuild)])
def test_a_page_that_waits_again_is_fetched_by_its_spelling(
    tmp_path: Path, living: LivingSite, most: str, act: Callable[[Path, str], object]
) -> None:
    once(tmp_path, living, "-a", f"max_pages={most}")
    act(tmp_path, f"{living.site.url}/docs/")

    once(tmp_path, living)

    assert living.asked == ["docs/index.html"]


@pytest.mark.slow
def test_a_sitemap_is_read_again_by_its_spelling(tmp_path: Path, living: LivingSite) -> None:
    sitemap = "map.xml?utm_source=robots"
    living.pages[sitemap] = Page([])
    given = ("-a", f"sitemaps={living.site.url}/{sitemap}", "-a", "domains=127.0.0.1")
    crawl(tmp_path, "index", "-a", f"seeds={living.site.url}", *given)

    once(tmp_path, living, "-a", "refresh=once")

    assert [path for path in living.asked if path.startswith("map.xml")] == [sitemap]
