"""The journal of a real-time search: any process may look on and ask for the end; the dead are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal, Writer


def entry(job: str, started: float = 1.0, state: str = "running") -> Journal:
    return Journal(
        job=job, agent="host-1", query="quokka", strategy="adaptive", state=state, reason="",
        started=started, updated=started, seconds=0.0,
        fetched=0, similar=0, enough=20, waiting=0, note="", keep="similar", kept=0, reported=False,
        hits=[],
    )  # fmt: skip


def test_what_is_written_is_what_others_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")

    writer.write(entry("one"))

    assert journal.read(tmp_path, "one") == entry("one")
    assert journal.is_alive(tmp_path, "one")


def test_a_journal_of_an_older_version_says_that_all_was_kept(tmp_path: Path) -> None:
    found = {"rank": 1, "url": "http://a.test/", "source": "web"}
    older = entry("one", state="finished") | {"fetched": 3, "hits": [found]}
    kept = {name: value for name, value in older.items() if name not in ("agent", "keep", "kept")}
    (tmp_path / "realtime").mkdir()
    (tmp_path / "realtime" / "one.json").write_text(json.dumps(kept))

    assert journal.read(tmp_path, "one") == older | {
        "agent": "",
        "keep": "yes",
        "kept": 3,
        "hits": [found | {"kept": True}],
    }


def test_a_stop_is_asked_for_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")
    assert not writer.is_stopped()

    journal.stop(tmp_path, "one")

    assert writer.is_stopped()
    writer.close()
    assert not Writer(tmp_path, "one").is_stopped()


def test_a_stop_that_comes_before_the_run_is_obeyed(tmp_path: Path) -> None:
    journal.stop(tmp_path, "one")

    assert Writer(tmp_path, "one").is_stopped()


def test_a_stop_of_an_earlier_run_of_that_name_is_not(tmp_path: Path) -> None:
    journal.stop(tmp_path, "one")
    (tmp_path / "realtime" / "one.json").write_text(json.dumps(entry("one")))

    assert not Writer(tmp_path, "one").is_stopped()


def test_two_searches_cannot_have_one_name(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")

    with pytest.raises(BadInput, match="job=one is going on"):
        Writer(tmp_path, "one")

    writer.close()
    Writer(tmp_path, "one").close()


def test_a_search_whose_process_was_killed_is_known_to_have_failed(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from webcrawler.realtime.journal import Writer;"
        "writer = Writer(Path(sys.argv[1]), 'one'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    (tmp_path / "realtime" / "one.json").write_text(json.dumps(entry("one")))

    found = journal.read(tmp_path, "one")

    assert found is not None
    assert (found["state"], found["reason"]) == ("finished", "failed")


def test_the_newest_comes_first_and_old_ones_are_forgotten(tmp_path: Path) -> None:
    for n in range(journal.KEPT + 3):
        writer = Writer(tmp_path, f"job{n}")
        writer.write(entry(f"job{n}", started=float(n), state="finished"))
        writer.close()

    found = [one["job"] for one in journal.jobs(tmp_path)]

    assert found == [f"job{n}" for n in range(journal.KEPT + 2, 2, -1)]


def test_of_forgotten_runs_nothing_stays_though_they_were_killed(tmp_path: Path) -> None:
    for n in range(journal.KEPT + 1):
        Writer(tmp_path, f"job{n}").write(entry(f"job{n}", started=float(n), state="finished"))
    for suffix in ("stop", "new", "log"):
        (tmp_path / "realtime" / f"job0.{suffix}").touch()

    writer = Writer(tmp_path, "last")
    writer.close()

    assert list((tmp_path / "realtime").glob("job0.*")) == []


def test_what_is_left_of_a_run_without_a_journal_is_gone_after_a_day(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")
    for name in ("failed.log", "killed.lock", "killed.stop", "young.log"):
        (tmp_path / "realtime" / name).touch()
        if not name.startswith("young"):
            os.utime(tmp_path / "realtime" / name, (0, 0))

    writer.close()

    assert [path.name for path in (tmp_path / "realtime").iterdir()] == ["young.log"]


def test_a_run_that_lives_is_not_forgotten(tmp_path: Path) -> None:
    oldest = Writer(tmp_path, "oldest")
    oldest.write(entry("oldest", started=0.0))
    for n in range(journal.KEPT + 1):
        writer = Writer(tmp_path, f"job{n}")
        writer.write(entry(f"job{n}", state="finished"))
        writer.close()

    assert journal.read(tmp_path, "oldest") == entry("oldest", started=0.0)


@pytest.mark.parametrize("text", ['{"job": "to', "[]", "{}"])
def test_a_file_that_is_no_journal_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "realtime").mkdir()
    (tmp_path / "realtime" / "torn.json").write_text(text)

    assert journal.read(tmp_path, "torn") is None
    assert journal.jobs(tmp_path) == []


def test_a_file_that_no_run_can_have_the_name_of_is_left_alone(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")
    writer.write(entry("one", state="finished"))
    odd = tmp_path / "realtime" / "odd name.json"
    odd.write_text(json.dumps(entry("odd name")))

    writer.close()

    assert [one["job"] for one in journal.jobs(tmp_path)] == ["one"]
    assert odd.exists()


@pytest.mark.parametrize("name", ["", "../one", "a/b", ".hidden", "a" * 101, "quo\x00ka", "Ä"])
def test_a_name_must_be_one_of_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="is not valid"):
        journal.read(tmp_path, name)
