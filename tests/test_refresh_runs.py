"""What a run with `refresh=` shares with others of its frontier, and what it says while it waits."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from conftest import MakeFrontier

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.connection import Connection
from webcrawler.crawl.run import lost, refuse_other_checks
from webcrawler.errors import BadInput
from webcrawler.refresh import Checking
from webcrawler.settings import SETTINGS


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


def test_a_redis_that_stays_away_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "RANKS_RETRY_SECONDS", 0.0)
    settings = {name: setting.default for name, setting in SETTINGS.items()} | {"CRAWL_DIR": str(tmp_path)}
    warnings = []
    with (
        closing(Catalog(tmp_path / "catalog.sqlite")) as catalog,
        closing(Checking(catalog, tmp_path, settings)) as checking,
    ):
        for _ in range(4):
            checking.step(crawling=True)
            warnings.append(len(caplog.records))

    assert warnings == [0, 1, 1, 1]
