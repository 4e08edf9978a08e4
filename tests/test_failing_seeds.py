"""Seeds that fail are named, with what to do; where nothing could be crawled the exit status is 1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from localweb import Answer, Crawled, Site, crawl, page, redirect, robots, sites
from ports import dead_server

pytestmark = pytest.mark.slow
AFTERWARDS = ", then `webcrawler frontier again` has it fetched"


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {"/": page(), "/moved": redirect("/gone"), "/broken": Answer(status=500)}
    with sites(site=routes) as opened:
        yield opened["site"]


def run(folder: Path, *seeds: str, **settings: object) -> Crawled:
    return crawl(folder, "index", "-a", f"seeds={','.join(seeds)}", **settings)


def lines(crawled: Crawled) -> list[str]:
    """What is said of seeds, without the time."""
    return [line.split("WARNING: ")[1] for line in crawled.log.splitlines() if "WARNING: the seed" in line]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/gone", "failed: not-found (status 404); check the address"),
        ("/broken", "failed: server-error (status 500); see `webcrawler frontier explain`"),
        ("/moved", ", which leads to {site}/gone, failed: not-found (status 404); check the address"),
    ],
)
def test_a_seed_that_is_not_answered_with_a_page_is_named(
    tmp_path: Path, site: Site, path: str, told: str
) -> None:
    crawled = run(tmp_path, site.url + path, FRONTIER_TRIES=1)

    assert crawled.status == 1
    assert lines(crawled) == [
        f"the seed {site.url}{path} {told}{AFTERWARDS}".replace(" ,", ",").format(site=site.url)
    ]
    assert "error: nothing was crawled" in crawled.log


def test_a_dead_port_is_named_at_the_first_try_and_at_the_last(tmp_path: Path) -> None:
    seed = f"{dead_server()}/"

    crawled = run(tmp_path, seed)

    assert crawled.status == 1
    first, last = lines(crawled)
    assert first == f"the seed {seed} failed: robots-unreachable; it is tried again"
    assert last.startswith(f"the seed {seed} failed: robots-unreachable; check the address")


def test_a_name_that_does_not_exist_is_named(tmp_path: Path) -> None:
    crawled = run(tmp_path, "http://no-such-host.invalid/", FRONTIER_TRIES=1)

    assert crawled.status == 1
    assert "the seed http://no-such-host.invalid/ failed: " in crawled.log


def test_a_seed_that_robots_txt_forbids_is_named(tmp_path: Path, site: Site) -> None:
    site.routes["/robots.txt"] = robots("User-agent: *", "Disallow: /")

    crawled = run(tmp_path, f"{site.url}/")

    assert crawled.status == 1
    assert lines(crawled) == [
        f"the seed {site.url}/ failed: robots-disallowed; "
        f"its robots.txt forbids it; name another page, or ask the owner{AFTERWARDS}"
    ]


def test_where_one_seed_gave_a_page_no_run_has_failed_and_each_names_the_other(
    tmp_path: Path, site: Site
) -> None:
    named = f"{site.url}/", f"{site.url}/gone"
    runs = [run(tmp_path, *named), run(tmp_path, *named), crawl(tmp_path, "index")]

    for crawled in runs:
        assert crawled.status == 0
        assert f"WARNING: seeds that have failed: {site.url}/gone (not-found); name them again" in crawled.log
    assert "nothing new to fetch" in runs[2].log


@pytest.mark.parametrize(
    ("path", "at_first"),
    [
        ("/gone", {}),
        ("/broken", {}),
        ("/moved", {}),
        ("/gone", {"/robots.txt": Answer(status=503)}),
        ("/gone", {"/robots.txt": robots("User-agent: *", "Disallow: /")}),
    ],
)
def test_a_seed_that_failed_is_fetched_when_it_is_named_again(
    tmp_path: Path, site: Site, path: str, at_first: dict[str, Answer]
) -> None:
    site.routes |= at_first
    assert run(tmp_path, site.url + path, FRONTIER_TRIES=1).status == 1
    site.routes |= {"/gone": page(), "/broken": page(), "/robots.txt": robots()}

    again = run(tmp_path, site.url + path, FRONTIER_TRIES=1)

    assert (again.status, len(again.documents())) == (0, 1)
    assert "have failed" not in again.log


def test_seeds_that_failed_in_an_earlier_run_fail_again(tmp_path: Path, site: Site) -> None:
    run(tmp_path, f"{site.url}/gone")

    assert run(tmp_path, f"{site.url}/gone").status == 1
