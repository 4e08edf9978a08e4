"""What each end of a download comes to, and how many more may begin: the crawl's side of a fetch."""

from __future__ import annotations

import asyncio

import pytest
from frontiers import links
from handmade import Handmade, Make, answered, made, make
from redis.exceptions import NoPermissionError
from scrapy import Request, signals
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, DownloadTimeoutError
from twisted.python.failure import Failure

from webcrawler.crawl.responses import Refused
from webcrawler.crawl.run import Decided
from webcrawler.frontier import Again
from webcrawler.job import sitemap_link
from webcrawler.records import Entry, Fetch, Original

__all__ = ["made", "make"]  # fixtures

A, B, C = (f"http://127.0.0.1/{name}" for name in ("", "b", "c"))


def fail(made: Handmade, request: Request, error: BaseException) -> None:
    """Its download has ended without an answer."""
    failure = Failure(error)
    failure.request = request  # type: ignore[attr-defined]  # as Scrapy does it
    made.crawl.outcomes.failed(failure)


# ---- downloads without an answer


@pytest.mark.parametrize(
    ("error", "was_begun", "outcome", "slows"),
    [
        (DownloadTimeoutError("late"), True, "retry/timeout", True),
        (DownloadFailedError("reset"), True, "retry/unreachable", False),
        (DownloadFailedError("x" * 10_000), True, "retry/unreachable", False),  # it is cut
        (DownloadCancelledError("large"), True, "failed/too-large", False),
        (Refused("robots-disallowed"), False, "failed/robots-disallowed", False),
        (Refused("robots-unreachable", retry=True), False, "retry/robots-unreachable", False),
    ],
)
def test_a_download_without_an_answer_is_reported_and_decided(
    made: Handmade, error: Exception, was_begun: bool, outcome: str, slows: bool
) -> None:
    request = made.request(A, **{"started": 1.0} if was_begun else {})

    fail(made, request, error)

    (report,) = made.crawl.take_reports()
    assert (report.downloaded, report.slow_down) == (was_begun, slows)
    assert made.settle() == {A: outcome}
    assert made.last(A).error == f"{type(error).__name__}: {error}"[:500]
    assert made.crawl.leases.open == {}


def test_no_url_loses_a_try_by_what_redis_refuses(made: Handmade) -> None:
    request = made.request(A)

    async def work() -> None:
        fail(made, request, NoPermissionError("User x has no permissions to run the 'set' command"))
        await asyncio.gather(*made.crawl.outcomes._tasks)

    asyncio.run(work())

    assert made.next().tries == 0


def test_sitemaps_that_are_too_large_are_known_at_the_end(made: Handmade) -> None:
    urls = ["http://a.test/map.xml", "http://b.test/map.xml"]
    first, second = (made.request(sitemap_link(url)) for url in urls)

    fail(made, first, DownloadCancelledError("large"))
    read = Fetch(second.meta["lease"], "done", "sitemap", 1.0, status=200)
    made.crawl.outcomes.decide(Entry(read, refused={"too-large": 1}))

    assert made.crawl.outcomes.too_large == urls


def test_what_was_decided_already_is_not_decided_again(made: Handmade) -> None:
    request = made.request(A)
    made.download(request, answered(request, 404))

    fail(made, request, Decided())

    assert made.settle() == {A: "failed/not-found"}
    assert len(made.kept()) == 1


def test_a_connection_that_was_refused_here_says_why_and_is_not_tried_again(made: Handmade) -> None:
    made.crawl.stores.resolver._refused.add("inside.test")

    fail(made, made.request("http://inside.test/"), DownloadFailedError("none"))

    assert made.settle() == {"http://inside.test/": "failed/address-refused"}


@pytest.mark.parametrize(
    ("verifies", "outcome"), [(True, "failed/certificate-expired"), (False, "retry/unreachable")]
)
def test_a_bad_certificate_is_the_reason_where_it_has_ended_the_connection(
    make: Make, verifies: bool, outcome: str
) -> None:
    made, url = make(DOWNLOAD_VERIFY_CERTIFICATES=verifies), "https://127.0.0.1/"
    made.crawl.certificates.note("127.0.0.1", 443, "certificate-expired")

    fail(made, made.request(url), DownloadFailedError("reset"))

    assert made.settle() == {url: outcome}


@pytest.mark.parametrize("tries", [0, 1])
def test_the_history_says_whether_another_try_follows(made: Handmade, tries: int) -> None:
    for _ in range(tries + 1):
        made.answer(A, status=500)
        made.settle()

    fetch = made.last(A)
    assert (fetch.tries, fetch.retry) == (tries, tries == 0)


def test_documents_of_kinds_that_are_not_read_are_counted_by_kind(make: Make) -> None:
    made = make(DOCUMENT_TYPES="")
    for url, kind in ((A, "application/pdf"), (B, "image/png")):
        made.answer(url, body=b"%PDF", Content_Type=kind)
        made.settle()

    counted = {name: value for name, value in made.stats.items() if "unread" in name}
    assert counted == {"webcrawler/unread/pdf": 1}


# ---- documents


def test_a_page_of_which_nothing_can_be_made_is_tried_again_and_nothing_is_its_duplicate(
    made: Handmade,
) -> None:
    page = made.page(A)
    lease, digest = page.request.meta["lease"], b"1" * 20  # type: ignore[union-attr]
    made.crawl.outcomes.first_with(digest, Original(A, 1.0))
    made.crawl.outcomes.extend(lease, lambda entry: entry.__class__(entry.fetch, digest))

    made.crawl.outcomes.give_up(page, "a pipeline failed")

    assert made.settle() == {A: "retry/unparsable"}
    assert made.last(A).error == "a pipeline failed"
    assert made.crawl.outcomes.first_with(digest, Original(B, 2.0)).url == B


def test_what_comes_late_is_not_added_to_what_was_decided(made: Handmade) -> None:
    page = made.page(A)
    made.crawl.outcomes.finish(page)

    made.crawl.outcomes.extend(page.request.meta["lease"], lambda entry: 1 / 0)  # type: ignore[union-attr,arg-type,return-value]
    made.crawl.outcomes.finish(page)

    assert made.settle() == {A: "done/document"}


ENDS = {
    # signal: (what else it tells, what comes of the page)
    "item_scraped": ({"item": {}}, "done/document"),
    "item_dropped": ({"item": {}, "exception": None}, "done/document"),  # it was fetched all the same
    "item_error": ({"item": {}, "failure": None}, "retry/unparsable"),
    "spider_error": ({"failure": None}, "retry/unparsable"),
}


@pytest.mark.parametrize("signal", ENDS)
def test_whatever_becomes_of_an_item_decides_its_page(made: Handmade, signal: str) -> None:
    also, outcome = ENDS[signal]
    told = {"signal": getattr(signals, signal), "spider": made.spider, "response": made.page(A), **also}

    asyncio.run(made.crawler.signals.send_catch_log_async(**told))

    assert made.settle() == {A: outcome}


# ---- how many more


def allowed(made: Handmade, wanted: int = 9) -> int:
    """How many of so many may be leased; a limit ends the crawl in good order."""

    async def ask() -> int:
        found = made.crawl.allowance(wanted)
        await asyncio.sleep(0)
        return found

    return asyncio.run(ask())


def test_as_many_are_leased_as_may_be_documents_within_max_pages(make: Make) -> None:
    made = make(max_pages=3)
    assert allowed(made) == 3

    first, gone = made.page(A), made.request(B)
    assert allowed(made) == 1  # two may yet be documents

    made.download(gone, answered(gone, 404))
    assert allowed(made) == 2  # on its way into a batch
    made.settle()
    assert allowed(made) == 2

    made.crawl.outcomes.finish(first)
    made.settle()
    assert allowed(made) == 2
    assert made.engine.ended == ""


def test_a_crawl_ends_at_max_pages_once(make: Make) -> None:
    made = make(max_pages=1)
    made.crawl.outcomes.finish(made.page(A))

    async def settled() -> None:
        made.settle()
        await asyncio.sleep(0)

    asyncio.run(settled())

    assert made.engine.ended == "max_pages"
    made.engine.ended = ""
    assert allowed(made) == 0
    assert made.engine.ended == ""


def test_checks_count_as_documents_of_a_run(make: Make) -> None:
    made = make(max_pages=5)
    made.scrape(made.page(A))
    made.frontier.again([Again(A, "done/document")])

    check = made.request()
    assert allowed(made) == 3
    made.download(check, answered(check, 404))
    assert allowed(made) == 3  # missing: that is told all the same

    made.settle()
    assert made.crawl.outcomes.documents == 2
    assert allowed(made) == 3


def test_a_full_collection_takes_nothing_new_and_a_page_that_is_gone_makes_room(make: Make) -> None:
    made = make(COLLECTION_MAX=2)
    assert allowed(made) == 2

    for url in (A, B):
        made.scrape(made.page(url))
    made.frontier.discover(links(C))
    made.frontier.again([Again(A, "done/document")])

    assert made.crawl.outcomes.is_full
    assert allowed(made) == 9  # checks, and what replaces others
    check = made.request()
    assert check.url == A
    made.download(check, answered(check, 410))
    assert made.settle() == {A: "checked/gone"}
    assert not made.crawl.outcomes.is_full
    assert allowed(made) == 1


@pytest.mark.parametrize(
    ("was", "status", "outcome"),
    [
        (404, 404, "failed/not-found"),
        (404, 500, "retry/server-error"),
        (404, 200, "done/document"),
        (301, 404, "failed/not-found"),
        (200, 404, "checked/missing"),
        (200, 410, "checked/gone"),
    ],
)
def test_what_was_no_document_comes_to_the_same_as_at_first_when_it_is_fetched_again(
    made: Handmade, was: int, status: int, outcome: str
) -> None:
    reasons = {404: "failed/not-found", 301: "done/redirect", 200: "done/document"}
    assert came_to(made, made.request(A), was) == reasons[was]

    made.frontier.again([Again(A, reasons[was])])

    assert came_to(made, made.request(), status) == outcome


def came_to(made: Handmade, request: Request, status: int) -> str:
    response = answered(request, status, b"<title>A page</title>", Location=B)
    going_on = made.download(request, response)
    return (made.scrape(response) if going_on is response else made.settle())[A]


def test_nothing_is_leased_while_the_disk_is_behind(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> None:
    assert allowed(made) == 9

    monkeypatch.setattr(type(made.batch), "full", True)

    assert allowed(made) == 0
