"""May I fetch this? robots.txt and the address rules, in one real crawl of a web that tries everything."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgpack
import pytest
from conftest import Clock
from localweb import Answer, Crawled, Route, Site, crawl, page, redirect, robots, sites
from ports import Canary

from webcrawler.connection import connect

pytestmark = pytest.mark.slow

WITH_PAGE = ("recovers", "gone", "moved", "loops", "slow", "huge", "throttled", "trapped")
TRIES = 3
ALL = "User-agent: *"


class Web:
    """The servers, the canaries, and what the crawl made of them."""

    def __init__(self, sites: dict[str, Site], canary: Canary) -> None:
        self.sites, self.canary = sites, canary
        self.crawled: Crawled

    def __getattr__(self, name: str) -> Site:
        return self.sites[name]


def build(web: Web) -> None:
    """Routes that need to know where the others are."""
    canary = web.canary.url
    web.hub.routes["/"] = page(
        *(f"{web.strict.url}/private/{n}" for n in range(10)),
        f"{web.strict.url}/public",
        f"{web.down.url}/a",
        f"{web.down.url}/b",
        *(f"{web.sites[name].url}/page" for name in WITH_PAGE),
        f"{web.moved.url}/secret",
        f"{web.huge.url}/secret",
        f"{canary}/link",
        f"http://2130706434:{web.canary.port}/decimal",
        f"http://0x7f.2:{web.canary.port}/hex",
        f"http://[::ffff:127.0.0.2]:{web.canary.port}/mapped",
        "/to-canary",
        "http://127.0.0.1:6379/redis",
        "file:///etc/passwd",
    )
    web.hub.routes["/to-canary"] = redirect(f"{canary}/redirect")
    web.hub.routes["/rules"] = robots(ALL, "Disallow: /secret")
    web.moved.routes["/robots.txt"] = redirect(f"{web.hub.url}/rules")
    web.trapped.routes["/robots.txt"] = redirect(f"{canary}/robots.txt")


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    def recovers(site: Site) -> Answer:
        return robots(status=503) if site.times("/robots.txt") == 1 else robots(ALL, "Disallow: /secret")

    with sites(
        hub={"/robots.txt": Answer("no", 404)},
        strict={"/robots.txt": robots(ALL, "Disallow: /private"), "*": page()},
        down={"/robots.txt": robots(status=503), "*": page()},
        recovers={"/robots.txt": recovers, "*": page("/secret")},
        gone={"/robots.txt": Answer("no", 410), "*": page()},
        moved={"*": page()},
        loops={"/robots.txt": redirect("/robots.txt"), "*": page()},
        slow={"/robots.txt": robots(ALL, "Crawl-delay: 7"), "*": page()},
        huge={"/robots.txt": robots(ALL, "Disallow: /secret", *["#" * 99] * 40_000), "*": page()},
        throttled={"/robots.txt": robots(status=429), "*": page()},
        trapped={"*": page()},
    ) as opened:
        web = Web(opened, Canary())
        build(web)
        seeds = f"{web.hub.url}/,{web.canary.url}/seed"
        folder = tmp_path_factory.mktemp("robots")
        # Ten places at one server: its pages wait for one robots.txt together.
        web.crawled = crawl(
            folder,
            "index",
            *("-a", f"seeds={seeds}", "-a", "mode=fifo"),
            FRONTIER_SERVER_CONCURRENCY=10,
            FRONTIER_TRIES=TRIES,
            DOWNLOAD_MAXSIZE=1_000_000,
        )
        yield web
        web.canary.stop()


def reason(web: Web, site: str, path: str) -> str:
    return web.crawled.reason(web.sites[site].url + path)


def test_the_crawl_ends_well_with_every_url_decided(web: Web) -> None:
    states = web.crawled.frontier["states"]

    assert web.crawled.status == 0
    assert "Traceback" not in web.crawled.log
    assert (states["queued"], states["leased"], states["quarantined"]) == (0, 0, 0)
    assert states["seen"] == states["done"] + states["failed"]


# ---- robots.txt, RFC 9309


def test_all_that_wait_for_one_robots_txt_are_refused(web: Web) -> None:
    """Scrapy 2.19's own middleware lets eight of ten through."""
    assert {reason(web, "strict", f"/private/{n}") for n in range(10)} == {"failed/robots-disallowed"}
    assert web.strict.pages == ["/public"]


def test_robots_txt_is_asked_once_and_shared(web: Web) -> None:
    assert web.strict.times("/robots.txt") == web.gone.times("/robots.txt") == web.hub.times("/rules") == 1


@pytest.mark.parametrize(
    ("site", "path"),
    [
        ("down", "/a"),  # 2.3.1.4
        ("down", "/b"),
        ("throttled", "/page"),  # 429 is a server that cannot answer now, as Google reads it
        ("trapped", "/page"),  # its robots.txt is at a special address
    ],
)
def test_where_robots_txt_cannot_be_had_all_is_disallowed(web: Web, site: str, path: str) -> None:
    assert reason(web, site, path) == "failed/robots-unreachable"
    assert web.sites[site].pages == []


def test_5xx_is_asked_again_within_the_tries(web: Web) -> None:
    assert web.down.times("/robots.txt") == TRIES
    assert web.recovers.asked == ["/robots.txt", "/robots.txt", "/page"]


@pytest.mark.parametrize(
    ("site", "path"),
    [
        ("gone", "/page"),  # 2.3.1.3: 4xx is allow
        ("hub", "/"),
        ("loops", "/page"),  # 2.3.1.2: too many redirects are no rules
    ],
)
def test_where_there_is_no_robots_txt_all_is_allowed(web: Web, site: str, path: str) -> None:
    assert reason(web, site, path) == "done/document"


def test_at_least_five_redirects_are_followed(web: Web) -> None:
    """2.3.1.2"""
    assert web.loops.times("/robots.txt") == 6


@pytest.mark.parametrize(
    "site",
    [
        "recovers",
        "moved",  # 2.3.1.2: redirected rules hold for the server that was asked
        "huge",  # 2.5: at least 500 KiB are parsed; a file past DOWNLOAD_MAXSIZE is not an absent server
    ],
)
def test_rules_hold_however_they_came(web: Web, site: str) -> None:
    assert reason(web, site, "/page") == "done/document"
    assert reason(web, site, "/secret") == "failed/robots-disallowed"


def test_a_crawl_delay_ends_in_the_frontier(web: Web) -> None:
    server = web.crawled.frontier["servers"][web.slow.url]

    assert server["delay"] == 7000
    now = time.time()  # noqa: TID251 - Redis' clock
    assert server["next"] > (now + 1) * 1000 - 60_000  # it was counted on after the download
    assert "delay" not in web.crawled.frontier["servers"][web.gone.url]


def test_a_page_that_was_not_downloaded_does_not_cost_its_server_a_pause(tmp_path: Path) -> None:
    """Nobody was asked, so nobody has to rest; else ten thousand disallowed URLs take three hours."""
    with sites(strict={"/robots.txt": robots(ALL, "Disallow: /")}) as opened:
        seeds = ",".join(f"{opened['strict'].url}/{n}" for n in range(5))
        crawled = crawl(tmp_path, "index", "-a", f"seeds={seeds}", FRONTIER_DELAY=3600)

    assert crawled.frontier["states"]["reasons"] == {"robots-disallowed": 5}


def test_old_copy_holds_for_thirty_days_while_its_server_is_unreachable(tmp_path: Path) -> None:
    """2.3.1.4, 2.4; over a restart: what is known is in Redis."""
    rules = robots(ALL, "Disallow: /secret")
    with sites(young={"*": lambda _: page()}, old={"*": lambda _: page()}) as opened:
        for days, site in ((29, opened["young"]), (31, opened["old"])):
            site.routes["/robots.txt"] = rules
            assert crawl(tmp_path, "index", "-a", f"seeds={site.url}/first").status == 0
            make_older(tmp_path, site.url, days)
            site.routes["/robots.txt"] = robots(status=503)
        seeds = ",".join(f"{site.url}/{path}" for site in opened.values() for path in ("page", "secret"))
        crawled = crawl(tmp_path, "index", "-a", f"seeds={seeds}")

        assert [crawled.reason(seed) for seed in seeds.split(",")] == [
            *("done/document", "failed/robots-disallowed"),
            *("failed/robots-unreachable", "failed/robots-unreachable"),
        ]
        assert opened["young"].times("/robots.txt") > 1
        assert opened["old"].times("/robots.txt") == 1 + TRIES


def make_older(folder: Path, server: str, days: int) -> None:
    """Lets days go by for what is known of a robots.txt."""
    with connect(None, folder) as connection:
        [key] = connection.client.scan_iter(match=f"*:robots:{server}")
        known = msgpack.unpackb(connection.client.get(key))
        for time_of in ("fetched", "until"):
            known[time_of] -= days * 24 * 3600
        connection.client.set(key, msgpack.packb(known))


def test_robots_txt_is_asked_again_after_a_worker_whose_clock_was_a_day_ahead(
    tmp_path: Path, clock: Clock
) -> None:
    """What such a worker stored in Redis closed the server for a day, and its pages failed unasked."""
    routes: dict[str, Route] = {"/robots.txt": robots(status=503), "*": lambda _: page()}
    with sites(**{f"site{n}": dict(routes) for n in range(6)}) as opened:
        seeds = ",".join(f"{site.url}/page" for site in opened.values())
        options = {"FRONTIER_TRIES": 3, "FRONTIER_BACKOFF": 12}
        clock.move(86_400)
        crawl(tmp_path, "index", "-a", f"seeds={seeds}", "-a", "max_time=5", **options)
        clock.move(-86_400)
        assert {site.times("/robots.txt") for site in opened.values()} == {1}
        for site in opened.values():
            site.routes["/robots.txt"] = robots(ALL, "Disallow: /secret")

        crawled = crawl(tmp_path, "index", **options)

        assert {crawled.reason(seed) for seed in seeds.split(",")} == {"done/document"}


# ---- addresses


@pytest.mark.parametrize(
    "url",
    [
        *("{canary}/seed", "{canary}/link", "{canary}/redirect", "{canary}/decimal", "{canary}/hex"),
        "http://[::ffff:7f00:2]:{port}/mapped",  # an address within an IPv6 one
        "http://127.0.0.1:6379/redis",  # the port is no web server's, though the address is allowed
    ],
)
def test_a_special_address_is_refused_however_it_was_found_and_spelled(web: Web, url: str) -> None:
    url = url.format(canary=web.canary.url, port=web.canary.port)

    assert web.crawled.reason(url) == "failed/address-refused"


def test_nobody_came_to_the_canary(web: Web) -> None:
    assert web.canary.connections == 0


def test_other_schemes_are_counted_and_never_fetched(web: Web) -> None:
    assert web.crawled.frontier["states"]["refused"] == {"scheme": 1}
    assert "passwd" not in web.crawled.log


def test_what_a_name_resolves_to_is_judged_when_it_is_connected_to(tmp_path: Path) -> None:
    """No literal to be read beforehand: the machine's own name, which is a special address to all."""
    import socket

    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        pytest.skip("this machine's name does not resolve")
    canary = Canary(address)

    options = {"ADDRESSES_ALLOWED": "", "FRONTIER_TRIES": 1, "ROBOTSTXT_OBEY": "no"}
    crawled = crawl(tmp_path, "index", "-a", f"seeds=http://{name}:{canary.port}/", **options)

    canary.stop()
    assert crawled.frontier["states"]["reasons"] == {"address-refused": 1}
    assert canary.connections == 0
