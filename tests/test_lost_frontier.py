"""Redis loses everything amid a crawl: it is noticed and repaired, and the crawl goes on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Run
from inprocess import command
from localweb import Answer, Crawled, Site, crawl, page, redirect, robots, sites

from webcrawler.connection import connect

LOST = "Redis has lost the frontier of this data folder: `webcrawler frontier rebuild` fills it again"
MODES = ["breadth", "backlink", "pagerank", "best-first?query=page"]
IN_CI = [("breadth", 1), ("best-first?query=page", 4)]
ELSEWHERE = pytest.mark.deep("test_rebuild.py has all orderings")
PAGES = 40


def routes() -> dict[str, Answer]:
    """Pages in a row with links ahead and back, a redirect, a copy, and what is not there."""
    found = {f"/{n}": page(f"/{n + 1}", f"/{n + 5}", f"/{n // 2}") for n in range(PAGES)}
    copy = Answer("<title>twice</title>the same")
    found |= {"/": page("/0", "/moved", "/one", "/other"), "/one": copy, "/other": copy}
    return found | {"/moved": redirect("/3")}


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    with sites(site={}) as opened:
        yield opened["site"]


@pytest.fixture
def site(server: Site) -> Site:
    server.routes = routes()
    server.asked.clear()
    return server


class Whole(NamedTuple):
    """A crawl in which nothing is lost: its end is that of a crawl in any order."""

    ends: dict[str, str]
    asked: Counter[str]
    states: dict[str, Any]


@pytest.fixture(scope="module")
def whole(server: Site, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    server.routes = routes()
    server.asked.clear()
    crawled = crawl(tmp_path_factory.mktemp("whole"), "index", "-a", f"seeds={server.url}/")
    return Whole(ends(crawled, server), Counter(server.pages), crawled.frontier["states"])


def crawl_three(folder: Path, site: Site, *more: str) -> Crawled:
    """To its third page."""
    return crawl(folder, "index", "-a", f"seeds={site.url}/", "-a", "max_pages=3", *more)


def lose_redis(folder: Path) -> None:
    """The last user of the private server has stopped it; its files go."""
    shutil.rmtree(folder / "redis")


def ask(folder: Path, *arguments: str) -> Any:
    answered = command("frontier", *arguments, "--json", folder=folder)
    assert answered.out, answered.err
    return json.loads(answered.out)


def ends(crawled: Crawled, site: Site) -> dict[str, str]:
    """What came of each URL; which of two copies is the duplicate is left to the order."""
    return {path: crawled.reason(site.url + path).replace("duplicate", "document") for path in site.pages}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "partitions"),
    [one if one in IN_CI else pytest.param(*one, marks=ELSEWHERE) for one in product(MODES, (1, 4))],
)
def test_the_crawl_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, whole: Whole, site: Site, mode: str, partitions: int
) -> None:
    settings = {"FRONTIER_PARTITIONS": partitions}
    arguments = ("-a", f"seeds={site.url}/", "-a", f"mode={mode}", "-a", "max_pages=12")
    before = crawl(tmp_path, "index", *arguments, **settings).frontier["states"]
    lose_redis(tmp_path)
    refused = crawl(tmp_path, "index", **settings)
    assert (refused.status, refused.log.count(LOST)) == (2, 1)
    found = ask(tmp_path, "rebuild", "-s", f"FRONTIER_PARTITIONS={partitions}")
    assert found["frontier"] | {"refused": {}} == before | {"refused": {}}
    assert found["mode"] == mode
    resumed = crawl(tmp_path, "index", **settings)

    assert resumed.status == 0, resumed.log
    assert ends(resumed, site) == whole.ends
    assert Counter(site.pages) == whole.asked  # nothing twice
    states = resumed.frontier["states"]
    assert states | {"refused": {}} == whole.states | {"refused": {}}
    assert states["seen"] == sum(states[state] for state in ("done", "failed"))


@pytest.mark.slow
def test_sitemaps_and_what_they_name_wait_again(tmp_path: Path, site: Site) -> None:
    urls = "".join(f"<url><loc>{site.url}/alone{n}</loc></url>" for n in range(3))
    site.routes["/robots.txt"] = robots(f"Sitemap: {site.url}/map.xml", f"Sitemap: {site.url}/slow.xml")
    site.routes["/map.xml"] = Answer(f"<urlset>{urls}</urlset>", kind="application/xml")
    site.routes["/slow.xml"] = Answer(status=500)  # is tried again, ten minutes later
    bounds = ("-a", f"seeds={site.url}/", "-a", "domains=127.0.0.1", "-a", "max_pages=4")
    before = crawl(tmp_path, "index", *bounds, FRONTIER_BACKOFF=600)
    assert {"/map.xml", "/slow.xml"} <= set(site.pages)
    lose_redis(tmp_path)

    found = ask(tmp_path, "rebuild")

    assert found["frontier"] | {"refused": {}} == before.frontier["states"] | {"refused": {}}


@pytest.mark.slow
def noise(file: Path) -> None:
    """Where a command begins, in its middle: elsewhere Redis may take the rest for one that is cut off."""
    content = file.read_bytes()
    begin = max(content.find(b"\r\n*", len(content) // 2) + 2, len(content) // 3)
    file.write_bytes(content[:begin] + bytes(range(128, 168)) + content[begin + 40 :])


@pytest.mark.parametrize(
    ("part", "damage"),
    [("*.incr.aof", noise), ("*.incr.aof", Path.unlink), ("*.manifest", noise), ("*.base.*", noise)],
    ids=["noise in the log", "no log", "noise in its manifest", "noise in its base"],
)
def test_a_log_that_redis_cannot_read_is_moved_aside_by_the_rebuild_that_a_crawl_names(
    tmp_path: Path, whole: Whole, site: Site, part: str, damage: Callable[[Path], object]
) -> None:
    crawl_three(tmp_path, site)
    [damaged] = (tmp_path / "redis/appendonlydir").glob(part)
    damage(damaged)
    left = {file.name for file in damaged.parent.iterdir()}

    refused = command("crawl", folder=tmp_path)
    rebuilt = command("frontier", "rebuild", folder=tmp_path)
    resumed = crawl(tmp_path, "index")

    assert refused.status == 1 and refused.err.count("\n") == 1
    assert "cannot read its log: `webcrawler frontier rebuild` moves it aside" in refused.err
    assert rebuilt.status == 0
    [aside] = tmp_path.glob("redis/damaged-*/appendonlydir")
    assert str(aside.parent) in rebuilt.err and {file.name for file in aside.iterdir()} == left
    assert ends(resumed, site) == whole.ends
    assert Counter(site.pages) == whole.asked  # nothing twice


def test_a_crawl_whose_redis_is_emptied_says_so_and_fails(tmp_path: Path, site: Site) -> None:
    def empty(_: Site) -> Answer:
        with connect(None, tmp_path) as connection:
            connection.client.flushall()
        return page("/8")

    site.routes["/7"] = empty

    crawled = crawl(tmp_path, "index", "-a", f"seeds={site.url}/")

    assert crawled.status == 1
    assert LOST in crawled.log


@pytest.mark.slow
@pytest.mark.parametrize("is_lost", [False, True])
def test_after_a_clear_on_purpose_the_crawl_starts_over(tmp_path: Path, site: Site, is_lost: bool) -> None:
    crawl_three(tmp_path, site)
    if is_lost:
        lose_redis(tmp_path)

    assert (ask(tmp_path, "clear")["forgotten"] > 0) is not is_lost
    again = crawl_three(tmp_path, site)

    assert again.status == 0, again.log
    assert site.times("/") == 2


@pytest.mark.slow
def test_the_domains_of_the_newest_crawl_hold_unless_others_are_named(tmp_path: Path, site: Site) -> None:
    with sites(other={"/": page("/")}) as opened:
        other = opened["other"].url.replace("127.0.0.1", "localhost")
        site.routes["/0"] = page("/1", f"{other}/")
        crawl_three(tmp_path, site, "-a", "domains=127.0.0.1")
        lose_redis(tmp_path)

        assert ask(tmp_path, "rebuild")["domains"] == ["127.0.0.1"]
        assert ask(tmp_path, "explain", f"{other}/")["state"] == "unseen"
        ask(tmp_path, "rebuild", "-a", "domains=127.0.0.1,localhost")
        assert ask(tmp_path, "explain", f"{other}/")["state"] == "queued"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rebuild"], "nothing was crawled into"),
        (["rebuild", "-a", "seeds=http://a.test/"], "rebuild takes no seeds: name it to the crawl"),
        (["rebuild", "-a", "mode"], "write -a NAME=VALUE"),
        (["rebuild", "-a", "mode=none"], "unknown mode 'none'"),
        (["rebuild", "--name", "shop"], "only the frontier of `webcrawler crawl index` has a catalog"),
        (["stats", "-a", "mode=fifo"], "-a is for rebuild"),
    ],
)
def test_what_cannot_be_rebuilt_is_one_clear_line(run: Run, arguments: list[str], message: str) -> None:
    status, _, told = run("frontier", *arguments)

    assert status == 2
    assert message in told
    assert told.count("\n") == 1
