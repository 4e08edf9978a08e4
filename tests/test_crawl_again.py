"""What a second crawl of a data folder does with what the first one left; both are made once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from localweb import Answer, Crawled, Route, Site, crawl, page, sites

from webcrawler.archive.pages import records
from webcrawler.scope import change

SITEMAP = Answer("<urlset><url><loc>/in/from-map</loc></url></urlset>", kind="text/xml")
SAME = Answer("<title>The same</title>bytes, whenever they are fetched")
ROUTES: dict[str, Route] = {
    "/in/": page("/in/map.xml", "/in/same", "/in/waits", "/out/waits", "/in/over-budget"),
    "/in/map.xml": SITEMAP,  # a link leads there, and nobody has said yet what it is
    "/in/same": SAME,
    "/in/waits": page(),
    "/out/waits": page(),
    "/in/over-budget": page(),
    "/in/seed": SAME,
    "/in/removed": page(),
    "/in/from-map": page(),
}
BUDGET = 5  # URLs: the first page and four of its links


class Two(NamedTuple):
    site: Site
    first: list[str]  # paths that the first one asked for
    second: list[str]
    crawled: Crawled

    def reason(self, path: str) -> str:
        return self.crawled.reason(self.site.url + path)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder: Path = tmp_path_factory.mktemp("again") / "crawl"
    with sites(site=ROUTES) as opened:
        site = opened["site"]

        def go(*arguments: str) -> Crawled:
            given = [part for one in arguments for part in ("-a", one)]
            limits = {"BUDGET_SERVER": BUDGET, "FRONTIER_SERVER_CONCURRENCY": 1}
            return crawl(folder, "index", *given, **limits)

        go(f"seeds={site.url}/in/", "mode=fifo", "max_pages=2")
        first = list(site.pages)
        change(folder, lambda scope: replace(scope, removed=(f"{site.url}/in/removed",)))
        crawled = go(
            f"seeds={site.url}/in/seed,{site.url}/in/removed",
            f"sitemaps={site.url}/in/map.xml",
            f"include={site.url}/in/*",
        )
        yield Two(site, first, site.pages[len(first) :], crawled)


def test_the_first_one_fetches_so_many_documents(two: Two) -> None:
    assert two.first == ["/in/", "/in/map.xml", "/in/same"]


def test_the_second_one_fetches_its_seeds_and_what_waited_within_its_scope(two: Two) -> None:
    assert sorted(two.second) == ["/in/map.xml", "/in/seed", "/in/waits"]


def test_what_waited_out_of_the_scope_is_decided_without_being_asked_for(two: Two) -> None:
    assert two.crawled.frontier["states"]["reasons"]["scope"] == 1
    assert (two.crawled.frontier["states"]["queued"], two.crawled.frontier["states"]["leased"]) == (0, 0)


def test_a_seed_comes_in_whatever_the_budgets_say_and_a_link_does_not(two: Two) -> None:
    assert two.reason("/in/seed") == "done/duplicate"
    assert two.crawled.frontier["states"]["refused"]["budget-server"] >= 1


def test_what_was_fetched_as_a_page_is_read_as_a_sitemap_once_somebody_says_so(two: Two) -> None:
    assert two.reason("/in/map.xml") == "done/sitemap"


def test_bytes_that_an_earlier_crawl_has_kept_are_not_kept_again(two: Two) -> None:
    kept = {record.response.url: record for record in records(two.crawled.folder / "pages")}
    seed = kept[f"{two.site.url}/in/seed"]

    assert (seed.kind, seed.refers_to) == ("revisit", f"{two.site.url}/in/same")
