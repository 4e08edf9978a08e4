"""May this page be fetched? How a crawl asks for robots.txt, whatever the server answers."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFrontier
from frontiers import next_due_ms
from handmade import Handmade
from redis.exceptions import ConnectionError as Away
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Response

from webcrawler import pace
from webcrawler.crawl.responses import Refused
from webcrawler.crawl.robots import RobotsCache, RobotsMiddleware, middleware
from webcrawler.crawl.robots.cache import BODY_MAX

A = "http://a.test"
HOME = A + "/"
RULES = b"User-agent: *\nDisallow: /private\n"
Answer = Callable[[Request], Response]


@pytest.fixture
def make(tmp_path: Path, make_frontier: MakeFrontier) -> Iterator[Any]:
    made: list[Handmade] = []

    def one(answer: Answer, **settings: object) -> Handmade:
        frontier = make_frontier(tries=2, backoff=0.0)
        made.append(Handmade(tmp_path, frontier, {"seeds": A}, SITEMAPS="all", **settings))
        made[-1].engine.answers = answer
        return made[-1]

    yield one
    for crawl in made:
        crawl.close()


def rules(body: bytes = RULES, status: int = 200, flags: list[str] | None = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Response(request.url, status, named, body, flags)


def ask(robots: RobotsMiddleware, *urls: str) -> list[str]:
    """Why each of these, asked for at the same time, is refused; "" where it may be fetched."""

    async def one(url: str) -> str:
        try:
            await robots.process_request(Request(url))
        except Refused as refused:
            return refused.reason + (", to be tried again" if refused.retry else "")
        return ""

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*map(one, urls))

    return asyncio.run(all_of_them())


def asked(made: Handmade) -> list[str]:
    return [request.url for request in made.engine.asked]


# ---- rules


def test_pages_that_wait_for_one_answer_share_it(make: Any) -> None:
    made = make(rules())
    robots = RobotsMiddleware(made.crawl)

    found = ask(robots, f"{A}/private", HOME, f"{A}/private/2")

    assert found == ["robots-disallowed", "", "robots-disallowed"]
    assert asked(made) == [f"{A}/robots.txt"]
    assert made.stats["robotstxt/forbidden"] == 2


def test_what_one_process_has_asked_another_reads_in_redis(make: Any) -> None:
    first, second = make(rules()), make(rules(b""))

    for made in (first, second):
        assert ask(RobotsMiddleware(made.crawl), f"{A}/private") == ["robots-disallowed"]

    assert asked(second) == []


def test_an_answer_holds_in_this_process_until_it_is_old(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(rules())
    robots, read = RobotsMiddleware(made.crawl), list[str]()
    get = RobotsCache.get
    monkeypatch.setattr(
        RobotsCache, "get", lambda cache, server: (read.append(server), get(cache, server))[1]
    )

    ask(robots, HOME)
    ask(robots, HOME)
    assert read == [A]

    day = 24 * 3600
    monkeypatch.setattr(middleware.time, "monotonic", lambda now=middleware.time.monotonic: now() + day + 1)
    ask(robots, HOME)
    assert read == [A, A]
    assert len(asked(made)) == 1  # in Redis it is as young as before: no day has passed there


def test_a_name_of_its_own_is_obeyed_where_one_is_set(make: Any) -> None:
    made = make(rules(b"User-agent: ours\nDisallow: /\n"), ROBOTSTXT_USER_AGENT="ours")

    assert ask(RobotsMiddleware(made.crawl), HOME) == ["robots-disallowed"]


def test_costly_rules_are_obeyed_as_others_are(make: Any) -> None:
    costly = "\n".join(f"Disallow: /*a{number}*b*c*d" for number in range(3_000))
    made = make(rules(f"User-agent: *\n{costly}\nDisallow: /private".encode()))

    assert ask(RobotsMiddleware(made.crawl), f"{A}/private", HOME) == ["robots-disallowed", ""]


def test_what_is_not_ours_to_ask_for_is_let_through(make: Any) -> None:
    made = make(rules())
    robots = RobotsMiddleware(made.crawl)

    async def let_through() -> None:
        await robots.process_request(Request("data:,text"))
        await robots.process_request(Request(f"{A}/private", meta={"robots": 0}))  # of a robots.txt itself
        await robots.process_request(Request(f"{A}/private", meta={"dont_obey_robotstxt": True}))

    asyncio.run(let_through())
    assert asked(made) == []


def test_sitemaps_and_a_pause_are_handed_on(make: Any) -> None:
    made = make(rules(b"Sitemap: /map.xml\nUser-agent: *\nCrawl-delay: 7\n"))

    ask(RobotsMiddleware(made.crawl), "http://a.test./")

    assert [link.url for link in made.crawl.new_links] == [f"{A}/map.xml"]
    key = made.frontier.shared_key("server", A)  # as leases name it
    assert made.frontier.client.hget(key, "delay") == b"7000"


# ---- no rules


def gone(request: Request) -> Response:
    raise OSError("no route")


UNREACHABLE = {
    "5xx": rules(b"", 503),
    "no answer": gone,
    "half of it": rules(RULES, flags=["dataloss"]),
}


@pytest.mark.parametrize("answer", UNREACHABLE)
def test_what_cannot_be_had_refuses_all_and_is_asked_again_while_tries_are_left(
    make: Any, answer: str
) -> None:
    made = make(UNREACHABLE[answer])
    robots = RobotsMiddleware(made.crawl)

    assert ask(robots, HOME) == ["robots-unreachable, to be tried again"]
    assert ask(robots, HOME) == ["robots-unreachable"]
    assert ask(robots, HOME) == ["robots-unreachable"]
    assert len(asked(made)) == 2  # the last answer holds for an hour


def test_the_frontier_leaves_an_unreachable_server_alone_until_it_is_asked_again(
    tmp_path: Path, make_frontier: MakeFrontier
) -> None:
    frontier = make_frontier(tries=2, backoff=50.0)
    made = Handmade(tmp_path, frontier, {"seeds": A})
    made.engine.answers = UNREACHABLE["5xx"]

    ask(RobotsMiddleware(made.crawl), HOME)

    assert 40_000 < next_due_ms(frontier, A) <= 50_000
    made.close()


def test_rules_that_were_known_hold_while_the_server_is_away(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(rules())
    monkeypatch.setattr("webcrawler.crawl.robots.cache.DAY_SECONDS", 0.0)  # an answer is old at once
    robots = RobotsMiddleware(made.crawl)
    ask(robots, HOME)

    made.engine.answers = gone

    assert ask(robots, f"{A}/private", HOME) == ["robots-disallowed", ""]
    assert len(asked(made)) == 2


def test_a_server_that_may_not_be_connected_to_is_refused_for_that(make: Any) -> None:
    made = make(gone)
    made.crawl.stores.resolver.refuse("a.test")

    assert ask(RobotsMiddleware(made.crawl), HOME) == ["address-refused"]


# ---- the download


def moved(to: str) -> Answer:
    return rules(b"", 301, Location=to)


def chain(request: Request, moves: int) -> Response:
    number = int(request.url.rpartition("?")[2] or 0) if "?" in request.url else 0
    answer = moved(f"/robots.txt?{number + 1}") if number < moves else rules()
    return answer(request)


@pytest.mark.parametrize(("moves", "found"), [(5, "robots-disallowed"), (6, "")])
def test_five_redirects_are_followed_and_more_are_no_rules(make: Any, moves: int, found: str) -> None:
    made = make(lambda request: chain(request, moves))

    assert ask(RobotsMiddleware(made.crawl), f"{A}/private") == [found]
    assert len(asked(made)) == 6


@pytest.mark.parametrize("to", ["http://[", "ftp://a.test/robots.txt", "file:///etc/robots.txt"])
def test_a_redirect_to_where_no_web_is_gives_no_rules(make: Any, to: str) -> None:
    made = make(moved(to))

    assert ask(RobotsMiddleware(made.crawl), f"{A}/private") == [""]
    assert len(asked(made)) == 1


def test_it_is_asked_for_as_pages_are_and_within_bounds_of_its_own(make: Any) -> None:
    made = make(rules())
    made.crawl.request_meta = {"proxy": None}

    ask(RobotsMiddleware(made.crawl), HOME)

    (request,) = made.engine.asked
    assert request.meta["proxy"] is None
    assert request.meta["download_maxsize"] == middleware.DOWNLOAD_MAX
    assert request.meta["download_timeout"] <= made.crawl.settings.getfloat("DOWNLOAD_TIMEOUT") / 2
    assert (request.meta["robots"], request.dont_filter) == (0, True)


def test_a_download_is_stopped_behind_what_is_read_and_that_of_a_page_is_not(make: Any) -> None:
    robots = RobotsMiddleware(make(rules()).crawl)
    request, page = Request(f"{A}/robots.txt", meta={"robots": 0}), Request(HOME)

    robots.stop_when_long_enough(bytes(BODY_MAX), request)
    with pytest.raises(StopDownload):
        robots.stop_when_long_enough(b"x", request)
    robots.stop_when_long_enough(bytes(BODY_MAX + 1), page)


PACKED = gzip.compress(RULES)


@pytest.mark.parametrize(
    ("meta", "status", "body", "flags"),
    [
        ({"robots": 0}, 200, PACKED[:-4], ["dataloss"]),
        ({"robots": 0}, 200, PACKED, []),
        ({"robots": 0}, 404, PACKED[:-4], []),
        ({"robots": 0}, 200, b"", []),
        ({}, 200, PACKED[:-4], []),
    ],
    ids=["cut short", "whole", "an error", "empty", "a page"],
)
def test_compressed_rules_without_their_end_are_marked(
    make: Any, meta: dict[str, Any], status: int, body: bytes, flags: list[str]
) -> None:
    request = Request(f"{A}/robots.txt", meta=meta)
    response = Response(request.url, status, {"Content-Encoding": "gzip"}, body)

    RobotsMiddleware(make(rules()).crawl).flag_when_cut_short(response, request)

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
    monkeypatch.setattr(pace, "ROBOTS_PAUSE_SECONDS", 0.0)


@pytest.mark.usefixtures("away_once")
def test_pages_wait_for_a_redis_that_is_away(make: Any) -> None:
    assert ask(RobotsMiddleware(make(rules()).crawl), f"{A}/private") == ["robots-disallowed"]


@pytest.mark.usefixtures("away_once")
def test_a_crawl_that_is_closing_waits_for_nothing_and_the_next_page_asks_anew(make: Any) -> None:
    made = make(rules())
    made.engine.closing = True
    robots = RobotsMiddleware(made.crawl)

    with pytest.raises(Away):
        ask(robots, f"{A}/private")
    assert ask(robots, f"{A}/private") == ["robots-disallowed"]


# ---- which middleware


def test_it_is_asked_for_only_where_it_is_to_be_obeyed(make: Any) -> None:
    with pytest.raises(NotConfigured):
        RobotsMiddleware.from_crawler(make(rules(), ROBOTSTXT_OBEY="no").crawler)

    crawler = make(rules()).crawler
    crawler.crawling = True
    assert isinstance(RobotsMiddleware.from_crawler(crawler), RobotsMiddleware)


def test_a_shell_has_scrapy_s_own(make: Any) -> None:
    assert isinstance(RobotsMiddleware.from_crawler(make(rules()).crawler), RobotsTxtMiddleware)


def test_what_is_kept_of_servers_is_bounded(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "SERVERS_MAX", 3)
    made = make(rules())
    robots = RobotsMiddleware(made.crawl)

    for number in range(9):
        ask(robots, f"http://server{number}.test/")

    assert len(robots._asked) <= 4
