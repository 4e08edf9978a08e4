"""Processes beside a crawl are started again when they end, and one that cannot work is said to fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from waiting import PATIENCE_SECONDS, until

from webcrawler import pace
from webcrawler.background import Companion
from webcrawler.crawl.run import watch
from webcrawler.crawl.run.watch import Watch


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "WATCH_SECONDS", 0.05)


def companion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, main: str) -> Companion:
    """One whose `main(arguments)` is this; it appends to the file `starts`."""
    lines = ("def main(arguments):", "    open(arguments[0] + '/starts', 'a').write('.')", f"    {main}")
    (tmp_path / "made_for_a_test.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    return Companion("made", "made_for_a_test")


@pytest.mark.slow
def test_a_process_that_fails_three_times_in_a_row_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = companion(tmp_path, monkeypatch, "raise OSError('the disk is on fire')")
    failing, reported = [], threading.Event()

    def fail(which: Companion) -> None:
        failing.append(which)
        reported.set()

    watched = Watch(tmp_path, {broken: b""}, [broken], fail)
    assert reported.wait(PATIENCE_SECONDS)
    starts = len((tmp_path / "starts").read_text())
    until(lambda: len((tmp_path / "starts").read_text()) >= starts + 2, "more starts")
    watched.close()

    assert failing == [broken]
    assert "the process made fails again and again" in caplog.text
    assert (tmp_path / "made.log").read_text().count("the disk is on fire") >= watch.FAILURES


def test_a_process_that_ends_well_is_started_again_and_is_not_said_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief = companion(tmp_path, monkeypatch, "return 0")
    failing: list[Companion] = []

    watched = Watch(tmp_path, {brief: b""}, [brief], failing.append)
    starts = tmp_path / "starts"
    until(lambda: starts.exists() and len(starts.read_text()) > watch.FAILURES, "many starts")
    watched.close()

    assert failing == []
