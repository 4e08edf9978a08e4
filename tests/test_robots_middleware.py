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
        f"{web.recovers.url}/page",
        f"{web.gone.url}/page",
        f"{web.moved.url}/page",
        f"{web.moved.url}/secret",
        f"{web.loops.url}/page",
        f"{web.slow.url}/page",
        f"{web.huge.url}/page",
        f"{web.huge.url}/secret",
        f"{web.throttled.url}/page",
        f"{web.trapped.url}/page",
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


@pytest.mark.slow
def test_the_crawl_ends_well_with_every_url_decided(web: Web) -> None:
    states = web.crawled.frontier["states"]

    assert web.crawled.status == 0
    assert "Traceback" not in web.crawled.log
    assert (states["queued"], states["leased"], states["quarantined"]) == (0, 0, 0)
    assert states["seen"] == states["done"] + states["failed"]


# ---- robots.txt, RFC 9309


@pytest.mark.slow
def test_all_that_wait_for_one_robots_txt_are_refused(web: Web) -> None:
    """Scrapy 2.19's own middleware lets eight of ten through."""
    assert {reason(web, "strict", f"/private/{n}") for n in range(10)} == {"failed/robots-disallowed"}
    assert web.strict.pages == ["/public"]


@pytest.mark.slow
def test_robots_txt_is_asked_once_and_shared(web: Web) -> None:
    assert web.strict.times("/robots.txt") == 1
    assert web.gone.times("/robots.txt") == 1


@pytest.mark.slow
def test_5xx_is_complete_disallow_and_asked_again_within_the_tries(web: Web) -> None:
    """2.3.1.4"""
    assert reason(web, "down", "/a") == reason(web, "down", "/b") == "failed/robots-unreachable"
    assert web.down.pages == []
    assert web.down.times("/robots.txt") == TRIES


@pytest.mark.slow
def test_a_server_that_recovers_is_crawled_by_its_rules(web: Web) -> None:
    assert reason(web, "recovers", "/page") == "done/document"
    assert reason(web, "recovers", "/secret") == "failed/robots-disallowed"
    assert web.recovers.asked == ["/robots.txt", "/robots.txt", "/page"]


@pytest.mark.slow
def test_429_is_a_server_that_cannot_answer_now(web: Web) -> None:
    """As Google reads it."""
    assert reason(web, "throttled", "/page") == "failed/robots-unreachable"
    assert web.throttled.pages == []


@pytest.mark.slow
def test_4xx_is_allow(web: Web) -> None:
    """2.3.1.3"""
    assert reason(web, "gone", "/page") == "done/document"
    assert reason(web, "hub", "/") == "done/document"


@pytest.mark.slow
def test_redirected_rules_hold_for_the_server_that_was_asked(web: Web) -> None:
    """2.3.1.2"""
    assert reason(web, "moved", "/page") == "done/document"
    assert reason(web, "moved", "/secret") == "failed/robots-disallowed"
    assert web.hub.times("/rules") == 1


@pytest.mark.slow
def test_too_many_redirects_are_no_rules(web: Web) -> None:
    """2.3.1.2: at least five are followed."""
    assert reason(web, "loops", "/page") == "done/document"
    assert web.loops.times("/robots.txt") == 6


@pytest.mark.slow
def test_rules_count_however_large_their_file(web: Web) -> None:
    """2.5: at least 500 KiB are parsed; a file past DOWNLOAD_MAXSIZE is not an absent server."""
    assert reason(web, "huge", "/page") == "done/document"
    assert reason(web, "huge", "/secret") == "failed/robots-disallowed"


@pytest.mark.slow
def test_a_crawl_delay_ends_in_the_frontier(web: Web) -> None:
    server = web.crawled.frontier["servers"][web.slow.url]

    assert server["delay"] == 7000
    now = time.time()  # noqa: TID251 - Redis' clock
    assert server["next"] > (now + 1) * 1000 - 60_000  # it was counted on after the download
    assert "delay" not in web.crawled.frontier["servers"][web.gone.url]


@pytest.mark.slow
def test_a_page_that_was_not_downloaded_does_not_cost_its_server_a_pause(tmp_path: Path) -> None:
    """Nobody was asked, so nobody has to rest; else ten thousand disallowed URLs take three hours."""
    with sites(strict={"/robots.txt": robots(ALL, "Disallow: /")}) as opened:
        seeds = ",".join(f"{opened['strict'].url}/{n}" for n in range(5))
        crawled = crawl(tmp_path, "index", "-a", f"seeds={seeds}", FRONTIER_DELAY=3600)

    assert crawled.frontier["states"]["reasons"] == {"robots-disallowed": 5}


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/seed", "/link", "/redirect", "/decimal", "/hex"])
def test_a_special_address_is_refused_however_it_was_found_and_spelled(web: Web, path: str) -> None:
    assert web.crawled.reason(web.canary.url + path) == "failed/address-refused"


@pytest.mark.slow
def test_an_address_within_an_ipv6_one_is_refused(web: Web) -> None:
    assert web.crawled.reason(f"http://[::ffff:7f00:2]:{web.canary.port}/mapped") == "failed/address-refused"


@pytest.mark.slow
def test_a_robots_txt_at_a_special_address_is_not_fetched(web: Web) -> None:
    assert reason(web, "trapped", "/page") == "failed/robots-unreachable"
    assert web.trapped.pages == []


@pytest.mark.slow
def test_a_port_that_is_no_web_servers_is_refused_also_where_the_address_is_allowed(web: Web) -> None:
    assert web.crawled.reason("http://127.0.0.1:6379/redis") == "failed/address-refused"


@pytest.mark.slow
def test_nobody_came_to_the_canary(web: Web) -> None:
    assert web.canary.connections == 0


@pytest.mark.slow
def test_other_schemes_are_counted_and_never_fetched(web: Web) -> None:
    states = web.crawled.frontier["states"]

    assert states["refused"] == {"scheme": 1}
    assert "passwd" not in web.crawled.log


@pytest.mark.slow
def test_what_a_name_resolves_to_is_judged_when_it_is_connected_to(tmp_path: Path) -> None:
    """No literal to be read beforehand: the machine's own name, which is a special address to all."""
    import socket

    name = socket.gethostname()
    try:
        address = socket.gethostbyname(name)
    except OSError:
        pytest.skip("this machine's name does not resolve")
    canary = Canary(address)

    crawled = crawl(
        tmp_path,
        *("index", "-a", f"seeds=http://{name}:{canary.port}/"),
        ADDRESSES_ALLOWED="",
        FRONTIER_TRIES=1,
        ROBOTSTXT_OBEY="no",
    )

    canary.stop()
    assert crawled.frontier["states"]["reasons"] == {"address-refused": 1}
    assert canary.connections == 0
