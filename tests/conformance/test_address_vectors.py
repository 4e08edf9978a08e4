"""No connection to where nobody sent us: reliability table S1 to S7, in one real crawl with real listeners.

Every spelling of every special address comes by every way that a stranger has. The regression tests of
CVE-2024-4032 (`ipaddress.is_private`), GHSA-j2hp-6m75-v4j4 (0.0.0.0), PYSEC-2026-2995 (NAT64, 6to4),
CVE-2026-46526 (`\\@` read in two ways), CVE-2026-35459 (by redirect), CVE-2026-109239 (by robots.txt) and
GHSA-23j4-mw76-5v7h (a redirect to file://).
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import pytest
from localweb import Crawled, crawl

from webcrawler.errors import BadUrl
from webcrawler.urls import canonical, resolve

from .rawweb import Answer, RawWeb, http
from .spellings import BEHIND_A_USER, HOSTS, MALFORMED, OTHER_SCHEMES, PORTS, TWO_READINGS

HUB = "127.77.0.1"  # the one address that the operator of this crawl allows
LISTENERS = ("127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "::1")
WAYS = ("seed", "link", "redirect", "base", "refresh", "iframe", "area")  # and by robots.txt
COMMANDS = ("/line\r\nSET canary 1\r\n/end", "/line%0d%0aSET%20canary%202")
SPELLINGS = [*(f"http://{host}" for host in HOSTS), *BEHIND_A_USER]


class Trap:
    """The hub, whose pages lead to the canaries in every way, and the canaries, which count who comes."""

    def __init__(self, folder: Path) -> None:
        self.web = RawWeb()
        self.hub = self.web.add(self.answer, HUB)
        self.canaries = [self.web.add(self.song, LISTENERS[0])]
        self.port = self.canaries[0].port
        self.canaries += [self.web.add(self.song, host, self.port) for host in LISTENERS[1:]]
        self.canary_file = folder / "canary.html"
        self.canary_file.write_text(f"<a href='{self.hub.url}/leaked'>")
        self.malformed = [f"http://{host}:{self.port}/malformed/{n}" for n, host in enumerate(MALFORMED)]
        self.others = [self.fill(url) for url in (*TWO_READINGS, *OTHER_SCHEMES)]
        self.ports = [f"http://{HUB}:{port}/" for port in PORTS]
        self.robots = [self.web.add(partial(self.redirected, n), HUB) for n in range(len(SPELLINGS))]

    def url(self, number: int, way: str) -> str:
        return f"{SPELLINGS[number]}:{self.port}/{way}/{number}"

    def fill(self, url: str) -> str:
        return url.format(
            hub=f"{HUB}:{self.hub.port}", canary=f"127.0.0.1:{self.port}", file=self.canary_file
        )

    def redirected(self, number: int, _: str) -> Answer:
        return redirect(self.url(number, "robots"))

    def song(self, _: str) -> Answer:
        return http(200, b"<title>canary</title>", kind="text/html")

    def answer(self, path: str) -> Answer:
        way, _, number = path.strip("/").partition("/")
        strange = self.malformed + self.others
        match way:
            case "links":
                links = [self.url(number, "link") for number in range(len(SPELLINGS))]
                links += [f"/{way}/{n}" for way in ("marked", "redirect") for n in range(len(SPELLINGS))]
                links += [f"/strange/{n}" for n in range(len(strange))]
                links += [f"{server.url}/page" for server in self.robots]
                links += [*strange, *self.ports, *COMMANDS, f"//me:secret@{HUB}:{self.hub.port}/me"]
                return html("".join(f'<a href="{escape(link)}">to</a> ' for link in links))
            case "marked":
                spelled = {way: escape(self.url(int(number), way)) for way in (*WAYS, "canonical")}
                return html(
                    f'<base href="{spelled["base"]}"><link rel="canonical" href="{spelled["canonical"]}">'
                    f'<meta http-equiv="refresh" content="0; url={spelled["refresh"]}">'
                    f'<title>{number}</title><iframe src="{spelled["iframe"]}"></iframe><a href="">to</a>'
                    f'<map><area href="{spelled["area"]}" alt="to"></map>'
                )
            case "redirect":
                return redirect(self.url(int(number), "redirect"))
            case "strange" if number.isdecimal():
                return redirect(strange[int(number)])
        return http(404)


def html(body: str) -> bytes:
    return http(200, body.encode(), kind="text/html; charset=utf-8")


def redirect(to: str) -> bytes:
    """Without line ends in the header, which would end it for any client."""
    location = re.sub(r"[\r\n]", "", to).encode()
    return b"HTTP/1.1 302 x\r\nContent-Length: 0\r\nConnection: close\r\nLocation: " + location + b"\r\n\r\n"


class Crawl(NamedTuple):
    trap: Trap
    crawled: Crawled


@pytest.fixture(scope="module")
def crawl_of_traps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawl]:
    folder = tmp_path_factory.mktemp("addresses")
    trap = Trap(folder)
    seeds = folder / "seeds"
    spelled = (trap.url(number, "seed") for number in range(len(SPELLINGS)))
    lines = (re.sub(r"[\r\n\t]", "", line) for line in spelled)  # a file of seeds has none within them
    seeds.write_text("\n".join([f"{trap.hub.url}/links", *lines]), "utf-8")

    crawled = crawl(
        folder / "crawl",
        *("index", "-a", f"seeds=@{seeds}", "-a", "mode=fifo"),
        ADDRESSES_ALLOWED=f"{HUB}/32",
        FRONTIER_TRIES=1,
        FRONTIER_SERVER_CONCURRENCY=8,
        seconds=120,
    )

    yield Crawl(trap, crawled)
    trap.web.stop()


@pytest.mark.slow
def test_nobody_came_to_the_canaries(crawl_of_traps: Crawl) -> None:
    trap, crawled = crawl_of_traps

    assert len(set(SPELLINGS)) >= 150
    assert sum(canary.connections for canary in trap.canaries) == 0
    assert crawled.status == 0 and "Traceback" not in crawled.log


@pytest.mark.slow
def test_a_canonical_link_is_not_even_followed(crawl_of_traps: Crawl) -> None:
    assert not any("/canonical/" in url for edge in crawl_of_traps.crawled.edges() for url in edge)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_each_is_refused_by_name(crawl_of_traps: Crawl, way: str) -> None:
    trap, crawled = crawl_of_traps
    urls = {canonical(trap.url(number, way)) for number in range(len(SPELLINGS))}

    assert {url: crawled.reason(url) for url in urls} == dict.fromkeys(urls, "failed/address-refused")


@pytest.mark.slow
def test_no_robots_txt_is_fetched_from_there(crawl_of_traps: Crawl) -> None:
    trap, crawled = crawl_of_traps

    reasons = {crawled.reason(f"{server.url}/page") for server in trap.robots}

    assert reasons == {"failed/robots-unreachable"}
    assert all(set(server.asked) == {"/robots.txt"} for server in trap.robots)


@pytest.mark.slow
def test_ports_of_other_protocols_are_refused(crawl_of_traps: Crawl) -> None:
    trap, crawled = crawl_of_traps

    assert {crawled.reason(url) for url in trap.ports} == {"failed/address-refused"}


@pytest.mark.parametrize("host", MALFORMED)
def test_what_can_be_read_in_two_ways_is_no_url(host: str) -> None:
    with pytest.raises(BadUrl):
        resolve(f"http://{host}:8000/")


@pytest.mark.slow
def test_other_schemes_are_neither_fetched_nor_queued(crawl_of_traps: Crawl) -> None:
    trap, crawled = crawl_of_traps

    assert trap.hub.asked["/leaked"] == 0
    assert crawled.frontier["states"]["refused"]["scheme"] >= 5
    assert str(trap.canary_file) not in str(crawled.edges())


@pytest.mark.slow
def test_no_link_writes_a_second_line_into_a_request(crawl_of_traps: Crawl) -> None:
    """S5: Redis reads HTTP as commands, one a line."""
    trap, _ = crawl_of_traps

    assert trap.hub.asked["/lineSET%20canary%201/end"] == 1
    assert trap.hub.asked["/line%0D%0ASET%20canary%202"] + trap.hub.asked["/line%0d%0aSET%20canary%202"] == 1
    assert not any(b"\nSET" in head for head in trap.hub.heads)


@pytest.mark.slow
def test_no_password_is_sent_to_anybody(crawl_of_traps: Crawl) -> None:
    """CVE-2021-41125, robots.txt included, and CVE-2024-3574: none is kept, so none can go astray."""
    heads = [head.lower() for head in crawl_of_traps.trap.hub.heads]

    assert crawl_of_traps.trap.hub.asked["/me"] == 1
    assert not any(name in head for head in heads for name in (b"\nauthorization", b"\ncookie", b"secret"))


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "0x7f.2", "2130706433", "0", "localhost"])
def test_a_canary_would_have_sung(crawl_of_traps: Crawl, host: str) -> None:
    """For a client that trusts strangers, as the stock resolver does."""
    canaries = crawl_of_traps.trap.canaries
    before = sum(canary.connections for canary in canaries)

    with socket.create_connection((host, crawl_of_traps.trap.port)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(9).startswith(b"HTTP")

    assert sum(canary.connections for canary in canaries) == before + 1
