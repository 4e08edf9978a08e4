"""From the frontier to requests and back: real crawls of a web on loopback that misbehaves.

Nothing here measures time: that a crawl ends, and how it left the frontier, says enough.
"""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from frontiers import breadth_first
from localweb import (
    PROJECT,
    WITHOUT_INDEX,
    Answer,
    Crawled,
    Route,
    Site,
    crawl,
    page,
    redirect,
    scrapy,
    sites,
)
from ports import dead_server
from scrapy.core.engine import _Slot
from scrapy.utils.reactor import CallLaterOnce
from waiting import until

from webcrawler.archive.pages import records
from webcrawler.crawl.open_leases import FAULTS_MAX

TRIES = 2


class Web:
    """Its sites, and what the crawl made of them; without a server a path is one of the first site."""

    def __init__(self, sites: dict[str, Site], crawled: Crawled) -> None:
        self.sites, self.crawled = sites, crawled

    def url(self, path: str) -> str:
        return self.sites["site"].url + path

    def reason(self, path: str) -> str:
        return self.crawled.reason(self.url(path))

    def times(self, path: str) -> int:
        return self.sites["site"].times(path)

    @property
    def states(self) -> dict[str, int]:
        found: dict[str, int] = self.crawled.frontier["states"]
        return found

    def adds_up(self) -> bool:
        states = self.states
        return states["seen"] == sum(states[s] for s in ("queued", "leased", "done", "failed", "quarantined"))


# ---- what downloads come to


def flaky(site: Site) -> Answer:
    return Answer("busy", 500) if site.times("/flaky") == 1 else page("/found-late")


def throttles(site: Site) -> Answer:
    """Soon, then much later."""
    return Answer("busy", 429, {"Retry-After": "0" if site.times("/page") == 1 else "3000"})


ROUTES: dict[str, Route] = {
    "/dir/index.html": redirect("/dir/"),
    "/dir/": page("/from-dir"),
    "/loop": redirect("/loop", 302),
    "/ping": redirect("/pong"),
    "/pong": redirect("/ping"),
    "/nowhere": redirect("http://"),
    "/to-file": redirect("file:///etc/passwd"),
    "/to-archive": redirect("/moved.zip"),
    "/missing": Answer("no", 404),
    "/broken": Answer("broken", 500),
    "/not-implemented": Answer("no", 501),
    "/flaky": flaky,
    "/big": Answer(b"<html>" + b"x" * 60_000),
    "/bomb": Answer(gzip.compress(b"<html>" + b"x" * 60_000), headers={"Content-Encoding": "gzip"}),
    "/data": Answer("{}", kind="application/json"),
    "/unlabelled": Answer("<html><a href=/from-unlabelled>x</a>", kind=""),
    "/picture": Answer(b"\x89PNG\r\n\x1a\n"),
    "/hangs": lambda site: None,
    "/links": page("/a.zip", "/b.tar", "mailto:x@a.test", "http://[", "/links", "/links#top"),
    "/nofollow": Answer("<title>n</title><a href=/secret rel=nofollow>s</a>"),
    "/noindex": Answer("<title>i</title><meta name=robots content=noindex><a href=/from-noindex>x</a>"),
    "/twin-a": Answer("<title>twins</title>"),
    "/twin-b": Answer("<title>twins</title>"),
    "/empty": Answer(""),
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with sites(site=ROUTES, other={"/new": page()}, throttles={"/page": throttles}) as opened:
        site = opened["site"]
        dead = dead_server()
        site.routes = {
            **ROUTES,
            "/": page(*ROUTES, "/old", "/refused", f"{opened['throttles'].url}/page"),
            "/old": redirect(f"{opened['other'].url}/new"),
            "/refused": redirect(dead + "/dead"),
        }
        crawled = crawl(
            tmp_path_factory.mktemp("web"),
            *("index", "-a", f"seeds={site.url}/", "-a", "mode=fifo"),
            FRONTIER_TRIES=TRIES,
            FRONTIER_SERVER_CONCURRENCY=4,
            DOWNLOAD_MAXSIZE=20_000,
            DOWNLOAD_TIMEOUT=3,  # twice for what hangs; all else answers in time on a busy machine, too
            # Nothing here is worth waiting for, not even 3,000 s: what was asked to rest has no URLs left.
        )
        web = Web(opened, crawled)
        web.dead = dead  # type: ignore[attr-defined]
        yield web


@pytest.mark.slow
def test_the_crawl_ends_well_with_every_url_decided(web: Web) -> None:
    assert web.crawled.status == 0, web.crawled.log
    assert "Traceback" not in web.crawled.log
    assert web.adds_up()
    assert (web.states["queued"], web.states["leased"]) == (0, 0)


@pytest.mark.parametrize(
    ("reason", "paths"),
    [
        ("done/document", "/ /links /empty /unlabelled /dir/ /flaky /noindex"),  # noindex is counted apart
        ("done/redirect", "/ping /pong /to-archive /old"),
        ("failed/redirect-loop", "/loop"),
        ("failed/not-found", "/missing /from-unlabelled /from-dir /found-late /from-noindex"),
        ("failed/server-error", "/nowhere /to-file /broken /not-implemented"),
        ("failed/too-large", "/big /bomb"),
        ("failed/not-indexable", "/data /picture"),
        ("failed/timeout", "/hangs"),
    ],
)
def test_every_end_of_a_download_has_its_reason(web: Web, reason: str, paths: str) -> None:
    assert {path: web.reason(path) for path in paths.split()} == dict.fromkeys(paths.split(), reason)


def test_the_frontier_counts_what_the_catalog_says(web: Web) -> None:
    counted = web.states["reasons"]

    assert counted["too-large"] == 2  # type: ignore[index]
    assert counted["noindex"] == counted["timeout"] == counted["duplicate"] == 1  # type: ignore[index]


def test_a_redirect_is_an_edge_and_a_new_url(web: Web) -> None:
    new = web.sites["other"].url + "/new"

    assert (web.url("/old"), new, "redirect") in web.crawled.edges()
    assert web.crawled.reason(new) == "done/document"


def test_a_redirect_to_another_spelling_of_the_same_url_is_followed_at_once(web: Web) -> None:
    assert web.times("/dir/index.html") == web.times("/dir/") == 1
    assert web.crawled.fetch(web.url("/dir/")).status == 200


def test_a_redirect_loop_ends(web: Web) -> None:
    assert web.times("/ping") == web.times("/pong") == 1
    assert web.times("/loop") <= 6


@pytest.mark.parametrize(
    ("paths", "times", "excused"),
    [
        ("/broken /hangs", TRIES, FAULTS_MAX),  # faults in a row look like an outage
        ("/missing /not-implemented /big /bomb /data /found-late", 1, 0),
    ],
)
def test_what_may_pass_is_tried_so_many_times_and_all_else_once(
    web: Web, paths: str, times: int, excused: int
) -> None:
    for path in paths.split():
        assert times <= web.times(path) <= times + excused, path
        assert web.crawled.fetch(web.url(path)).tries == times - 1, path


def test_a_server_that_does_not_answer_is_unreachable(web: Web) -> None:
    """Its robots.txt is asked first, and nothing may be fetched without."""
    assert web.crawled.reason(web.dead + "/dead") == "failed/robots-unreachable"  # type: ignore[attr-defined]


def test_429_slows_the_server_for_as_long_as_it_asks(web: Web) -> None:
    throttles = web.sites["throttles"]
    server = web.crawled.frontier["servers"][throttles.url]

    assert throttles.times("/page") == TRIES
    assert web.crawled.reason(throttles.url + "/page") == "failed/server-error"
    assert server["next"] > (time.time() + 2000) * 1000  # noqa: TID251 - Redis' clock
    assert server["backoff"] == TRIES


def test_no_server_is_left_with_a_download(web: Web) -> None:
    assert {server.get("active", 0) for server in web.crawled.frontier["servers"].values()} == {0}


def test_of_two_pages_with_the_same_bytes_one_is_the_duplicate(web: Web) -> None:
    assert {web.reason("/twin-a"), web.reason("/twin-b")} == {"done/document", "done/duplicate"}


def test_links_that_are_not_fetched_are_recorded(web: Web) -> None:
    edges = web.crawled.edges()

    named = [("/links", "/a.zip", ""), ("/links", "/b.tar", ""), ("/nofollow", "/secret", "nofollow")]
    for path, to, rel in named:
        assert (web.url(path), web.url(to), rel) in edges
        assert web.times(to) == 0
    assert (web.url("/"), web.url("/data"), "") in edges
    assert (web.url("/to-archive"), web.url("/moved.zip"), "redirect") in edges
    assert web.states["refused"]["nofollow"] == 1  # type: ignore[index]
    assert web.states["refused"]["extension"] == 2  # type: ignore[index]
    assert web.times("/moved.zip") == 1  # a redirect may lead to a page of any name


def test_every_response_is_kept_failures_too(web: Web) -> None:
    kept = {record.response.url: record for record in records(web.crawled.folder / "pages")}

    # Of a redirect, a failure and a page: what came, or at least that it came.
    for path in ("/old", "/missing", "/hangs", "/links", "/data"):
        assert web.url(path) in kept
    assert kept[web.url("/missing")].status == 404
    assert kept[web.url("/links")].response.body == ROUTES["/links"].body.encode()  # type: ignore[union-attr]


# ---- spiders and pipelines that fail; the scheduler wakes the engine


MISBEHAVING = {
    "SPIDER_MODULES": "misbehaving",
    "ITEM_PIPELINES": json.dumps({**json.loads(WITHOUT_INDEX), "misbehaving.Pipeline": 350}),
}


@pytest.fixture(scope="module")
def trouble(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """All pages of one server, a tenth of a second apart, while the engine itself would look once an hour."""
    names = ("fine", "callback-raises", "raises-late", "pipeline-raises", "pipeline-drops")
    with sites(site={f"/{name}": page(f"/from-{name}") for name in names}) as opened:
        opened["site"].routes["/"] = page(*names)
        crawled = crawl(
            tmp_path_factory.mktemp("trouble"),
            *("misbehaving", "-a", f"seeds={opened['site'].url}/", "-a", "mode=fifo"),
            **MISBEHAVING,
            FRONTIER_TRIES=TRIES,
            FRONTIER_DELAY=0.1,
            FRONTIER_SLOWNESS=0,
        )
        yield Web(opened, crawled)


@pytest.mark.slow
def test_the_engine_is_woken_when_a_server_is_due(trouble: Web) -> None:
    """Scrapy's own heartbeat, five seconds else, is an hour here: the crawl would not have ended."""
    assert trouble.crawled.status == 0
    assert len(trouble.sites["site"].pages) > 8


def test_scrapy_still_has_what_wakes_the_engine() -> None:
    """Private names of Scrapy that the scheduler uses; fails when an upgrade takes them away."""
    assert "nextcall" in signature(_Slot.__init__).parameters
    assert callable(CallLaterOnce.schedule)


@pytest.mark.slow
def test_no_lease_is_left_open_whatever_fails(trouble: Web) -> None:
    assert trouble.adds_up()
    assert (trouble.states["leased"], trouble.states["queued"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/callback-raises", "/pipeline-raises"])
def test_a_page_that_nothing_can_be_made_of_is_tried_again_and_has_failed(trouble: Web, path: str) -> None:
    assert trouble.times(path) == TRIES
    assert trouble.reason(path) == "failed/unparsable"


@pytest.mark.slow
def test_a_dropped_page_is_fetched_and_its_links_are_followed(trouble: Web) -> None:
    assert trouble.reason("/pipeline-drops") == "done/document"
    assert trouble.times("/from-pipeline-drops") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pipeline-replaces", "yields-nothing", "breaks-batch"])
def test_a_page_that_does_not_come_through_does_not_hold_the_crawl(tmp_path: Path, name: str) -> None:
    with sites(site={f"/{name}": page("/x")}) as opened:
        seed = f"seeds={opened['site'].url}/{name}"
        crawled = crawl(tmp_path, "misbehaving", "-a", seed, **MISBEHAVING)

    assert crawled.frontier["states"]["leased"] == 0


# ---- bounds, and going on


@pytest.fixture
def endless() -> Iterator[Site]:
    """Each page leads to two new ones."""

    def route(site: Site) -> Answer:
        path = site.request.path.rstrip("/")
        return page(f"{path}/l", f"{path}/r")

    with sites(site={"*": route, "/robots.txt": Answer("no", 404)}) as opened:
        yield opened["site"]


@pytest.mark.slow
def test_a_crawl_ends_at_max_pages_and_the_next_goes_on(endless: Site, tmp_path: Path) -> None:
    seeds = f"seeds={endless.url}/"
    first = crawl(tmp_path, "index", "-a", seeds, "-a", "max_pages=7", FRONTIER_SERVER_CONCURRENCY=8)
    assert len(first.documents()) == 7
    assert "max_pages" in first.log

    second = crawl(tmp_path, "index", "-a", "max_pages=4", FRONTIER_SERVER_CONCURRENCY=8)

    assert len(second.documents()) == 11
    states = second.frontier["states"]
    assert (states["done"], states["leased"]) == (11, 0)
    assert states["seen"] == states["done"] + states["queued"]
    assert len(endless.pages) == len(set(endless.pages)) == 11  # nothing twice, nothing in vain


@pytest.mark.slow
def test_a_crawl_ends_at_max_time(endless: Site, tmp_path: Path) -> None:
    crawled = crawl(tmp_path, "index", "-a", f"seeds={endless.url}/", "-a", "max_time=0.5")

    assert crawled.status == 0
    assert "'finish_reason': 'max_time'" in crawled.log
    states = crawled.frontier["states"]
    assert states["queued"] > 0 and states["leased"] == 0
    assert states["done"] == len(crawled.documents())


# ---- the exact order


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["breadth", "fifo"])
def test_with_one_request_at_a_time_the_order_is_exact(tmp_path: Path, mode: str) -> None:
    with sites(a={}, b={}, c={}) as opened:
        a, b, c = (site.url for site in opened.values())
        asked: list[str] = []
        web = {
            f"{a}/": ("document", [f"{a}/1", f"{a}/2", f"{b}/moved", f"{a}/gone", f"{b}/1"]),
            f"{a}/1": ("document", [f"{c}/gone", f"{c}/1", f"{a}/3"]),
            f"{a}/2": ("document", [f"{b}/2"]),
            f"{a}/3": ("document", []),
            f"{a}/gone": ("gone", []),
            f"{b}/moved": ("redirect", [f"{b}/3"]),
            f"{b}/1": ("document", [f"{c}/2"]),
            f"{b}/2": ("document", []),
            f"{b}/3": ("document", [f"{c}/1", f"{a}/3"]),
            f"{c}/gone": ("gone", []),
            f"{c}/1": ("document", []),
            f"{c}/2": ("document", [f"{a}/"]),
        }
        for url, (kind, found) in web.items():
            parts = urlsplit(url)
            site = next(s for s in opened.values() if s.url.endswith(parts.netloc))
            answer = {"gone": Answer("", 410), "redirect": redirect(found[0] if found else "")}.get(
                kind, page(*found)
            )
            site.routes[parts.path] = lambda _, answer=answer, url=url: asked.append(url) or answer  # type: ignore[misc]

        crawl(tmp_path, "index", "-a", f"seeds={a}/", "-a", f"mode={mode}", CONCURRENT_REQUESTS=1)

    order = [f"{a}/"]
    for url in order:
        order += [found for found in web[url][1] if found not in order]
    assert asked == (breadth_first(web, [f"{a}/"]) if mode == "breadth" else order)


# ---- a Redis that goes away for a while


@pytest.mark.slow
def test_a_crawl_outlives_a_redis_that_goes_away_and_comes_back(endless: Site, tmp_path: Path) -> None:
    folder = tmp_path / "redis"
    folder.mkdir()
    url = f"unix://{folder}/sock" if len(str(folder)) < 90 else f"unix:///tmp/wc-{uuid4().hex}.sock"

    server = start_redis(folder, url)
    process = scrapy(
        *("crawl", "index", "-a", f"seeds={endless.url}/", "-a", "max_pages=60"),
        *("-s", f"ITEM_PIPELINES={WITHOUT_INDEX}", "-s", "FRONTIER_DELAY=0"),
        *("-s", "ADDRESSES_ALLOWED=127.0.0.1/32"),
        folder=tmp_path / "crawl",
        REDIS_URL=url,
    )
    try:
        until(lambda: len(endless.pages) > 5, "pages")
        server.kill()
        server.wait()
        assert process.stderr is not None
        for word in ("webcrawler.scheduler", "still away"):  # each has tried in vain
            while word not in (line := process.stderr.readline()):
                assert line, "the crawl ended"
        server = start_redis(folder, url)
        log = process.communicate()[1]
    finally:
        process.kill()
        server.kill()
    assert process.returncode == 0, log
    assert "'finish_reason': 'max_pages'" in log


def start_redis(folder: Path, url: str) -> subprocess.Popen[bytes]:
    """A server that somebody else runs, with a log."""
    from webcrawler.connection.embedded import installed_binaries

    binary = next(iter(installed_binaries()))
    path = url.removeprefix("unix://")
    options = ["--port", "0", "--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    command = [binary, *options, "--unixsocket", path, "--dir", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=PROJECT)
    until(lambda: socket.socket(socket.AF_UNIX).connect_ex(path) == 0, "the server")
    return server
