"""What Scrapy's scheduler asks of an index crawl: which requests it makes, takes, and expects."""

from __future__ import annotations

import asyncio
import json

import pytest
from frontiers import links
from handmade import Handmade, Make, answered, made, make
from redis.exceptions import ConnectionError as Away
from scrapy import FormRequest, Request

from webcrawler.frontier import Again, inspect
from webcrawler.job import Job, seed_link

__all__ = ["made", "make"]  # fixtures

A, B = "http://127.0.0.1/a", "http://127.0.0.1/b"


# ---- the request of a lease


def test_a_lease_is_asked_for_by_the_spelling_that_was_found_first(made: Handmade) -> None:
    made.crawl.request_meta = {"proxy": None}

    request = made.request(seed_link("http://127.0.0.1/%61"))

    assert request.url == "http://127.0.0.1/%61"
    assert request.meta["lease"].url == A
    assert (request.meta["proxy"], request.dont_filter) == (None, True)


def test_a_check_says_what_it_knows(made: Handmade) -> None:
    sent = {"headers": {"If-None-Match": '"1"'}}
    made.frontier.discover([seed_link(A)._replace(request=json.dumps(sent))])

    assert made.request().headers["If-None-Match"] == b'"1"'


def test_a_download_of_a_server_that_may_not_answer_is_counted_as_such(made: Handmade) -> None:
    room = made.crawl.leases.downloads.doubtful_room()

    lease = made.request(A).meta["lease"]  # of a server that was never heard of

    assert lease.doubtful
    assert made.crawl.leases.downloads.doubtful_room() == room - 1


# ---- leases that this worker does not know of


def fails(*_: object) -> None:
    raise Away


def test_what_a_lost_answer_leased_goes_back(made: Handmade, monkeypatch: pytest.MonkeyPatch) -> None:
    made.frontier.discover(links(A, B))
    made.crawl.lease(1, [], 9)
    lease = made.frontier.lease
    with monkeypatch.context() as away:
        away.setattr(made.frontier, "lease", lambda *asked: fails(lease(*asked)))
        with pytest.raises(Away):
            made.crawl.lease(1, [], 9)
    with monkeypatch.context() as away:
        away.setattr(made.frontier, "reclaim", fails)
        made.crawl.lease(0, [], 9)

    made.crawl.lease(0, [], 9)

    assert inspect.stats(made.frontier)["leased"] == 1


def test_a_worker_without_leases_gives_back_what_redis_says_that_it_has(made: Handmade) -> None:
    made.frontier.discover(links(A))
    made.frontier.lease(1)

    made.crawl.lease(0, [], 9)

    assert inspect.stats(made.frontier)["leased"] == 0


# ---- requests that Scrapy hands in


def test_a_request_of_an_open_lease_goes_on_at_once(made: Handmade) -> None:
    request = made.request(A)

    again = request.replace(url="http://127.0.0.1:80/a")
    assert made.crawl.enqueue(again)

    assert (made.crawl.resume(), made.crawl.resume()) == (again, None)
    assert made.crawl.new_links == []


@pytest.mark.parametrize("url", [A, B], ids=["of a lease that is decided", "of another URL"])
def test_any_other_request_is_a_url_to_take_in(made: Handmade, url: str) -> None:
    request = made.request(A).replace(url=url)
    if url == A:
        made.download(request, answered(request, 404))
        made.settle()

    assert made.crawl.enqueue(request)

    assert made.crawl.resume() is None
    assert [link.url for link in made.crawl.new_links] == [request.url]


OTHERS = {
    "no URL of ours": Request("data:,text"),
    "a form": FormRequest(A, formdata={"a": "b"}),
    "a method": Request(A, method="HEAD"),
    "a callback": Request(A, callback=lambda response: None),
    "arguments": Request(A, cb_kwargs={"a": 1}),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_a_url_does_not_say_is_not_taken_in(made: Handmade, other: str) -> None:
    assert not made.crawl.enqueue(OTHERS[other])
    assert made.crawl.new_links == []


def test_a_request_to_a_mirror_is_one_to_its_original(make: Make) -> None:
    made = make(MIRRORS={"http://mirror.test/": "http://original.test/"})

    made.crawl.enqueue(Request("http://mirror.test/1"))

    assert [link.url for link in made.crawl.new_links] == ["http://original.test/1"]


def test_the_scheduler_looks_at_once_at_what_was_handed_in(made: Handmade) -> None:
    made.crawl.leases.changed.clear()
    made.crawl.enqueue(Request(B))
    assert made.crawl.leases.changed.is_set()

    made.crawl.leases.changed.clear()
    made.crawl.take_sitemaps("http://127.0.0.1", ["/map.xml"])
    assert made.crawl.leases.changed.is_set()


def test_sitemaps_that_robots_txt_names_are_taken_in_where_they_are_read(make: Make) -> None:
    for setting, found in (("all", ["http://127.0.0.1/map.xml"]), ("off", [])):
        made = make(SITEMAPS=setting)
        made.crawl.take_sitemaps("http://127.0.0.1", ["/map.xml"])
        assert [link.url for link in made.crawl.new_links] == found


# ---- an ordering that learns


def test_an_ordering_that_learns_leases_little_that_nobody_has_read(make: Make) -> None:
    made = make(*(f"http://127.0.0.{n}/" for n in range(1, 9)), mode="adaptive?query=gene")
    made.crawl.lease(3, [], 9)
    assert made.crawl.allowance(32) == 8 - 3

    for n in range(17):
        made.scrape(made.page(f"http://127.0.1.{n}/"))
    assert made.crawl.allowance(32) == 8 - 3 + 2  # one more for every eight

    made.crawl.leases.downloads.limit = 1  # then the order is exact anyway
    assert made.crawl.allowance(32) == 32


# ---- checks


def leased(made: Handmade) -> list[str]:
    return [lease.url for lease in made.crawl.lease(9, [], 9).leases]


def waiting(made: Handmade) -> None:
    """A new URL and a check wait."""
    made.scrape(made.page(A))
    made.frontier.discover(links(B))
    made.frontier.again([Again(A, "done/document")])


@pytest.mark.parametrize(
    ("refresh", "found"), [("no", [A, B]), ("yes", [A, B]), ("once", [A]), ("only", [A])]
)
def test_new_urls_wait_until_a_pass_is_over_and_for_ever_where_only_checks_are_made(
    make: Make, refresh: str, found: list[str]
) -> None:
    waiting(make())
    made = make(refresh=refresh)
    if refresh == "once":
        made.frontier.refresh = "once 1.0"

    assert leased(made) == found


def test_a_pass_that_is_over_lets_new_urls_out(make: Make) -> None:
    waiting(make())
    made = make(refresh="once")
    made.frontier.refresh = "once 1.0"
    assert leased(made) == [A]
    assert made.crawl.is_expecting

    made.frontier.refresh = ""  # as the refresher says it
    assert leased(made) == []
    assert not made.crawl.is_expecting
    assert leased(made) == [B]


@pytest.mark.parametrize(
    ("refresh", "expects"), [("no", False), ("yes", True), ("only", True), ("once", True)]
)
def test_more_is_expected_while_checks_are_made(make: Make, refresh: str, expects: bool) -> None:
    assert make(refresh=refresh).crawl.is_expecting == expects


def test_a_crawl_whose_collection_is_full_ends_when_no_check_is_left(make: Make) -> None:
    made = make(COLLECTION_MAX=1)
    waiting(made)

    async def lease() -> list[str]:
        made.crawl._loop = asyncio.get_running_loop()
        found = leased(made)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return found

    assert asyncio.run(lease()) == [A]
    assert made.engine.ended == ""
    made.frontier.release(list(made.crawl.leases.open.values()))
    made.crawl.leases.open.clear()
    made.frontier.refuse([A], "failed/removed")

    assert asyncio.run(lease()) == []
    assert made.engine.ended == "collection_full"
    assert inspect.stats(made.frontier)["queued"] == 1


# ---- agents


def test_a_crawl_that_no_command_of_ours_has_started_has_one_agent(make: Make) -> None:
    assert make(agents=3, seeds="").crawl.job == Job("fifo")
