"""Processes beside the crawls: each holds its lock for life, so locks tell whether anybody is at work."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_watch import companion
from waiting import at_rest, holder

from webcrawler.background import hold_crawl
from webcrawler.errors import Unavailable

WAITS = "open(arguments[0] + '/gate').read()"  # at a pipe, until somebody opens it
WORKS = """
    from pathlib import Path
    from webcrawler.background import Companion
    with Companion("made", "").at_work(Path(arguments[0])) as may_end:
        assert may_end(lambda: True)
"""


def test_companion_has_its_lock_before_it_begins_to_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "gate")
    made = companion(tmp_path, monkeypatch, WAITS)

    process = made.ensure_started(tmp_path)
    assert process is not None
    assert made.lock(tmp_path) is None
    assert made.ensure_started(tmp_path) is None

    (tmp_path / "gate").write_text("")
    assert process.wait() == 0
    with made.lock(tmp_path) or pytest.fail("somebody holds it"):
        pass


def test_companion_works_with_the_lock_that_was_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = companion(tmp_path, monkeypatch, WORKS)

    process = made.ensure_started(tmp_path)

    assert process is not None and process.wait() == 0, (tmp_path / "made.log").read_text()
    assert holder(tmp_path, made) == process.pid


def test_no_crawl_begins_before_a_companion_that_is_done_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = companion(tmp_path, monkeypatch, "")
    with made.at_work(tmp_path) as may_end:
        assert may_end is not None
        with hold_crawl(tmp_path):
            assert not may_end(lambda: True)
        assert not may_end(lambda: False)
        hold_crawl(tmp_path).close()

        assert may_end(lambda: True)
        with pytest.raises(Unavailable):
            hold_crawl(tmp_path, patience_seconds=0)

    hold_crawl(tmp_path, patience_seconds=0).close()


def test_at_rest_waits_for_crawls_and_for_companions_that_have_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "gate")
    made = companion(tmp_path, monkeypatch, WAITS)._replace(name="ranks")
    with ThreadPoolExecutor(1) as beside:
        with hold_crawl(tmp_path):
            then = beside.submit(lambda: made.lock(at_rest(tmp_path)))
            process = made.ensure_started(tmp_path)
        (tmp_path / "gate").write_text("")

    with then.result() or pytest.fail("it did not wait"):
        assert process is not None and process.wait() == 0
