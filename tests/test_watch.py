"""Views are derived again when their process ends, and one that cannot work is said to fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from crawled import crawled, fetched
from waiting import PATIENCE_SECONDS, until

from webcrawler import background, clock
from webcrawler.background import Views
from webcrawler.crawl.run import watch
from webcrawler.crawl.run.watch import Watch


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "WATCH_SECONDS", 0.05)


def derived_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, main: str) -> Views:
    """Views by a process whose `main(arguments)` is this; it appends to the file `starts`."""
    lines = ("def main(arguments):", "    open(arguments[0] + '/starts', 'a').write('.')", f"    {main}")
    (tmp_path / "made_for_a_test.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(background, "RUN", background.RUN.replace("webcrawler.views", "made_for_a_test"))
    return Views(tmp_path)


@pytest.mark.slow
def test_a_process_that_fails_three_times_in_a_row_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    crawled(tmp_path, fetched("http://a.test/"))
    derived_by(tmp_path, monkeypatch, "raise OSError('the disk is on fire')")
    failing, reported = [], threading.Event()

    def fail() -> None:
        failing.append("views")
        reported.set()

    watched = Watch(tmp_path, b"", False, fail)
    assert reported.wait(PATIENCE_SECONDS)
    starts = len((tmp_path / "starts").read_text())
    until(lambda: len((tmp_path / "starts").read_text()) >= starts + 2, "more starts")
    watched.close()

    assert failing == ["views"]
    assert "the process that derives views fails again and again" in caplog.text
    assert (tmp_path / "views.log").read_text().count("the disk is on fire") >= watch.FAILURES


def test_a_process_that_ends_well_is_started_again_and_is_not_said_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawled(tmp_path, fetched("http://a.test/"))
    derived_by(tmp_path, monkeypatch, "return 0")
    failing: list[str] = []

    watched = Watch(tmp_path, b"", False, lambda: failing.append("views"))
    starts = tmp_path / "starts"
    until(lambda: starts.exists() and len(starts.read_text()) > watch.FAILURES, "many starts")
    watched.close()

    assert failing == []
