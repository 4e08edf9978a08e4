"""The log of decisions: why each URL was added, refused, leased, fetched, tried again or set aside."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import MakeFrontier
from crawled import link
from localweb import Answer, Site, crawl, page, redirect, robots, sites
from searched import entry

from webcrawler.frontier import Budgets, Done, decisions
from webcrawler.records import Lease

VERBS = ("added", "leased")


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    level = decisions.log.level
    caplog.set_level(logging.DEBUG, decisions.log.name)
    yield caplog
    decisions.log.setLevel(level)


def lines(told: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in told.records if record.name == decisions.log.name]


# ---- of a crawl


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {
        "/": page("/a", "/gone", "/moved", "/secret/x", "/film.mp4", "/busy"),
        "/a": Answer("<title>One</title>the same text"),
        "/moved": redirect("/a"),
        "/busy": Answer("busy", 503),
        "/robots.txt": robots("User-agent: *", "Disallow: /secret/"),
    }
    with sites(site=routes) as opened:
        yield opened["site"]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
def test_each_decision_of_a_crawl_is_a_line_at_debug(tmp_path: Path, site: Site, level: str) -> None:
    tries = {"FRONTIER_TRIES": 2, "FRONTIER_BACKOFF": 1}
    log = crawl(tmp_path, "index", "-a", f"seeds={site.url}/", LOG_LEVEL=level, **tries).log

    said = [line.partition(" DEBUG: ")[2] for line in log.splitlines() if "[webcrawler.decisions]" in line]
    if level == "INFO":
        assert not said
        return
    of = {path: [one for one in said if f"{site.url}{path}:" in one] for path in (*site.routes, "/film.mp4")}
    busy = [one.split()[0] for one in of["/busy"]]
    assert (busy[:4], busy[-1]) == (["added", "leased", "tried", "leased"], "failed")
    assert of["/"][0] == f"added {site.url}/: a seed, priority 0"
    assert f"fetched {site.url}/: document, status 200, " in of["/"][-1]
    assert f"added {site.url}/a: on {site.url}/, priority " in of["/a"][0]
    assert f"fetched {site.url}/moved: redirect, status 301, " in of["/moved"][-1]
    assert of["/film.mp4"] == [f"refused {site.url}/film.mp4: extension, on {site.url}/"]
    assert any(f"failed {site.url}/gone: not-found, status 404, " in one for one in said)
    assert any(f"failed {site.url}/secret/x: robots-disallowed, status 0, " in one for one in said)


@pytest.mark.slow
@pytest.mark.parametrize(("line", "level"), [("", "INFO"), ("log.setLevel('DEBUG'); ", "DEBUG")])
def test_level_that_a_project_sets_before_it_is_kept(line: str, level: str) -> None:
    code = f"import logging; log = logging.getLogger('webcrawler.decisions'); {line}"
    code += "import webcrawler.addon, webcrawler.frontier; print(logging.getLevelName(log.level))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == f"{level}\n"


# ---- of a frontier


def test_frontier_tells_which_links_were_new_and_which_are_over_a_budget(
    make_frontier: MakeFrontier, told: pytest.LogCaptureFixture
) -> None:
    frontier = make_frontier("fifo", budgets=Budgets(server=2))
    frontier.discover([link("http://a.test/")], within_budgets=False)
    lease = frontier.lease(1).leases[0]

    frontier.complete([Done(lease, "document", True, [link(f"http://a.test/{n}") for n in (1, 2)])])

    assert lines(told) == [
        "added http://a.test/: a seed, priority 0",
        "leased http://a.test/: due, priority 0, tries 0",
        "added http://a.test/1: on http://a.test/, priority 0",
        "refused http://a.test/2: budget-server, on http://a.test/",
    ]


def test_links_of_other_partitions_are_told_of_too(
    make_frontier: MakeFrontier, told: pytest.LogCaptureFixture
) -> None:
    frontier = make_frontier(partitions=4)
    frontier.discover([link("http://a.test/")], within_budgets=False)
    lease = frontier.lease(1).leases[0]
    urls = [f"http://{name}.test/" for name in "bcdefgh"]

    frontier.complete([Done(lease, "document", True, list(map(link, urls)))])

    added = [line for line in lines(told) if line.startswith("added") and " on http://a.test/" in line]
    assert sorted(line.split()[1].rstrip(":") for line in added) == urls


def test_priority_is_the_one_that_it_is_leased_with(
    make_frontier: MakeFrontier, told: pytest.LogCaptureFixture
) -> None:
    frontier = make_frontier("random")
    frontier.discover([link(f"http://{name}.test/") for name in "abc"])
    frontier.lease(3)

    words = [line.replace(":", "").replace(",", "").split() for line in lines(told)]
    by_url = [{one[1]: one[one.index("priority") + 1] for one in words if one[0] == verb} for verb in VERBS]
    assert len(by_url[0]) == 3 and by_url[0] == by_url[1]


def test_answers_are_as_before_where_nobody_asks(make_frontier: MakeFrontier) -> None:
    assert not decisions.are_logged()
    assert len(make_frontier().intake.columns([link("http://a.test/")], None)) == 10


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        ("done/document", "fetched http://a.test/x: document, "),
        ("done/duplicate", "fetched http://a.test/x: duplicate, "),
        ("failed/timeout", "failed http://a.test/x: timeout, "),
        ("retry/unreachable", "tried again http://a.test/x: unreachable, "),
        ("quarantined", "quarantined http://a.test/x: quarantined, "),
        ("checked/unchanged", "checked http://a.test/x: unchanged, "),
    ],
)
def test_outcomes_as_the_batch_tells_them(told: pytest.LogCaptureFixture, outcome: str, line: str) -> None:
    decisions.log_fetched([(entry(("http://a.test/x", "", "")).fetch, outcome)])

    assert [one.startswith(line) for one in lines(told)] == [True]


def test_what_somebody_else_decides_by_now_is_not_told(told: pytest.LogCaptureFixture) -> None:
    decisions.log_fetched([(entry(("http://a.test/x", "", "")).fetch, "stale")])

    assert not lines(told)


def test_lease_says_why_it_is_given(told: pytest.LogCaptureFixture) -> None:
    lease = Lease(1, "http://a.test/", "http://a.test/", "http://a.test", 1)
    decisions.log_leased([lease, lease._replace(tries=1), lease._replace(was="done/document")])

    assert [line.partition(": ")[2].partition(",")[0] for line in lines(told)] == ["due", "retry", "check"]
