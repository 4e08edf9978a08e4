"""What processes count and time, and who reads it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from math import nan
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from prometheus_client import Gauge
from waiting import until

from webcrawler import metrics


def counted(crawl_dir: Path) -> dict[tuple[str, ...], float]:
    """All counts that are not zero, by sample and values of labels."""
    samples = [sample for family in metrics.families(crawl_dir) for sample in family.samples]
    return {
        (one.name.removeprefix("webcrawler_"), *one.labels.values()): one.value
        for one in samples
        if one.value
    }


def kept(crawl_dir: Path, *fetches: str) -> None:
    with metrics.kept(crawl_dir):
        for outcome in fetches:
            metrics.fetches.labels(outcome).inc()


@pytest.fixture(autouse=True)
def unset() -> None:
    """Nothing is known of this process, in which crawls of other tests have been."""
    for figure in vars(metrics).values():
        if isinstance(figure, Gauge):
            vars(figure).pop("_child_samples", None)  # what `set_function` has left
            figure.set(nan)


@pytest.fixture
def downloads() -> Iterator[None]:
    """This process says what it does."""
    metrics.downloads.set(3)
    metrics.delay_seconds.set(2)
    yield
    metrics.downloads.set(nan)
    metrics.delay_seconds.set(nan)


def work(crawl_dir: Path) -> None:
    """In a process of its own, until it is killed."""
    metrics.downloads.set(3)
    metrics.delay_seconds.set(2)
    with metrics.kept(crawl_dir):
        metrics.batch_entries.inc(5)
        signal.pause()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[BaseProcess]:
    """Another process that counts."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(tmp_path,))
    process.start()
    until(lambda: ("batch_entries_total",) in counted(tmp_path), "it to write")
    yield process
    process.kill()
    process.join()


def test_counts_go_on_from_one_run_to_the_next(tmp_path: Path) -> None:
    kept(tmp_path, "done/document", "done/document")
    kept(tmp_path, "done/document", "failed/timeout")

    assert counted(tmp_path) == {
        ("fetches_total", "done/document"): 3,
        ("fetches_total", "failed/timeout"): 1,
    }


def test_what_processes_count_at_a_time_is_summed(tmp_path: Path, other: object, downloads: None) -> None:
    with metrics.kept(tmp_path):
        metrics.batch_entries.inc(7)
        until(lambda: counted(tmp_path)[("batch_entries_total",)] == 12, "both to write")
        found = metrics.gauges(tmp_path)

    assert found == {"downloads": 6, "delay_seconds": 2}  # a setting is not summed


def test_gauges_are_of_those_that_are_alive(tmp_path: Path, downloads: None) -> None:
    with metrics.kept(tmp_path):
        until(lambda: metrics.gauges(tmp_path) == {"downloads": 3, "delay_seconds": 2}, "it to write")

    assert metrics.gauges(tmp_path) == {}


def test_process_that_is_killed_leaves_its_counts_and_for_ten_seconds_its_gauges(
    tmp_path: Path, other: multiprocessing.Process
) -> None:
    assert other.pid
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    kept(tmp_path, "done/document")
    before = metrics.gauges(tmp_path)
    with closing(sqlite3.connect(tmp_path / "metrics/counts.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE figures SET written = written - 10.0 / 86400")
        after = metrics.gauges(tmp_path)
        kept(tmp_path)
        (rows,) = db.execute("SELECT count(*) FROM figures WHERE written").fetchone()

    assert counted(tmp_path) == {("batch_entries_total",): 5, ("fetches_total", "done/document"): 1}
    assert (before, after, rows) == ({"downloads": 3, "delay_seconds": 2}, {}, 0)


def die_writing(path: Path) -> None:
    """In a process of its own."""
    db = sqlite3.connect(path)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA cache_size = 1; BEGIN IMMEDIATE")
    db.execute("UPDATE figures SET value = value + 1000, labels = labels || hex(zeroblob(1000))")
    os._exit(9)


def test_process_that_is_killed_while_it_writes_leaves_what_was_there(tmp_path: Path) -> None:
    kept(tmp_path, "done/document")
    path = tmp_path / "metrics/counts.sqlite"
    process = multiprocessing.get_context("spawn").Process(target=die_writing, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 9 and path.with_name("counts.sqlite-journal").stat().st_size

    assert counted(tmp_path) == {("fetches_total", "done/document"): 1}


def test_what_is_timed_goes_through_the_file_unchanged(tmp_path: Path) -> None:
    with metrics.kept(tmp_path):
        for seconds in (0.0005, 0.3, 100.0):
            metrics.parse_seconds.observe(seconds)
    found = counted(tmp_path)

    assert found["parse_seconds_sum",] == pytest.approx(100.3005)
    assert found["parse_seconds_count",] == found["parse_seconds_bucket", "+Inf"] == 3
    assert found["parse_seconds_bucket", "0.25"] == 1
    assert found["parse_seconds_bucket", "0.5"] == found["parse_seconds_bucket", "10.0"] == 2


@pytest.mark.parametrize("text", ["", "{", "SQLite format 3\0" + "x" * 5_000])
def test_file_that_is_damaged_is_made_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics/counts.sqlite").write_text(text)
    assert counted(tmp_path) == {}

    with metrics.kept(tmp_path):
        metrics.batch_entries.inc()
        until(lambda: counted(tmp_path) == {("batch_entries_total",): 1}, "it to write")


def test_file_that_another_process_writes_gets_the_counts_later(tmp_path: Path) -> None:
    kept(tmp_path)
    with (
        closing(sqlite3.connect(tmp_path / "metrics/counts.sqlite", isolation_level=None)) as db,
        metrics.kept(tmp_path),
    ):
        db.execute("BEGIN IMMEDIATE")
        metrics.batch_entries.inc()
        time.sleep(1.5)
        db.execute("ROLLBACK")

    assert counted(tmp_path) == {("batch_entries_total",): 1}


def test_folder_that_cannot_be_written_costs_no_process(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("in the way")

    kept(tmp_path, "done/document")

    assert counted(tmp_path) == {}
