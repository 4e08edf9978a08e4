"""A collection of fixed size: better pages replace the least important ones, and links stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from localweb import Crawled, Route, Site, copy_at_rest, crawl, page, sites
from waiting import at_rest

from webcrawler import settings
from webcrawler.archive.catalog import Catalog
from webcrawler.background import VIEWS_NEED, Views
from webcrawler.connection import connect, serialized
from webcrawler.frontier import Again, Frontier, ordering
from webcrawler.index.follower import lag, wait_until_caught_up
from webcrawler.linkgraph import stored

pytestmark = pytest.mark.slow

PAGES = [f"/{n}" for n in range(20)]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes: dict[str, Route] = {"/": page(*PAGES), **{name: page("/") for name in PAGES}}
    with sites(site=routes) as opened:
        yield opened["site"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Crawled:
    return run(tmp_path_factory.mktemp("full") / "crawl", site)


@pytest.fixture
def first(full: Crawled, tmp_path: Path) -> Crawled:
    """A crawl that was ended by the size of its collection."""
    return Crawled(copy_at_rest(full.folder, tmp_path / "crawl"), full.status, full.log)


def run(tmp_path: Path, site: Site, *arguments: str, most: int = 10, **settings: object) -> Crawled:
    site.asked.clear()
    seeds = ("-a", f"seeds={site.url}/", *arguments)
    return crawl(tmp_path, "index", *seeds, COLLECTION_MAX=most, **settings)


def rank(tmp_path: Path, site: Site, ranks: dict[str, float]) -> None:
    """As the ranker would have stored them."""
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        urls = dict(catalog.urls.all())
        values = [ranks.get(urls[number].removeprefix(site.url), 1.0) for number in sorted(urls)]
        stored.store(tmp_path / "ranks", np.array(values), catalog.last_seq(), catalog.identity)


def names(crawled: Crawled, site: Site) -> set[str]:
    return {url.removeprefix(site.url) for url in crawled.documents()}


def test_a_crawl_ends_when_the_collection_is_full_and_never_passes_its_size(
    first: Crawled, site: Site
) -> None:
    again = run(first.folder, site)

    assert (first.status, again.status) == (0, 0)
    assert "collection_full" in first.log
    assert len(again.documents()) == 10
    assert site.pages == []
    states = again.frontier["states"]
    assert states["seen"] == 21 == states["queued"] + states["done"]


def test_a_page_of_twice_the_rank_replaces_the_least_important_one_whose_links_stay(
    first: Crawled, site: Site
) -> None:
    edges = first.edges()
    (*_, least) = members = sorted(names(first, site) - {"/"})
    best, second = sorted(set(PAGES) - set(members))[:2]
    rank(first.folder, site, {least: 0.5, best: 9.0, second: 0.9})

    after = run(first.folder, site, "-a", "refresh=yes", "-a", "max_pages=60", REFRESH_AT_MOST=0)

    assert names(after, site) == {"/", *members, best} - {least}
    assert second not in site.pages
    assert edges <= after.edges()
    states = after.frontier["states"]
    assert states["reasons"]["discarded"] == 1
    assert states["seen"] == states["queued"] + states["done"] + states["failed"]


def test_at_most_a_fifth_of_the_fetches_are_replacements(first: Crawled, site: Site) -> None:
    waiting = set(PAGES) - names(first, site)
    rank(first.folder, site, dict.fromkeys(waiting, 9.0))

    run(first.folder, site, "-a", "refresh=once")

    assert sum(name in waiting for name in site.pages) <= len(site.pages) / 5


def test_without_ranks_nothing_is_replaced(first: Crawled, site: Site) -> None:
    before = first.documents()

    assert run(first.folder, site, "-a", "refresh=once").documents() == before


def test_a_smaller_size_discards_the_least_important_documents(first: Crawled, site: Site) -> None:
    members = sorted(names(first, site) - {"/"})
    rank(first.folder, site, {name: 10.0 - n for n, name in enumerate(members)} | {"/": 20.0})

    after = run(first.folder, site, "-a", "refresh=once", most=4)

    assert names(after, site) == {"/", *members[:3]}


def test_what_is_too_much_after_the_last_page_of_a_crawl_leaves_the_collection_and_the_index(
    first: Crawled, site: Site
) -> None:
    members = sorted(names(first, site) - {"/"})
    rank(first.folder, site, {name: 10.0 - n for n, name in enumerate(members)} | {"/": 20.0})
    wait_until_caught_up(first.folder)
    with connect(None, first.folder) as connection:  # a check of a page that leaves still waits
        frontier = Frontier(connection.client, ordering("fifo"))
        assert frontier.again([Again(site.url + members[-1], "done/document")]) == 1

    told = {name: getattr(settings, name) for name in VIEWS_NEED} | {"COLLECTION_MAX": 4}
    Views(first.folder).ensure_started(serialized(told, others=VIEWS_NEED))
    at_rest(first.folder)

    assert names(first, site) == {"/", *members[:3]}
    states = first.frontier["states"]
    assert (states["reasons"]["document"], states["reasons"]["discarded"]) == (4, 6)
    assert states["seen"] == states["queued"] + states["done"] + states["failed"]
    assert not lag(first.folder)
