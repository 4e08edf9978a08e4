"""A crawl that learns, and is killed: what it asks servers for afterwards is what it would have asked for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import failpoints
import pytest
from learnt_crawl import web
from localweb import Answer, Crawled, Site, crawl

pytestmark = pytest.mark.deep("test_learnt.py kills at the same places, without a web")
NEXT = 100  # pages after a kill
SERVERS = 4
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,  # else answers arrive in another order, and so does what is learnt of them
    "FRONTIER_SLOWNESS": 0,  # else servers are due sooner or later, by how fast they happen to be
    "BUDGET_REPEATS": 0,  # else links of repeats go behind, and what a process takes for one ends with it
    "ADDRESSES_ALLOWED": "127.0.0.0/8",
}


class Web:
    """That of `learnt_crawl` on real servers; `asked` is what was requested of all of them, in order."""

    def __init__(self, opened: ExitStack) -> None:
        self.asked: list[str] = []
        sites = [Site(asked=self.asked) for _ in range(SERVERS)]
        for site in sites:
            site.start()
            opened.callback(site.stop)
        place = {f"http://s{n}.test": site.url for n, site in enumerate(sites)}
        for url, (body, links) in web().items():
            server, _, number = url.rpartition("/")
            if server in place:
                anchors = "".join(
                    f'<a href="{to.replace(host, place[host])}/{host[8]}">{anchor}</a> '
                    for to, anchor in links
                    if (host := to.rpartition("/")[0]) in place
                )
                path = f"/{number}/{server[8]}"
                sites[int(server[8])].routes[path] = Answer(
                    f"<!doctype html><title>Page {path}</title><p>{body}</p><p>{anchors}</p>"
                )
        self.seed = f"{sites[0].url}/0/0"

    def crawl(self, folder: Path, *arguments: str, **variables: str) -> tuple[Crawled, list[str]]:
        """The crawl, and which pages it asked for, in order."""
        before = len(self.asked)
        done = crawl(folder, *arguments, process="is killed", variables=variables, **SETTINGS)
        return done, [path for path in self.asked[before:] if path != "/robots.txt"]


@pytest.fixture
def servers() -> Iterator[Web]:
    with ExitStack() as opened:
        yield Web(opened)


@pytest.mark.parametrize(
    ("name", "failpoint", "passing"),
    [
        ("adaptive", "complete.after", 60),  # waiting links have no new priorities yet
        ("context-graph", "batch.settled", 60),  # they have; the process does not know that the page is done
        ("credit", "download.after", 80),  # the page is fetched again
    ],
)
def test_a_crawl_that_is_killed_and_started_again_asks_for_the_same_pages(
    name: str, failpoint: str, passing: int, servers: Web, tmp_path: Path
) -> None:
    asked = ["index", "-a", f"mode={name}?query=gene+cell", "-a", f"seeds={servers.seed}"]
    _, whole = servers.crawl(tmp_path / "whole", *asked, "-a", "max_pages=180")

    armed = failpoints.environment(f"{failpoint}:kill:{passing}")
    killed, before = servers.crawl(tmp_path / "killed", *asked, **armed)
    _, after = servers.crawl(tmp_path / "killed", *asked, "-a", "max_pages=110")

    if after[0] == before[-1]:  # it was not decided before the kill
        before.pop()
    common = len(before) + NEXT
    assert killed.status == -signal.SIGKILL, killed.log
    assert len(before) >= 50
    assert (before + after)[:common] == whole[:common]
