"""What the spider makes of a document, and of a parser that fails."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import pytest
from handmade import HANGS_SECONDS, Handmade, Make, made, make
from scrapy.http import Response

from pipelines.fulltext import FullTextPipeline
from webcrawler import urls
from webcrawler.crawl import CrawledPage
from webcrawler.errors import ParserKilled, Unavailable, Unreadable
from webcrawler.frontier import Again, inspect
from webcrawler.job import seed_link, sitemap_link
from webcrawler.records import FORM, Entry, Link

__all__ = ["made", "make"]  # fixtures

A, B = "http://127.0.0.1/", "http://127.0.0.1/b"


async def items(made: Handmade, response: Response) -> list[CrawledPage]:
    return [item async for item in made.spider.parse(response)]


def test_a_page_that_kills_its_parser_is_tried_again_and_then_set_aside(made: Handmade) -> None:
    made.parsers.error = ParserKilled("it wanted all memory")

    assert made.scrape(made.page(A)) == {A: "retry/quarantined"}
    assert made.scrape(made.page()) == {A: "quarantined"}
    assert made.last(A).error == "it wanted all memory"


def test_a_document_that_nobody_can_read_is_not_tried_again(made: Handmade) -> None:
    made.parsers.error = Unreadable("no password")

    assert made.scrape(made.page(A)) == {A: "failed/not-indexable"}


def test_a_page_whose_parser_was_stopped_from_outside_goes_back_and_no_try_is_counted(made: Handmade) -> None:
    made.parsers.error = Unavailable("stopped")

    asyncio.run(items(made, made.page(A)))

    assert made.crawl.leases.open == {}
    assert inspect.stats(made.frontier)["queued"] == 1
    assert made.next().tries == 0


@pytest.mark.parametrize("second", [seed_link(B), sitemap_link(B)], ids=["a page", "a sitemap"])
def test_pages_are_decided_in_the_order_in_which_they_were_fetched(made: Handmade, second: Link) -> None:
    page = made.parsers.parse(b"", A).result()
    slow, quick = made.page(A), made.page(second, Content_Type="text/xml" if second.request else "text/html")
    futures: list[Future[Any]] = [Future(), Future()]
    made.parsers.waiting = list(futures)

    async def scrape(response: Response) -> None:
        await items(made, response)
        made.crawl.outcomes.finish(response)

    async def both() -> None:
        work = [asyncio.create_task(scrape(response)) for response in (slow, quick)]
        await asyncio.sleep(0)
        futures[1].set_result(None if second.request else page)
        await asyncio.wait(work, timeout=0.05)  # as long as the other one lets it
        futures[0].set_result(page)
        await asyncio.wait_for(asyncio.gather(*work), HANGS_SECONDS)

    asyncio.run(both())
    assert list(made.settle()) == [A, B]


def test_a_page_that_fails_does_not_hold_up_the_next(made: Handmade) -> None:
    first, second = made.page(A), made.page(B)

    async def both() -> list[CrawledPage]:
        made.parsers.error = ParserKilled("dead")
        await items(made, first)
        made.parsers.error = None
        return await asyncio.wait_for(items(made, second), HANGS_SECONDS)

    assert [item.url for item in asyncio.run(both())] == [B]


def test_what_a_server_says_of_a_path_that_cannot_exist_is_known_as_not_found(made: Handmade) -> None:
    missing = b"<title>Oops</title><p>There is nothing here, look <a href=/elsewhere>elsewhere</a>."
    assert made.scrape(made.page(B)) == {B: "done/document"}
    probe = seed_link(urls.probe(A.rstrip("/")))
    assert made.scrape(made.page(probe, body=missing)) == {probe.url: "done/probe"}
    assert inspect.stats(made.frontier)["seen"] == 2  # it is no page that leads anywhere

    made.frontier.again([Again(B, "done/document")])

    assert made.scrape(made.page(body=missing)) == {B: "checked/missing"}


@pytest.mark.parametrize("location", ["", A + "0123-no-such-page/"])
def test_a_path_that_cannot_exist_is_no_document_and_leads_nowhere_however_it_comes_to_be_fetched(
    made: Handmade, location: str
) -> None:
    probe = urls.probe(A.rstrip("/"))

    if location:
        made.answer(probe, status=301, Location=location)
        assert made.settle() == {probe: "done/redirect"}
    else:
        assert made.scrape(made.page(probe)) == {probe: "done/probe"}

    assert inspect.stats(made.frontier)["seen"] == 1
    with closing(made.catalog()) as catalog:
        assert [url for _, url in catalog.urls.all()] == [probe]


def test_search_forms_are_read_on_the_pages_that_were_chosen_for_it(make: Make) -> None:
    made, form = make(FORMS=A + "*"), b"<title>Library</title><form action=/find><input name=q></form>"

    (chosen,) = asyncio.run(items(made, made.page(A, body=form)))
    (other,) = asyncio.run(items(made, made.page("http://127.0.0.2/", body=form)))

    assert [link.rel for link in chosen.page.links] == [FORM]
    assert other.page.links == ()


def test_a_seed_on_a_mirror_is_one_on_its_original(make: Make) -> None:
    made = make(seeds="http://mirror.test/1", MIRRORS={"http://mirror.test/": "http://original.test/"})

    assert made.spider.job.seeds == ("http://original.test/1",)


@pytest.mark.parametrize(("headers", "is_indexed"), [({}, True), ({"X_Robots_Tag": "noindex"}, False)])
def test_words_of_a_page_that_is_not_to_be_indexed_are_handed_to_nobody(
    made: Handmade, headers: dict[str, str], is_indexed: bool
) -> None:
    (item,) = asyncio.run(items(made, made.page(A, **headers)))

    text = FullTextPipeline(made.crawl).add(Entry(item.fetch), item).text

    assert bool(text) == is_indexed
