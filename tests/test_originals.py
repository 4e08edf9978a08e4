"""Originals: of pages with the same bytes, the one is shown that the evidence is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from searched import FETCHED, entry
from test_cached import archive

from webcrawler.archive.catalog import Catalog
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.index.follower import Follower
from webcrawler.parsing import parse
from webcrawler.records import Entry, Link, Original
from webcrawler.search import Searcher
from webcrawler.urls import url_id

COPY, ORIGINAL, THIRD = "http://mirror.test/a", "http://home.example/a", "http://third.test/a"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def page(url: str, body: str, *links: str, canonical: str = "", rel: str = "") -> Entry:
    outlinks = [Link(target, url_id(target), target, "see there", rel=rel) for target in links]
    one = entry((url, f"Title of {body}", body), *outlinks)
    id = url_id(canonical) if canonical else 0
    return replace(one, digest=sha1(body.encode()).digest(), canonical=id)


def write(catalog: Catalog, *entries: Entry) -> None:
    catalog.write([(one, None) for one in entries])


def citing(*urls: str, by: int = 1, first: int = 0, rel: str = "") -> list[Entry]:
    """Pages of so many domains that link to these URLs."""
    domains = range(first, first + by)
    return [page(f"http://friend{n}.test/{urls[0]}", f"friend {n} {urls}", *urls, rel=rel) for n in domains]


def originals(catalog: Catalog) -> dict[str, str]:
    """The original of each page that is a duplicate."""
    urls = dict(catalog.urls.all())
    documents = catalog.documents(list(urls)).values()
    return {one.url: urls[one.duplicate_of] for one in documents if one.duplicate_of}


def test_a_site_whose_copy_was_crawled_first_is_found_and_its_copy_is_not(tmp_path: Path) -> None:
    pages = [(f"/{n}", f"gene number {n}") for n in range(12)]
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog, closing(Follower(tmp_path)) as follower:
        write(catalog, *(page(f"http://mirror.test{path}", body) for path, body in pages))
        write(catalog, *(page(f"http://home.example{path}", body) for path, body in pages))
        follower.catch_up()
        write(catalog, *citing("http://home.example/", by=2))
        follower.catch_up()

    hits = Searcher(tmp_path).search("gene", limit=50).hits

    assert sorted(hit.url for hit in hits) == sorted(f"http://home.example{path}" for path, _ in pages)


@pytest.mark.parametrize("rel", ["", "form-and-link"])
def test_a_page_that_another_domain_links_to_takes_the_part_of_one_that_nobody_does(
    catalog: Catalog, rel: str
) -> None:
    write(catalog, page(COPY, "same"), page(ORIGINAL, "same"))
    assert originals(catalog) == {ORIGINAL: COPY}

    write(catalog, *citing(ORIGINAL, rel=rel))

    assert originals(catalog) == {COPY: ORIGINAL}


@pytest.mark.parametrize(
    "links",
    [
        [page("http://www.home.example/", "the site itself", ORIGINAL)],
        [page("http://www.mirror.test/", "the other site", ORIGINAL)],
        citing(ORIGINAL, rel="nofollow"),
        citing(ORIGINAL, rel="form"),
    ],
    ids=["of its own domain", "of the other's domain", "with nofollow", "of a form alone"],
)
def test_such_links_are_no_evidence(catalog: Catalog, links: list[Entry]) -> None:
    write(catalog, page(COPY, "same"), page(ORIGINAL, "same"))

    write(catalog, *links)

    assert originals(catalog) == {ORIGINAL: COPY}


def test_a_page_that_names_another_as_canonical_gives_way_to_it(catalog: Catalog) -> None:
    write(catalog, *citing(COPY, by=5), page(COPY, "same", canonical=ORIGINAL))

    write(catalog, page(ORIGINAL, "same", canonical=ORIGINAL))

    assert originals(catalog) == {COPY: ORIGINAL}


def test_a_copy_cannot_take_over_by_naming_itself(catalog: Catalog) -> None:
    write(catalog, page(ORIGINAL, "same"), page(COPY, "same", canonical=COPY))

    assert originals(catalog) == {COPY: ORIGINAL}


def test_a_canonical_link_says_nothing_of_a_page_with_other_bytes(catalog: Catalog) -> None:
    write(catalog, page(ORIGINAL, "what it says"))
    seq, before = catalog.last_seq(), catalog.find(ORIGINAL)

    write(catalog, page(COPY, "something else", canonical=ORIGINAL))

    assert catalog.find(ORIGINAL) == before
    assert originals(catalog) == {}
    assert {change.number for change in catalog.changes(seq, 9)} == {2}


def test_twice_as_many_domains_are_needed_and_a_link_more_changes_nothing(catalog: Catalog) -> None:
    write(catalog, *citing(COPY, by=3), page(COPY, "same"), page(ORIGINAL, "same"))
    write(catalog, *citing(ORIGINAL, by=5, first=10))
    assert originals(catalog) == {ORIGINAL: COPY}

    for more in (citing(ORIGINAL, first=20), citing(COPY, by=4, first=30)):
        write(catalog, *more)
        assert originals(catalog) == {COPY: ORIGINAL}


def test_an_original_that_loses_its_links_is_compared_again(catalog: Catalog) -> None:
    friends = citing(COPY, by=2)
    write(catalog, *friends, *citing(ORIGINAL, by=2, first=10), page(COPY, "same"), page(ORIGINAL, "same"))
    assert originals(catalog) == {ORIGINAL: COPY}

    lease = friends[0].fetch.lease._replace(was="done/document", token=2)
    fetch = replace(friends[0].fetch, lease=lease, fetched=FETCHED + 1)
    write(catalog, replace(friends[0], fetch=fetch, digest=b"new", text=None, links=()))

    assert originals(catalog) == {COPY: ORIGINAL}


def test_a_new_original_is_one_change_for_each_of_the_two_and_has_the_text(catalog: Catalog) -> None:
    without_text = replace(page(ORIGINAL, "same"), text=None)
    write(catalog, page(COPY, "same"), without_text, page(THIRD, "same"))
    (friend,) = citing(ORIGINAL)
    seq = catalog.last_seq()

    write(catalog, friend)

    urls = dict(catalog.urls.all())
    changed = [urls[change.number] for change in catalog.changes(seq, 99)]
    assert sorted(changed) == sorted([friend.fetch.lease.url, COPY, ORIGINAL])
    assert originals(catalog) == {COPY: ORIGINAL, THIRD: ORIGINAL}
    (original,) = (number for number, url in urls.items() if url == ORIGINAL)
    assert catalog.texts([original])[original].body == "same"


def test_a_fetch_says_that_the_bytes_were_known_and_not_whose_they_are(catalog: Catalog) -> None:
    write(catalog, page(COPY, "same"), *citing(ORIGINAL))

    verdict = catalog.write([(page(ORIGINAL, "same"), None)])

    assert originals(catalog) == {COPY: ORIGINAL}  # the links were there before the page
    assert verdict.duplicates == {url_id(ORIGINAL)}
    assert [catalog.fetches.last(url).reason for url in (COPY, ORIGINAL)] == ["document", "duplicate"]  # type: ignore[union-attr]


def test_the_bodies_are_still_looked_for_where_they_came_first(catalog: Catalog) -> None:
    write(catalog, page(COPY, "same"), page(ORIGINAL, "same"), *citing(ORIGINAL))

    assert catalog.digests(10)[sha1(b"same").digest()].url == COPY
    assert [catalog.first_with_bytes_of(number) for number in (1, 2)] == [1, 1]


def test_a_find_of_a_search_never_takes_the_part_of_a_document(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page(ORIGINAL, "same"), *citing(COPY, by=3))

    with closing(Catalog(tmp_path / "catalog.sqlite", job="a-search")) as search:
        write(search, page(COPY, "same"))

    assert originals(catalog) == {COPY: ORIGINAL}


urls = st.sampled_from([f"http://{name}.test/{path}" for name in "abcd" for path in ("", "x")])
bodies = st.sampled_from(["one", "two"])
pages = st.builds(
    lambda url, body, links, canonical: page(url, body, *links, canonical=canonical),
    *(urls, bodies, st.lists(urls, max_size=3, unique=True), st.just("") | urls),
)
missing = st.builds(lambda url: Entry(replace(page(url, "").fetch, state="failed", reason="not-found")), urls)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.lists(pages | missing, max_size=16), st.integers(1, 5))
def test_equal_pages_always_have_exactly_one_original(history: Sequence[Entry], at_once: int) -> None:
    history = [
        replace(one, fetch=replace(one.fetch, fetched=FETCHED + n, status=200 if one.digest else 410))
        for n, one in enumerate(history)
    ]
    with TemporaryDirectory() as folder, closing(Catalog(Path(folder) / "catalog.sqlite")) as catalog:
        for start in range(0, len(history), at_once):
            write(catalog, *history[start : start + at_once])

            documents = catalog.documents(range(1, 99))
            originals = {one.digest: number for number, one in documents.items() if not one.duplicate_of}
            assert len(originals) == sum(not one.duplicate_of for one in documents.values())
            for one in documents.values():
                assert one.duplicate_of in (0, originals[one.digest])


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ('<link rel="canonical" href="http://home.example/a">', ORIGINAL),
        ('<link href="/a#top" rel="nofollow CANONICAL">', COPY),
        ('<link rel="canonical" href="http://home.example/a"><link rel="canonical" href="/b">', ORIGINAL),
        ('<link rel="canonical" href="">', ""),
        ('<link rel="canonical" href="mailto:ann@home.example">', ""),
        ('<link rel="stylesheet" href="/a">', ""),
    ],
)
def test_the_canonical_link_of_a_page_is_read(link: str, canonical: str) -> None:
    assert parse(f"<html><head>{link}</head><body>Text</body></html>".encode(), COPY).canonical == canonical


def test_an_original_whose_bytes_a_copy_brought_first_is_replayed_from_them(tmp_path: Path) -> None:
    html = f'<p>words before <a href="{THIRD}">a link</a>'.encode()
    archive(tmp_path, COPY, html)
    archive(tmp_path, ORIGINAL, html, original=Original(COPY, FETCHED))
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        write(catalog, *citing(ORIGINAL))
        assert originals(catalog) == {COPY: ORIGINAL}

    (link,) = Recording(tmp_path).fetch(ORIGINAL).links

    assert "words before" in link.context
