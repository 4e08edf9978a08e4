"""Scrapy's scheduler over a frontier, a round trip at a time: what is leased ahead, and when all is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFrontier
from frontiers import fetch, lease_one, links, visit
from handmade import Handmade, answered
from redis.exceptions import ConnectionError as Away
from scrapy import Request
from scrapy.core.scheduler import Scheduler as ScrapyScheduler

from webcrawler import pace
from webcrawler.crawl import open_leases
from webcrawler.frontier import Frontier, inspect
from webcrawler.scheduler import Scheduler

A, B, C = (f"http://127.0.0.{n}/" for n in (1, 2, 3))


@pytest.fixture
def make(tmp_path: Path, make_frontier: MakeFrontier) -> Iterator[Any]:
    made: list[Handmade] = []

    def one(concurrency: int = 8, mode: str = "fifo", **arguments: str) -> tuple[Handmade, Scheduler]:
        given = {"mode": mode, **arguments}
        crawl = Handmade(tmp_path, make_frontier(mode), given, CONCURRENT_REQUESTS=concurrency)
        made.append(crawl)
        return crawl, Scheduler(crawl.crawler, crawl.crawl)

    yield one
    for crawl in made:
        crawl.close()


def leased(made: Handmade) -> int:
    found: int = inspect.stats(made.frontier)["leased"]
    return found


def requests(scheduler: Scheduler) -> list[str]:
    """What Scrapy is given now."""
    return [request.url for request in iter(scheduler.next_request, None)]


# ---- how many are leased ahead


def test_half_as_many_are_leased_ahead_as_there_are_downloads(make: Any) -> None:
    made, scheduler = make(concurrency=8)
    made.frontier.discover(links(*(f"http://127.0.0.{n}/" for n in range(1, 20))))

    asyncio.run(scheduler._refill())

    assert leased(made) == 4


def test_with_one_download_at_a_time_nothing_is_leased_before_it_is_decided(make: Any) -> None:
    made, scheduler = make(concurrency=1)
    made.frontier.discover(links(A, B))

    async def work() -> list[list[str]]:
        rounds = []
        for _ in range(2):
            await scheduler._refill()
            rounds.append(requests(scheduler))
        return rounds

    assert asyncio.run(work()) == [[A], []]
    assert leased(made) == 1


def test_no_more_is_leased_than_the_crawl_may_fetch(make: Any) -> None:
    made, scheduler = make(max_pages="2")
    made.frontier.discover(links(A, B, C))

    asyncio.run(scheduler._refill())

    assert leased(made) == 2


def test_a_crawl_that_is_closing_leases_nothing(make: Any) -> None:
    made, scheduler = make()
    made.frontier.discover(links(A))
    made.engine.closing = True

    asyncio.run(scheduler._refill())

    assert leased(made) == 0


def test_servers_that_may_not_answer_leave_places_to_those_that_do(make: Any) -> None:
    """Six of eight; a server is doubtful until it has answered in time."""
    made, scheduler = make(concurrency=8)
    made.frontier.discover(links(A))
    fetch(made.frontier, lease_one(made.frontier))
    doubtful = [f"http://127.0.1.{n}/" for n in range(1, 20)]
    made.frontier.discover(links(*doubtful, A + "late"))

    async def work() -> list[str]:
        found = []
        for _ in range(9):
            await scheduler._refill()
            for request in iter(scheduler.next_request, None):
                found.append(request.url)
                await scheduler._refill()  # as in a crawl, in which others are in the buffer then
        return found

    assert sorted(asyncio.run(work())) == sorted([A + "late", *doubtful[:6]])
    assert leased(made) == 1 + 7


# ---- what Scrapy is given


def test_what_goes_on_within_its_lease_comes_first(make: Any) -> None:
    made, scheduler = make()
    made.frontier.discover(links(A, B))
    asyncio.run(scheduler._refill())
    going_on = Request(C)
    made.crawl.resumed.append(going_on)

    assert scheduler.next_request() is going_on
    assert requests(scheduler) == [A, B]


def test_a_lease_of_which_no_request_can_be_made_does_not_hold_up_the_next(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, scheduler = make()
    made.frontier.discover(links(A, B))
    asyncio.run(scheduler._refill())
    request = made.crawl.request
    monkeypatch.setattr(made.crawl, "request", lambda lease: request(lease) if lease.url == B else None)

    assert requests(scheduler) == [B]


def test_scrapy_gets_nothing_while_all_places_are_taken_and_is_woken_when_one_is_old(make: Any) -> None:
    made, scheduler = make(concurrency=2)
    made.frontier.discover(links(A))
    visit(made.frontier)  # it answers in time
    paths = [f"{A}{n}" for n in range(8)]
    made.frontier.discover(links(*paths))
    now = [100.0]
    made.crawl.leases.downloads = open_leases.Downloads(2, lambda: now[0])

    async def work() -> None:
        for turn in range(3):
            await scheduler._refill()
            assert requests(scheduler) == paths[2 * turn : 2 * turn + 2]
            await scheduler._refill()  # more are there
            now[0] += open_leases.PATIENCE_SECONDS - 0.01
            woken = made.engine.woken
            assert requests(scheduler) == []
            await made.engine.wakes(woken)
            now[0] += 0.01

    asyncio.run(work())


def test_more_are_leased_when_half_of_the_buffer_is_gone(make: Any) -> None:
    made, scheduler = make(concurrency=8)
    made.frontier.discover(links(*(f"http://127.0.0.{n}/" for n in range(1, 9))))
    asyncio.run(scheduler._refill())
    made.crawl.leases.changed.clear()

    asks = []
    for _ in range(4):
        scheduler.next_request()
        asks.append(made.crawl.leases.changed.is_set())
    assert asks == [False, False, True, True]

    made.crawl.leases.changed.clear()
    assert scheduler.next_request() is None
    assert made.crawl.leases.changed.is_set()


# ---- one round trip


def test_links_are_taken_in_once_and_the_engine_is_woken(make: Any) -> None:
    made, scheduler = make()
    counted: list[tuple[int, int]] = []
    made.crawl.count_links = lambda *counts: counted.append(counts)
    assert scheduler.enqueue_request(Request(A)) and scheduler.enqueue_request(Request(A))

    asyncio.run(scheduler._refill())
    asyncio.run(scheduler._refill())

    assert (counted, made.crawl.new_links) == ([(1, 1)], [])
    assert requests(scheduler) == [A]
    assert made.engine.woken


def test_reports_that_did_not_reach_the_frontier_are_sent_again(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, scheduler = make()
    request = made.request(A)
    made.download(request, answered(request))

    def away(*_: object) -> None:
        raise Away

    with monkeypatch.context() as patched, pytest.raises(Away):
        patched.setattr(made.frontier, "lease", away)
        asyncio.run(scheduler._refill())

    assert [report.lease.url for report in made.crawl.take_reports()] == [A]


def test_the_next_round_trip_is_made_when_a_server_is_due(make: Any, make_frontier: MakeFrontier) -> None:
    made, scheduler = make()
    made.frontier.discover(links(A))
    made.frontier.postpone(A.rstrip("/"), 0.3)
    assert 0 < asyncio.run(scheduler._refill()) <= 0.3

    made.frontier.postpone(A.rstrip("/"), 300)
    assert asyncio.run(scheduler._refill()) == pace.SCHEDULER_POLL_SECONDS


def test_what_was_fetched_is_decided_when_nothing_is_left_to_download(make: Any) -> None:
    made, scheduler = make()
    made.crawl.outcomes.finish(made.page(A))

    asyncio.run(scheduler._refill())

    assert made.written() == {A: "done/document"}  # nobody has asked for it


# ---- the end


def ends(scheduler: Scheduler) -> bool:
    asyncio.run(scheduler._refill())
    return not scheduler.has_pending_requests()


def test_all_is_over_when_nothing_is_left_and_the_engine_is_told(make: Any) -> None:
    made, scheduler = make()

    assert scheduler.has_pending_requests()
    assert ends(scheduler)
    assert made.engine.woken == 1

    scheduler.enqueue_request(Request(A))
    assert scheduler.has_pending_requests()
    assert not ends(scheduler)


def waits(made: Handmade) -> None:
    made.frontier.discover(links(A))
    made.frontier.postpone(A.rstrip("/"), 300)


def is_leased_elsewhere(made: Handmade) -> None:
    made.frontier.discover(links(A))
    lease_one(made.frontier)


def is_expected(made: Handmade) -> None:
    made.crawl._has_checks_left = True


@pytest.mark.parametrize("why", [waits, is_leased_elsewhere, is_expected])
def test_it_is_not_over_while_there_may_be_more(make: Any, why: Callable[[Handmade], None]) -> None:
    made, scheduler = make()
    why(made)

    assert not ends(scheduler)


def test_it_is_not_over_while_links_are_on_their_way(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made, scheduler = make()
    lease = Frontier.lease

    def slow(frontier: Frontier, *arguments: Any) -> object:
        made.crawl.new_links += links(A)  # found while Redis was asked
        return lease(frontier, *arguments)

    monkeypatch.setattr(Frontier, "lease", slow)

    assert not ends(scheduler)


# ---- which scheduler


def test_scrapy_s_own_scheduler_fetches_a_page_for_a_shell(make: Any) -> None:
    made, _ = make()
    made.crawler.crawling = False
    assert isinstance(Scheduler.from_crawler(made.crawler), ScrapyScheduler)

    made.crawler.crawling = True
    assert isinstance(Scheduler.from_crawler(made.crawler), Scheduler)
