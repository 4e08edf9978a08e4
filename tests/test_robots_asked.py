"""May this page be fetched? How a crawl asks for robots.txt, whatever the server answers."""

from __future__ import annotations

import asyncio
import gzip

import pytest
from frontiers import next_due_ms
from handmade import Answer, Handmade, Make, make
from redis.exceptions import ConnectionError as Away
from redis.exceptions import NoPermissionError
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import clock
from webcrawler.crawl import robots as asking
from webcrawler.crawl.responses import Refused
from webcrawler.crawl.robots import BODY_MAX, RobotsCache, RobotsMiddleware

__all__ = ["make"]  # a fixture

A = "http://a.test"
HOME = A + "/"
RULES = b"User-agent: *\nDisallow: /private\n"


def rules(body: bytes = RULES, status: int = 200, flags: list[str] | None = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Response(request.url, status, named, body, flags)


def ask(made: Handmade, *urls: str) -> list[str]:
    """Why each of these, asked for at the same time, is refused; "" where it may be fetched."""

    async def one(url: str) -> str:
        try:
            await made.robots.process_request(Request(url))
        except Refused as refused:
            return refused.reason + (", to be tried again" if refused.retry else "")
        return ""

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*map(one, urls))

    return asyncio.run(all_of_them())


def asked(made: Handmade) -> list[str]:
    return [request.url for request in made.engine.asked]


# ---- rules


def test_pages_that_wait_for_one_answer_share_it(make: Make) -> None:
    made = make(answers=rules())

    found = ask(made, f"{A}/private", HOME, f"{A}/private/2")

    assert found == ["robots-disallowed", "", "robots-disallowed"]
    assert asked(made) == [f"{A}/robots.txt"]
    assert made.stats["robotstxt/forbidden"] == 2


def test_what_one_process_has_asked_another_reads_in_redis(make: Make) -> None:
    first, second = make(answers=rules()), make(answers=rules(b""))

    for made in (first, second):
        assert ask(made, f"{A}/private") == ["robots-disallowed"]

    assert asked(second) == []


def test_what_is_removed_from_redis_is_asked_for_again_soon(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(answers=rules())
    monkeypatch.setattr(asking, "RECALLED_SECONDS", 0.0)
    assert ask(made, f"{A}/private") == ["robots-disallowed"]

    made.frontier.client.delete(made.frontier.shared_key("robots", A))
    made.engine.answers = rules(b"")

    assert ask(made, f"{A}/private") == [""]


def test_an_answer_holds_in_this_process_until_it_is_old(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(answers=rules())
    read, get = list[str](), RobotsCache.get
    monkeypatch.setattr(RobotsCache, "get", lambda *asked: (read.append(asked[1]), get(*asked))[1])

    ask(made, HOME)
    ask(made, HOME)
    assert read == [A]

    day = 24 * 3600
    monkeypatch.setattr(asking.time, "monotonic", lambda now=asking.time.monotonic: now() + day + 1)
    ask(made, HOME)
    assert read == [A, A]
    assert len(asked(made)) == 1  # in Redis it is as young as before: no day has passed there


def test_a_name_of_its_own_is_obeyed_where_one_is_set(make: Make) -> None:
    made = make(answers=rules(b"User-agent: ours\nDisallow: /\n"), ROBOTSTXT_USER_AGENT="ours")

    assert ask(made, HOME) == ["robots-disallowed"]


def test_costly_rules_are_obeyed_as_others_are(make: Make) -> None:
    costly = "\n".join(f"Disallow: /*a{number}*b*c*d" for number in range(3_000))
    made = make(answers=rules(f"User-agent: *\n{costly}\nDisallow: /private".encode()))

    assert ask(made, f"{A}/private", HOME) == ["robots-disallowed", ""]


def test_what_is_not_ours_to_ask_for_is_let_through(make: Make) -> None:
    made = make(answers=rules())
    robots = made.robots

    async def let_through() -> None:
        await robots.process_request(Request("data:,text"))
        await robots.process_request(Request(f"{A}/private", meta={"robots": 0}))  # of a robots.txt itself
        await robots.process_request(Request(f"{A}/private", meta={"dont_obey_robotstxt": True}))

    asyncio.run(let_through())
    assert asked(made) == []


def test_sitemaps_and_a_pause_are_handed_on(make: Make) -> None:
    made = make(answers=rules(b"Sitemap: /map.xml\nUser-agent: *\nCrawl-delay: 7\n"), SITEMAPS="all")

    ask(made, "http://a.test./")

    assert [link.url for link in made.crawl.new_links] == [f"{A}/map.xml"]
    key = made.frontier.shared_key("server", A)  # as leases name it
    assert made.frontier.client.hget(key, "delay") == b"7000"


# ---- no rules


def gone(request: Request) -> Response:
    raise OSError("no route")


UNREACHABLE = {"5xx": rules(b"", 503), "no answer": gone, "half of it": rules(flags=["dataloss"])}


@pytest.mark.parametrize("why", UNREACHABLE)
def test_what_cannot_be_had_refuses_all_and_is_asked_again_while_tries_are_left(make: Make, why: str) -> None:
    made = make(answers=UNREACHABLE[why])

    assert ask(made, HOME) == ["robots-unreachable, to be tried again"]
    assert ask(made, HOME) == ask(made, HOME) == ["robots-unreachable"]
    assert len(asked(made)) == 2  # the last answer holds for an hour


def test_the_frontier_leaves_an_unreachable_server_alone_until_it_is_asked_again(make: Make) -> None:
    made = make(answers=UNREACHABLE["5xx"], backoff=50.0)

    ask(made, HOME)

    assert 40_000 < next_due_ms(made.frontier, A) <= 50_000


def test_known_rules_hold_while_the_server_is_away(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(answers=rules())
    monkeypatch.setattr("webcrawler.crawl.robots.DAY_SECONDS", 0.0)  # an answer is old at once
    ask(made, HOME)

    made.engine.answers = gone

    assert ask(made, f"{A}/private", HOME) == ["robots-disallowed", ""]
    assert len(asked(made)) == 2


def test_a_server_that_may_not_be_connected_to_is_refused_for_that(make: Make) -> None:
    made = make(answers=gone)
    made.crawl.stores.resolver._refused.add("a.test")

    assert ask(made, HOME) == ["address-refused"]


# ---- the download


def moved(to: str) -> Answer:
    return rules(b"", 301, Location=to)


@pytest.mark.parametrize(("moves", "found"), [(5, "robots-disallowed"), (6, "")])
def test_five_redirects_are_followed_and_more_are_no_rules(make: Make, moves: int, found: str) -> None:
    answers = iter([*(moved(f"/robots.txt?{number}") for number in range(moves)), rules()])
    made = make(answers=lambda request: next(answers)(request))

    assert ask(made, f"{A}/private") == [found]
    assert asked(made) == [f"{A}/robots.txt", *(f"{A}/robots.txt?{number}" for number in range(5))]


@pytest.mark.parametrize("to", ["http://[", "ftp://a.test/robots.txt", "file:///etc/robots.txt"])
def test_a_redirect_to_where_no_web_is_gives_no_rules(make: Make, to: str) -> None:
    made = make(answers=moved(to))

    assert ask(made, f"{A}/private") == [""]
    assert len(asked(made)) == 1


def test_bytes_of_a_redirect_are_asked_for_as_they_are(make: Make) -> None:
    answers = iter([Response(HOME, 302, {"Location": b"/caf\xe9.txt"}), Response(HOME, 200, {}, RULES)])
    made = make(answers=lambda request: next(answers))

    assert ask(made, f"{A}/private") == ["robots-disallowed"]
    assert asked(made) == [f"{A}/robots.txt", f"{A}/caf%E9.txt"]


def test_it_is_asked_for_as_pages_are_and_within_bounds_of_its_own(make: Make) -> None:
    made = make(answers=rules())
    made.crawl.request_meta = {"proxy": None}

    ask(made, HOME)

    (request,) = made.engine.asked
    assert request.meta["proxy"] is None
    assert request.meta["download_maxsize"] == asking.DOWNLOAD_MAX
    assert request.meta["download_timeout"] <= made.crawl.settings.getfloat("DOWNLOAD_TIMEOUT") / 2
    assert (request.meta["robots"], request.dont_filter) == (0, True)


def test_a_download_is_stopped_behind_what_is_read_and_that_of_a_page_is_not(make: Make) -> None:
    robots = make(answers=rules()).robots
    request, page = Request(f"{A}/robots.txt", meta={"robots": 0}), Request(HOME)

    robots.stop_when_long_enough(bytes(BODY_MAX), request)
    with pytest.raises(StopDownload):
        robots.stop_when_long_enough(b"x", request)
    robots.stop_when_long_enough(bytes(BODY_MAX + 1), page)


PACKED = gzip.compress(RULES)
SENT = {
    # what: (meta, status, body, flags)
    "cut short": ({"robots": 0}, 200, PACKED[:-4], ["dataloss"]),
    "whole": ({"robots": 0}, 200, PACKED, []),
    "an error": ({"robots": 0}, 404, PACKED[:-4], []),
    "empty": ({"robots": 0}, 200, b"", []),
    "a page": ({}, 200, PACKED[:-4], []),
}


@pytest.mark.parametrize("what", SENT)
def test_compressed_rules_without_their_end_are_marked(make: Make, what: str) -> None:
    meta, status, body, flags = SENT[what]
    request = Request(f"{A}/robots.txt", meta=meta)
    response = Response(request.url, status, {"Content-Encoding": "gzip"}, body)

    make(answers=rules()).robots.flag_when_cut_short(response, request)

    assert response.flags == flags


# ---- Redis


@pytest.fixture
def away_once(monkeypatch: pytest.MonkeyPatch) -> None:
    get, failures = RobotsCache.get, [Away("gone")]

    def fails(cache: RobotsCache, server: str) -> object:
        if failures:
            raise failures.pop()
        return get(cache, server)

    monkeypatch.setattr(RobotsCache, "get", fails)
    monkeypatch.setattr(clock, "ROBOTS_PAUSE_SECONDS", 0.0)


@pytest.mark.usefixtures("away_once")
def test_pages_wait_for_a_redis_that_is_away(make: Make) -> None:
    assert ask(make(answers=rules()), f"{A}/private") == ["robots-disallowed"]


def test_what_redis_never_permits_ends_the_crawl(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(answers=rules())
    refusal = NoPermissionError("User x has no permissions to run the 'set' command")
    monkeypatch.setattr(RobotsCache, "put", lambda *_: (_ for _ in ()).throw(refusal))

    with pytest.raises(NoPermissionError):
        ask(made, HOME)
    assert made.engine.ended == "scheduler_failed"


@pytest.mark.usefixtures("away_once")
def test_a_crawl_that_is_closing_waits_for_nothing_and_the_next_page_asks_anew(make: Make) -> None:
    made = make(answers=rules())
    made.engine.closing = True

    with pytest.raises(Away):
        ask(made, f"{A}/private")
    assert ask(made, f"{A}/private") == ["robots-disallowed"]


# ---- which middleware


def test_it_is_asked_for_only_where_it_is_to_be_obeyed(make: Make) -> None:
    with pytest.raises(NotConfigured):
        RobotsMiddleware.from_crawler(make(ROBOTSTXT_OBEY="no").crawler)


def test_a_crawl_has_ours_and_a_shell_scrapy_s_own(make: Make) -> None:
    crawler = make().crawler
    assert isinstance(RobotsMiddleware.from_crawler(crawler), RobotsTxtMiddleware)

    crawler.crawling = True
    assert isinstance(RobotsMiddleware.from_crawler(crawler), RobotsMiddleware)


def test_what_is_kept_of_servers_is_bounded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SERVERS_MAX", 3)
    made = make(answers=rules())

    for number in range(9):
        ask(made, f"http://server{number}.test/")

    assert len(made.robots._asked) <= 4
