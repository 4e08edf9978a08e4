"""Several starts at the same moment: one after the other decides what the folder is, and acts on it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from conftest import MakeFrontier
from inprocess import command
from localweb import Crawled, crawl, page, scrapy, sites

from webcrawler import background
from webcrawler.background import hold_start, try_lock
from webcrawler.connection import connect
from webcrawler.crawl.run import seeds as demo
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, ordering
from webcrawler.job import Job
from webcrawler.realtime.job import RealtimeJob
from webcrawler.scope import Begun

DEMO = "the demo web is being crawled in this folder"
WEB = {"/": page("/1"), "/1": page("/2"), "/2": page()}


def test_nobody_else_begins_until_the_seeds_are_in_the_frontier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    discover = Frontier.discover

    def see(self: Frontier, *arguments: object, **options: object) -> int:
        if not held:
            held.append(try_lock(tmp_path / "starts.lock") is None)
        return discover(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Frontier, "discover", see)
    with sites(web=WEB) as opened:
        crawled = crawl(tmp_path, f"{opened['web'].url}/")

    assert crawled.status == 0, crawled.log
    assert held == [True] and try_lock(tmp_path / "starts.lock")


def test_where_somebody_is_about_to_enter_seeds_no_demo_web_is_crawled(
    tmp_path: Path, make_frontier: MakeFrontier
) -> None:
    Begun("breadth").keep(tmp_path)

    assert demo.serve_demo(tmp_path, Job(), make_frontier()) is None


@pytest.mark.parametrize("words", [("crawl",), ("frontier", "clear"), ("frontier", "rebuild")], ids=" ".join)
def test_who_waits_for_another_start_in_vain_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(background, "START_PATIENCE_SECONDS", 0.0)

    with hold_start(tmp_path):
        answered = command(*words, folder=tmp_path)

    assert answered.status != 0
    assert answered.err == (
        f"error: another crawl that begins, or `webcrawler frontier rebuild`, is at work in {tmp_path}\n"
    )


def test_seeds_beside_the_demo_web_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / demo.PORTS).touch()
    with connect(None, tmp_path) as connection:
        frontier = Frontier(connection.client, ordering("breadth"), worker="another")
        frontier.open("breadth")
        frontier.expire(alive_seconds=60)
        refused = crawl(tmp_path, "http://a.test/")

    assert refused.status == 2
    assert refused.log == f"error: {DEMO}: wait, or set CRAWL_DIR\n"


def test_a_search_with_seeds_leaves_the_demo_web_as_it_is(
    tmp_path: Path, make_frontier: MakeFrontier
) -> None:
    frontier = make_frontier()
    (tmp_path / demo.PORTS).touch()
    frontier.expire(alive_seconds=60)

    demo.claim(tmp_path, RealtimeJob(seeds=("http://a.test/",)), frontier)
    with pytest.raises(BadInput, match=DEMO):
        demo.claim(tmp_path, Job(seeds=("http://a.test/",)), frontier)
    frontier.leave()
    demo.claim(tmp_path, Job(seeds=("http://a.test/",)), frontier)

    assert not (tmp_path / demo.PORTS).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("starts", "gap_seconds"), [(("seeds", ""), 0.0), (("", "seeds"), 0.3), (("", "seeds", "", "seeds"), 0.0)]
)
def test_starts_at_once_in_a_new_folder_crawl_the_seeds_or_are_refused(
    tmp_path: Path, starts: tuple[str, ...], gap_seconds: float
) -> None:
    settings = {"ADDRESSES_ALLOWED": "127.0.0.0/8", "FRONTIER_DELAY": "0.1", "PARSER_WORKERS": "1"}
    with sites(a=WEB, b=WEB, c=WEB) as opened:
        seeds = [f"{site.url}/" for site in opened.values()]
        everywhere = {f"{seed}{path}" for seed in seeds for path in ("", "1", "2")}
        begun = []
        for start in starts:
            begun.append(scrapy("crawl", *(seeds if start else ()), folder=tmp_path, **settings))
            threading.Event().wait(gap_seconds)  # it is what people do, not what is waited for
        logs = [one.communicate(timeout=240)[1] for one in begun]
        found = Crawled(tmp_path, 0, "").documents()

    # On a machine with much else to do, seeds may come when the demo web is crawled already.
    is_demo = not found & everywhere
    refused = [is_demo and start == "seeds" for start in starts]
    assert [one.returncode != 0 for one in begun] == refused, logs
    assert all(DEMO in log for log, one in zip(logs, refused, strict=True) if one)
    assert is_demo or found == everywhere
