"""Pages that the catalog has lead on as if they had just been fetched."""

from __future__ import annotations

from pathlib import Path

from conftest import MakeFrontier
from crawled import crawled, fetched, link
from frontiers import lease_one
from learning import lease_of, text

from webcrawler.archive import recall, take_in
from webcrawler.archive.catalog import Catalog
from webcrawler.frontier import inspect, ordering
from webcrawler.urls import url_id

A, B, C, D = (f"http://{name}.test/" for name in "abcd")


def catalog_of(folder: Path) -> Catalog:
    """A links to B, which was fetched, to C, and to D without being followed; B to C."""
    links = (link(B, "to b"), link(C, "to c"), link(D, "to d", rel="nofollow"))
    crawled(folder, fetched(A, *links, title="quokka"), fetched(B, link(C, "quokka")))
    return Catalog(folder / "catalog.sqlite")


def number_of(catalog: Catalog, url: str) -> int:
    return next(number for number, known in catalog.urls.all() if known == url)


def test_a_page_comes_with_its_text_and_the_links_that_lead_on(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    number = number_of(catalog, A)

    ((seen,),) = recall(catalog, [number], {number: 0.5})

    assert (seen.url, seen.relevance) == (A, 0.5)
    assert seen.text is not None
    assert seen.text.title == "quokka"
    assert [(one.url, one.anchor) for one in seen.links] == [(C, "to c")]
    assert seen.linked == [url_id(B)]


def test_pages_come_in_the_order_asked_for_and_none_that_is_no_document(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    numbers = [number_of(catalog, url) for url in (B, C, A)]

    (seen,) = recall(catalog, numbers)

    assert [one.url for one in seen] == [B, A]


def test_a_context_graph_learns_from_links_that_were_followed_which_pages_lead_to_the_topic(
    tmp_path: Path,
) -> None:
    hub, weather = "laboratories and institutes", "rain and snow"
    crawled(tmp_path, fetched(A, link(B), title=hub), fetched(B, title="quokka"), fetched(C, title=weather))
    catalog, by = Catalog(tmp_path / "catalog.sqlite"), ordering("context-graph?query=quokka")

    for seen in recall(catalog, [number_of(catalog, url) for url in (A, B, C)]):
        by.learn(seen)

    assert by.page_note(text("", title=hub), lease_of(D)) > by.page_note(text("", title=weather), lease_of(D))


def test_their_links_are_taken_in_by_the_ordering_once(tmp_path: Path, make_frontier: MakeFrontier) -> None:
    frontier = make_frontier("best-first?query=quokka", name="realtime:1")
    (seen,) = recall(catalog_of(tmp_path), [1, 2])

    take_in(frontier, seen)
    take_in(frontier, seen)

    assert inspect.stats(frontier)["seen"] == 1
    assert lease_one(frontier).url == C
