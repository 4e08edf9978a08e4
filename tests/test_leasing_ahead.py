"""Scrapy's scheduler over a frontier, a round trip at a time: what is leased ahead, and when all is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from frontiers import done, fetch, lease_one, links, visit
from handmade import HANGS_SECONDS, Handmade, Make, made, make
from redis.exceptions import ConnectionError as Away
from scrapy import Request
from scrapy.core.scheduler import Scheduler as ScrapyScheduler

from webcrawler import clock, scheduler
from webcrawler.crawl import open_leases
from webcrawler.frontier import Frontier, inspect
from webcrawler.scheduler import Scheduler

__all__ = ["made", "make"]  # fixtures

A, B, C = (f"http://127.0.0.{n}/" for n in (1, 2, 3))


def leased(made: Handmade) -> int:
    found: int = inspect.stats(made.frontier)["leased"]
    return found


def requests(made: Handmade) -> list[str]:
    """What Scrapy is given now."""
    return [request.url for request in iter(made.scheduler.next_request, None)]


# ---- how many are leased ahead


def test_half_as_many_are_leased_ahead_as_there_are_downloads(make: Make) -> None:
    made = make(*(f"http://127.0.0.{n}/" for n in range(1, 20)), CONCURRENT_REQUESTS=8)

    made.refill()

    assert leased(made) == 4


def test_with_one_download_at_a_time_nothing_is_leased_before_it_is_decided(make: Make) -> None:
    made = make(A, B, CONCURRENT_REQUESTS=1)

    made.refill()
    assert requests(made) == [A]

    made.refill()
    assert requests(made) == []
    assert leased(made) == 1


def test_no_more_is_leased_than_the_crawl_may_fetch(make: Make) -> None:
    made = make(A, B, C, max_pages=2)

    made.refill()

    assert leased(made) == 2


def test_a_crawl_that_is_closing_leases_nothing(make: Make) -> None:
    made = make(A)
    made.engine.closing = True

    made.refill()

    assert leased(made) == 0


def test_servers_that_may_not_answer_leave_places_to_those_that_do(make: Make) -> None:
    """Six of eight; a server is doubtful until it has answered in time."""
    made = make(A, CONCURRENT_REQUESTS=8)
    fetch(made.frontier, lease_one(made.frontier))
    doubtful = [f"http://127.0.1.{n}/" for n in range(1, 20)]
    made.frontier.discover(links(*doubtful, A + "late"))
    made.crawl.leases.downloads = open_leases.Downloads(8, lambda: 0.0)

    async def work() -> list[str]:
        found = []
        for _ in range(9):
            await made.scheduler._refill()
            for request in iter(made.scheduler.next_request, None):
                found.append(request.url)
                await made.scheduler._refill()  # as in a crawl, in which others are in the buffer then
        return found

    assert sorted(asyncio.run(work())) == sorted([A + "late", *doubtful[:6]])
    assert leased(made) == 1 + 7


# ---- what Scrapy is given


def test_what_goes_on_within_its_lease_comes_first(make: Make) -> None:
    made = make(A, B)
    made.refill()
    going_on = Request(C)
    made.crawl.resumed.append(going_on)

    assert made.scheduler.next_request() is going_on
    assert requests(made) == [A, B]


def test_a_lease_of_which_no_request_can_be_made_does_not_hold_up_the_next(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(A, B)
    made.refill()
    request = made.crawl.request
    monkeypatch.setattr(made.crawl, "request", lambda lease: request(lease) if lease.url == B else None)

    assert requests(made) == [B]


@pytest.mark.parametrize(
    ("is_known", "patience"), [(True, open_leases.PATIENCE_SECONDS), (False, open_leases.LOOK_UP_SECONDS)]
)
def test_scrapy_gets_nothing_while_all_places_are_taken_and_is_woken_if_one_is_old(
    make: Make, is_known: bool, patience: float
) -> None:
    """Those are sooner whose name is not known yet."""
    made = make(A, CONCURRENT_REQUESTS=2)
    visit(made.frontier)  # it answers in time
    paths = [f"{A}{n}" for n in range(8)]
    made.frontier.discover(links(*paths))
    now = [100.0]
    made.crawl.leases.downloads = downloads = open_leases.Downloads(2, lambda: now[0])

    async def work() -> None:
        for turn in range(3):
            await made.scheduler._refill()
            given = requests(made)
            assert given == paths[2 * turn : 2 * turn + 2]
            for url in given if is_known else ():
                downloads.begin(url)
            await made.scheduler._refill()  # more are there
            now[0] += patience - 0.01
            woken = made.engine.woken
            assert requests(made) == []
            await made.engine.wakes(woken)
            now[0] += 0.02

    asyncio.run(work())


def test_more_are_leased_when_half_of_the_buffer_is_gone(make: Make) -> None:
    made = make(*(f"http://127.0.0.{n}/" for n in range(1, 9)), CONCURRENT_REQUESTS=8)
    made.refill()
    made.crawl.leases.changed.clear()

    asks = []
    for _ in range(4):
        made.scheduler.next_request()
        asks.append(made.crawl.leases.changed.is_set())
    assert asks == [False, False, True, True]

    made.crawl.leases.changed.clear()
    assert made.scheduler.next_request() is None
    assert made.crawl.leases.changed.is_set()


# ---- one round trip


def test_links_are_taken_in_once_and_the_engine_is_woken(made: Handmade) -> None:
    counted: list[tuple[int, int]] = []
    made.crawl.count_links = lambda *counts: counted.append(counts)
    assert made.scheduler.enqueue_request(Request(A)) and made.scheduler.enqueue_request(Request(A))

    made.refill()
    made.refill()

    assert (counted, made.crawl.new_links) == ([(1, 1)], [])
    assert requests(made) == [A]
    assert made.engine.woken


def test_reports_that_did_not_reach_the_frontier_are_sent_again(
    made: Handmade, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.answer(A)

    def away(*_: object) -> None:
        raise Away

    monkeypatch.setattr(made.frontier, "lease", away)
    with pytest.raises(Away):
        made.refill()

    assert [report.lease.url for report in made.crawl.take_reports()] == [A]


def fails_once(made: Handmade, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Asked for leases, the frontier first raises it."""
    lease, errors = made.frontier.lease, [error]

    def failing(*arguments: Any) -> object:
        if errors:
            raise errors.pop()
        return lease(*arguments)

    monkeypatch.setattr(made.frontier, "lease", failing)


def test_a_redis_that_is_away_is_asked_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "RETRY_SECONDS", (0.0, 0.0))
    made = make(A)
    fails_once(made, monkeypatch, Away())

    async def work() -> list[str]:
        feeder = asyncio.ensure_future(made.scheduler._feed())
        await made.engine.wakes(0)
        feeder.cancel()
        return requests(made)

    assert asyncio.run(work()) == [A]


def test_an_error_of_ours_ends_the_crawl(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(A)
    fails_once(made, monkeypatch, ZeroDivisionError())

    async def work() -> None:
        await asyncio.wait_for(made.scheduler._feed(), HANGS_SECONDS)
        await asyncio.sleep(0)  # the engine is told by a task of its own

    asyncio.run(work())

    assert made.engine.ended == "scheduler_failed"


def opened(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> Handmade:
    """Its scheduler is opened, without its loop and the thread for calls; the crawl is open."""
    monkeypatch.setattr(scheduler, "Calls", lambda *_: None)
    monkeypatch.setattr(made.crawl, "open", lambda spider: None)

    async def work() -> None:
        made.scheduler.open(made.spider)
        made.scheduler._feeder.cancel()

    asyncio.run(work())
    return made


def test_scrapy_lets_exempt_ones_through(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = opened(made, monkeypatch).engine.downloader.total_concurrency

    assert allowed == made.crawl.leases.downloads.scrapy_limit


def test_of_what_is_learnt_little_is_leased_ahead(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"http://127.0.0.{n}/" for n in range(1, 9)]
    made = opened(make(*urls, mode="adaptive?query=gene", CONCURRENT_REQUESTS=16), monkeypatch)

    made.refill()

    assert leased(made) == 4


def test_the_next_round_trip_is_made_when_a_server_is_due(make: Make) -> None:
    made = make(A)
    made.frontier.postpone(A.rstrip("/"), 0.3)
    assert 0 < made.refill() <= 0.3

    made.frontier.postpone(A.rstrip("/"), 300)
    assert made.refill() == clock.SCHEDULER_POLL_SECONDS


def test_what_was_fetched_is_decided_when_nothing_is_left_to_download(made: Handmade) -> None:
    made.crawl.outcomes.finish(made.page(A))

    made.refill()

    assert made.written() == {A: "done/document"}  # nobody has asked for it


# ---- the end


def ends(made: Handmade) -> bool:
    made.refill()
    return not made.scheduler.has_pending_requests()


def test_all_is_over_when_nothing_is_left_and_the_engine_is_told(made: Handmade) -> None:
    assert made.scheduler.has_pending_requests()
    assert ends(made)
    assert made.engine.woken == 1

    made.scheduler.enqueue_request(Request(A))
    assert made.scheduler.has_pending_requests()
    assert not ends(made)


def test_what_earlier_runs_have_set_aside_is_tried_alone_at_the_end(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(A, B)
    for _ in range(5):
        victim = made.frontier.on(made.frontier.client)
        victim.expire(5)
        victim.lease(1)
        victim.expire_dead(lambda worker: True)
    assert [one["url"] for one in inspect.quarantined(made.frontier)] == [A]
    opened(made, monkeypatch)

    made.refill()
    assert requests(made) == [B]
    made.frontier.complete([done(made.crawl.leases.open.pop(B))])
    assert not ends(made)
    assert not ends(made)
    assert requests(made) == [A]


def waits(made: Handmade) -> None:
    made.frontier.discover(links(A))
    made.frontier.postpone(A.rstrip("/"), 300)


def is_leased_elsewhere(made: Handmade) -> None:
    made.frontier.discover(links(A))
    lease_one(made.frontier)


def is_expected(made: Handmade) -> None:
    made.crawl._has_checks_left = True


@pytest.mark.parametrize("why", [waits, is_leased_elsewhere, is_expected])
def test_it_is_not_over_while_there_may_be_more(made: Handmade, why: Callable[[Handmade], None]) -> None:
    why(made)

    assert not ends(made)


def test_it_is_not_over_while_links_are_on_their_way(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = Frontier.lease

    def slow(frontier: Frontier, *arguments: Any) -> object:
        made.crawl.new_links += links(A)  # found while Redis was asked
        return lease(frontier, *arguments)

    monkeypatch.setattr(Frontier, "lease", slow)

    assert not ends(made)


# ---- which scheduler


def test_scrapy_s_own_scheduler_fetches_a_page_for_a_shell(made: Handmade) -> None:
    made.crawler.crawling = False
    assert isinstance(Scheduler.from_crawler(made.crawler), ScrapyScheduler)

    made.crawler.crawling = True
    assert isinstance(Scheduler.from_crawler(made.crawler), Scheduler)
