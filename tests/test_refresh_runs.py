"""What a run with `refresh=` shares with others of its frontier, and what it says while it waits."""

from __future__ import annotations

import re

import pytest
from conftest import MakeFrontier
from frontiers import fail, fetch, lease_one, links, now_ms

from webcrawler.connection import Connection
from webcrawler.crawl.run import lost, refuse_other_checks
from webcrawler.crawl.run.lost import Waits
from webcrawler.errors import BadInput
from webcrawler.frontier import inspect


@pytest.mark.parametrize(
    ("now", "wanted"), [("yes", "once"), ("yes", "only"), ("only", "yes"), ("once 1790000000.0", "yes")]
)
def test_checks_of_two_kinds_at_a_time_are_refused_in_one_line(
    connection: Connection, make_frontier: MakeFrontier, now: str, wanted: str
) -> None:
    frontier = make_frontier()
    frontier.expire(alive_seconds=60)
    frontier.refresh = now

    kind = now.partition(" ")[0]
    with pytest.raises(BadInput, match=rf"with refresh={kind}: end them first, or say refresh={kind} here"):
        refuse_other_checks(connection, frontier, wanted)
    refuse_other_checks(connection, frontier, kind)
    refuse_other_checks(connection, frontier, "no")


def test_what_a_crawl_that_is_over_has_left_refuses_nobody(
    connection: Connection, make_frontier: MakeFrontier
) -> None:
    frontier = make_frontier()
    frontier.refresh = "yes"

    refuse_other_checks(connection, frontier, "once")

    lost.begin_checks(frontier, "once", left=lambda since: 0)
    assert frontier.refresh.startswith("once ")


def test_checks_without_end_are_over_with_the_last_crawl_that_makes_them(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier()
    frontier.refresh = "yes"
    frontier.expire(alive_seconds=60)  # another one

    lost.end_checks(frontier)
    assert frontier.refresh == "yes"

    frontier.leave()
    lost.end_checks(frontier)
    assert frontier.refresh == ""


def test_a_run_says_once_a_minute_which_servers_it_waits_for(
    make_frontier: MakeFrontier, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost, "IDLE_SECONDS", 0.0)
    frontier = make_frontier(backoff=40.0)
    frontier.discover(links("http://dead.test/1", "http://dead.test/2", "http://down.test/"))
    for _ in range(3):
        fail(frontier, lease_one(frontier))
    waits = Waits(frontier)

    waits.note(is_idle=True)
    waits.note(is_idle=True)

    servers = r"http://dead.test \(2 URLs, next in \d+ s\), http://down.test \(1 URL, next in \d+ s\)"
    (told,) = caplog.messages
    assert re.fullmatch(rf"waiting for retries of {servers}", told)

    monkeypatch.setattr(lost, "TELL_SECONDS", 0.0)
    waits.note(is_idle=True)
    assert len(caplog.messages) == 2


def test_a_run_that_has_something_to_do_or_has_had_until_now_says_nothing(
    make_frontier: MakeFrontier, caplog: pytest.LogCaptureFixture
) -> None:
    frontier = make_frontier()
    frontier.discover(links("http://dead.test/1"))
    fail(frontier, lease_one(frontier))
    waits = Waits(frontier)

    waits.note(is_idle=False)
    waits.note(is_idle=True)

    assert caplog.messages == []


def test_a_pause_that_a_server_asks_for_is_no_failure(make_frontier: MakeFrontier) -> None:
    frontier = make_frontier(delay=30.0)
    frontier.discover(links("http://polite.test/1", "http://polite.test/2"))
    fetch(frontier, lease_one(frontier))

    assert inspect.failing(frontier) == []


def test_a_server_that_is_spared_after_failures_is_named_with_all_that_waits(
    make_frontier: MakeFrontier,
) -> None:
    frontier = make_frontier(backoff=40.0)
    frontier.discover(links(*[f"http://busy.test/{n}" for n in range(3)]))
    began = now_ms(frontier)
    fetch(frontier, lease_one(frontier), slow_down=True)

    (found,) = inspect.failing(frontier)

    assert (found.server, found.urls) == ("http://busy.test", 2)
    assert found.due_seconds <= 60
    assert found.due_seconds + (now_ms(frontier) - began) / 1000 >= 20
