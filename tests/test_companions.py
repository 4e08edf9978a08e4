"""The process beside the crawls holds its lock for life, so locks tell whether anybody is at work."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_watch import derived_by
from waiting import at_rest, holder

from webcrawler.background import Views, hold_crawl
from webcrawler.errors import Unavailable

WAITS = "open(arguments[0] + '/gate').read()"  # at a pipe, until somebody opens it
WORKS = """
    from pathlib import Path
    from webcrawler.background import Views
    with Views(Path(arguments[0])).at_work() as may_end:
        assert may_end(lambda: True)
"""


def test_it_has_its_lock_before_it_begins_to_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "gate")
    made = derived_by(tmp_path, monkeypatch, WAITS)

    process = made.ensure_started()
    assert process is not None
    assert made.lock() is None
    assert made.ensure_started() is None

    (tmp_path / "gate").write_text("")
    assert process.wait() == 0
    with made.lock() or pytest.fail("somebody holds it"):
        pass


def test_it_works_with_the_lock_that_was_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = derived_by(tmp_path, monkeypatch, WORKS).ensure_started()

    assert process is not None and process.wait() == 0, (tmp_path / "views.log").read_text()
    assert holder(tmp_path) == process.pid


def test_one_that_is_started_anew_takes_the_place_of_one_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = derived_by(tmp_path, monkeypatch, f"{WORKS}        import time; time.sleep(240)")
    first = made.ensure_started()

    second = made.start_anew(b"{}")

    assert first is not None and first.wait() != 0
    assert made.is_at_work() and second.poll() is None
    second.kill()
    second.wait()


def test_no_crawl_begins_before_one_that_is_done_has_ended(tmp_path: Path) -> None:
    with Views(tmp_path).at_work() as may_end:
        assert may_end is not None
        with hold_crawl(tmp_path):
            assert not may_end(lambda: True)
        assert not may_end(lambda: False)
        hold_crawl(tmp_path).close()

        assert may_end(lambda: True)
        with pytest.raises(Unavailable):
            hold_crawl(tmp_path, patience_seconds=0)

    hold_crawl(tmp_path, patience_seconds=0).close()


def test_at_rest_waits_for_crawls_and_for_views_that_have_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "gate")
    made = derived_by(tmp_path, monkeypatch, WAITS)
    with ThreadPoolExecutor(1) as beside:
        with hold_crawl(tmp_path):
            then = beside.submit(lambda: Views(at_rest(tmp_path)).lock())
            process = made.ensure_started()
        (tmp_path / "gate").write_text("")

    with then.result() or pytest.fail("it did not wait"):
        assert process is not None and process.wait() == 0
