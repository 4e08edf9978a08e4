"""What processes count and time, and who reads it."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import until

from webcrawler import metrics
from webcrawler.metrics import COUNTERS, GAUGES, HISTOGRAMS, SHORT, Recorder, read


def kept(crawl_dir: Path, *fetches: str, kind: str = metrics.CRAWL) -> None:
    recorder = Recorder()
    with recorder.keep(crawl_dir, kind):
        for outcome in fetches:
            recorder.count("fetches", label=outcome)


def test_counts_go_on_from_one_run_to_the_next(tmp_path: Path) -> None:
    kept(tmp_path, "done/document", "done/document")
    kept(tmp_path, "done/document", "failed/timeout")

    assert read(tmp_path).counts["fetches"] == Counter({"done/document": 3, "failed/timeout": 1})
    assert [path.name for path in (tmp_path / "metrics").glob("*.json")] == ["crawl-1.json"]


def test_processes_at_a_time_have_files_of_their_own_which_are_summed(tmp_path: Path) -> None:
    one, other = Recorder(), Recorder()
    one.gauges = other.gauges = lambda: {"downloads": 3, "delay_seconds": 2.0}
    with one.keep(tmp_path, "crawl"), other.keep(tmp_path, "crawl"):
        one.count("batch_entries", 5)
        other.count("batch_entries", 7)
        until(lambda: read(tmp_path).counts["batch_entries"][""] == 12, "both to write")
        found = read(tmp_path).gauges

    assert found == {"downloads": 6, "delay_seconds": 2.0}  # a setting is not summed


def test_gauges_are_of_those_that_are_alive(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.gauges = lambda: {"downloads": 3}
    with recorder.keep(tmp_path, "crawl"):
        until(lambda: read(tmp_path).gauges == {"downloads": 3}, "it to write")

    assert read(tmp_path).gauges == {}


def hold(crawl_dir: Path) -> None:
    recorder = Recorder()
    with recorder.keep(crawl_dir, "crawl"):
        recorder.count("fetches", label="done/document")
        signal.pause()


def test_process_that_is_killed_leaves_what_it_had_written(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=hold, args=(tmp_path,))
    process.start()
    until(lambda: read(tmp_path).counts["fetches"].total() == 1, "it to write")
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join()

    kept(tmp_path, "done/document")

    assert read(tmp_path).counts["fetches"].total() == 2


def test_limit_at_which_a_crawl_ended_is_known_until_the_next_begins(tmp_path: Path) -> None:
    for kind, reason in (("crawl", "max_pages"), ("search", "max_time"), ("follower", "")):
        recorder = Recorder()
        with recorder.keep(tmp_path, kind):
            recorder.end(reason)
    assert read(tmp_path).ended == "max_pages"

    recorder = Recorder()
    with recorder.keep(tmp_path, "crawl"):
        recorder.end("shutdown")  # somebody has ended it: no limit
    assert read(tmp_path).ended == ""


@pytest.mark.parametrize("text", ["", "{", "null", '{"counts": 3}', '{"counts": {}, "timed": {"x": 1}}'])
def test_file_that_cannot_be_read_costs_its_figures_alone(tmp_path: Path, text: str) -> None:
    kept(tmp_path, "done/document")
    (tmp_path / "metrics/crawl-2.json").write_text(text)

    assert read(tmp_path).counts["fetches"].total() == 1


def test_folder_that_cannot_be_written_costs_no_process(tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("in the way")

    kept(tmp_path, "done/document")

    assert read(tmp_path).counts["fetches"].total() == 0


def test_folders_that_are_searched_together_are_summed(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        kept(tmp_path / name, "done/document")

    assert read(tmp_path / "a", tmp_path / "b").counts["fetches"].total() == 2


@given(st.lists(st.floats(0, 100)))
def test_each_time_is_in_the_first_bin_that_it_fits_into(seconds: list[float]) -> None:
    timed = metrics.Timed(HISTOGRAMS["parse_seconds"])
    for one in seconds:
        timed.add(one)

    edges = pairwise([-1.0, *SHORT, float("inf")])
    assert timed.bins == [sum(low < one <= high for one in seconds) for low, high in edges]


def test_bins_of_another_version_are_left_out(tmp_path: Path) -> None:
    kept(tmp_path)
    path = tmp_path / "metrics/crawl-1.json"
    old = {"parse_seconds": {"bins": [1, 2], "sum": 3.0}, "gone_seconds": {"bins": [1], "sum": 1.0}}
    path.write_text(json.dumps({"counts": {"gone": {"": 1}}, "timed": old, "gauges": {}, "ended": ""}))

    assert sum(read(tmp_path).timed["parse_seconds"].bins) == 0


def test_no_name_is_two_kinds() -> None:
    names = [*COUNTERS, *GAUGES, *HISTOGRAMS]

    assert len(names) == len(set(names))
