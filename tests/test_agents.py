"""`-a agents=N`: one command, several processes of one crawl, which share its bounds and end together."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localweb import WITHOUT_INDEX, Answer, Crawled, Site, crawl, page, scrapy
from waiting import PATIENCE_SECONDS, until

from webcrawler.background import is_crawling
from webcrawler.connection import connect
from webcrawler.crawl.run.agents import Tally
from webcrawler.frontier import Frontier, inspect, ordering

SITES, PAGES = 4, 12
SETTINGS = {
    "ADDRESSES_ALLOWED": "127.0.0.1/32",
    "FRONTIER_DELAY": 0,
    "BUDGET_REPEATS": 0,  # the pages repeat each other
    "ITEM_PIPELINES": WITHOUT_INDEX,
    "PARSER_WORKERS": 1,
    "RANKER_ENABLED": "no",
    "CONCURRENT_REQUESTS": 1,
}


class SharedWeb:
    """Sites that answer nothing until each of two agents, with one download at a time, has asked for a page.

    Args:
        held_after: inner pages, after which the others are answered once `release` is set.
    """

    def __init__(self, held_after: int = 10**9) -> None:
        self.release = threading.Event()
        self._held_after, self._begin = held_after, threading.Barrier(2)
        inner = {f"/{n}": self._inner for n in range(PAGES)}
        self.sites = [Site({"/": self._front, **inner}).start() for _ in range(SITES)]
        self.urls = {f"{site.url}/{path}" for site in self.sites for path in ("", *range(PAGES))}
        self.seeds = "seeds=" + ",".join(f"{site.url}/" for site in self.sites)

    @property
    def asked(self) -> list[str]:
        return [site.url + path for site in self.sites for path in site.pages]

    def _front(self, site: Site) -> Answer:
        if len(self.asked) <= 2:
            self._begin.wait(PATIENCE_SECONDS)
        return page(*(f"/{n}" for n in range(PAGES)))

    def _inner(self, site: Site) -> Answer:
        if len(self.asked) > self._held_after:
            self.release.wait(PATIENCE_SECONDS)
        return page("/")

    def close(self) -> None:
        self.release.set()
        for site in self.sites:
            site.stop()


@pytest.fixture
def web() -> Iterator[SharedWeb]:
    with closing(SharedWeb()) as opened:
        yield opened


@pytest.fixture
def held_web() -> Iterator[SharedWeb]:
    with closing(SharedWeb(held_after=12)) as opened:
        yield opened


def crawled(folder: Path, web: SharedWeb, *arguments: str, **settings: object) -> Crawled:
    return crawl(folder, "index", "-a", web.seeds, "-a", "agents=2", *arguments, **{**SETTINGS, **settings})


@pytest.mark.slow
def test_agents_share_one_crawl_and_its_summary_counts_what_all_of_them_did(
    web: SharedWeb, tmp_path: Path
) -> None:
    done = crawled(tmp_path, web, "-O", f"{tmp_path}/pages-%(agent)s.jsonl")

    assert done.status == 0, done.log
    assert done.documents() == web.urls
    assert sorted(web.asked) == sorted(web.urls), "a URL was fetched twice"
    lines = [(tmp_path / f"pages-{agent}.jsonl").read_text().count("\n") for agent in (1, 2)]
    assert all(lines)
    assert sum(lines) == len(web.urls)
    summary = done.log[done.log.index("agent 1: ", done.log.rindex("Dumping Scrapy stats") - 100) :]
    assert f"'item_scraped_count': {len(web.urls)}" in summary
    assert "agent 2: " in done.log


@pytest.mark.slow
def test_max_pages_is_for_all_agents_together(web: SharedWeb, tmp_path: Path) -> None:
    done = crawled(tmp_path, web, "-a", "max_pages=17")

    assert done.status == 0, done.log
    assert len(done.documents()) == 17


@pytest.mark.slow
def test_the_size_of_the_collection_is_for_all_agents_together(web: SharedWeb, tmp_path: Path) -> None:
    done = crawled(tmp_path, web, COLLECTION_MAX=17)

    assert done.status == 0, done.log
    assert len(done.documents()) == 17


@pytest.mark.slow
def test_agents_do_not_write_to_one_file(web: SharedWeb, tmp_path: Path) -> None:
    done = crawled(tmp_path / "crawl", web, "-O", f"{tmp_path}/pages.jsonl")

    assert done.status == 2
    assert "put %(agent)s into its name" in done.log
    assert not web.asked


# ---- the end of one is the end of all, and loses nothing


class Running:
    """A crawl by two agents, held in the middle."""

    def __init__(self, folder: Path, web: SharedWeb) -> None:
        options = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
        self.folder, self.web = folder, web
        arguments = ("crawl", "index", "-a", web.seeds, "-a", "agents=2", *options)
        self.process = scrapy(*arguments, folder=folder)
        until(lambda: len(web.asked) > 12, "pages", self.process)

    def kill_second(self) -> None:
        with connect(None, self.folder) as connection:
            workers = Frontier(connection.client, ordering("breadth")).workers()
        processes = {int(worker.split("-")[-2]) for worker in workers}
        assert len(processes) == 2
        (second,) = processes - {self.process.pid}
        os.kill(second, signal.SIGKILL)

    def end(self) -> tuple[int, str]:
        self.web.release.set()
        _, log = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, log


def states(folder: Path) -> dict[str, int]:
    with connect(None, folder) as connection:
        return inspect.stats(Frontier(connection.client, ordering("breadth")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.deep("SIGTERM does the same"))]
)
def test_a_signal_to_the_first_ends_all_in_good_order(
    number: int, held_web: SharedWeb, tmp_path: Path
) -> None:
    running = Running(tmp_path, held_web)
    running.process.send_signal(number)
    status, log = running.end()

    assert status == 0, log
    assert not is_crawling(tmp_path)
    assert states(tmp_path)["leased"] == 0
    again = crawled(tmp_path, held_web)
    assert again.documents() == held_web.urls, again.log
    assert sorted(held_web.asked) == sorted(held_web.urls), "a URL was fetched twice"


@pytest.mark.slow
def test_when_the_first_is_killed_the_others_end_and_nothing_is_lost(
    held_web: SharedWeb, tmp_path: Path
) -> None:
    running = Running(tmp_path, held_web)
    running.process.kill()
    held_web.release.set()

    until(lambda: not is_crawling(tmp_path), "the end of the others")
    assert running.process.communicate()[1].count("Spider closed (first_agent_ended)") == 1
    assert crawled(tmp_path, held_web).documents() == held_web.urls


@pytest.mark.slow
def test_when_another_is_killed_the_rest_finish_its_work_and_the_status_says_so(
    held_web: SharedWeb, tmp_path: Path
) -> None:
    running = Running(tmp_path, held_web)
    running.kill_second()
    status, log = running.end()

    assert status == 1
    assert log.splitlines()[-1].startswith("error: agent 2 was killed by SIGKILL")
    assert Crawled(tmp_path, status, log).documents() == held_web.urls


# ---- the tally


@given(rows=st.integers(1, 9), now=st.floats(0, 1e9))
def test_where_all_is_nearly_promised_each_process_has_its_turn(rows: int, now: float) -> None:
    tally = Tally(rows)

    def turns(second: int) -> list[int]:
        found = []
        for row in range(rows):
            tally.row = row
            found += [row] if tally.has_turn(now + second) else []
        return found

    assert sorted(row for second in range(rows) for row in turns(second)) == list(range(rows))
    assert len(turns(0)) == 1


def test_what_one_process_promises_the_others_know_and_a_killed_one_holds_nothing_up() -> None:
    tally = Tally(2)
    process = os.fork()
    if not process:
        tally.row = 1
        tally.add("documents", 3)
        tally.promise(4)
        with tally.locked():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)

    tally.add("documents", 1)
    with tally.locked():
        assert (tally.total("documents"), tally.total("promised")) == (4, 4)
    tally.forget_promise(1)
    assert tally.total("promised") == 0
