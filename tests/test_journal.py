"""The journal of a real-time search: any process may look on and ask for the end; the dead are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from live import journal as made

from webcrawler.errors import BadInput
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal, Writer


def entry(job: str, started: float = 1.0, state: str = "running") -> Journal:
    return made(job, started=started, updated=started, state=state)


def put(folder: Path, name: str, content: object) -> Path:
    """A file of journals, as another process or version may have left it."""
    (folder / "realtime").mkdir(exist_ok=True)
    file = folder / "realtime" / name
    file.write_text(json.dumps(content))
    return file


def finish(folder: Path, job: str, started: float = 1.0) -> None:
    writer = Writer(folder, job)
    writer.write(entry(job, started, "finished"))
    writer.close()


def test_what_is_written_is_what_others_read(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")

    writer.write(entry("one"))

    assert journal.read(tmp_path, "one") == entry("one")
    assert journal.is_alive(tmp_path, "one")


def test_a_stop_is_asked_for_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path, "one")
    assert not writer.is_stopped()

    journal.stop(tmp_path, "one")

    assert writer.is_stopped()
    writer.close()
    assert not Writer(tmp_path, "one").is_stopped()


@pytest.mark.parametrize(("is_earlier", "obeyed"), [(True, False), (False, True)])
def test_a_stop_before_the_run_is_obeyed_if_it_is_not_of_an_earlier_run_of_that_name(
    tmp_path: Path, is_earlier: bool, obeyed: bool
) -> None:
    journal.stop(tmp_path, "one")
    if is_earlier:
        put(tmp_path, "one.json", entry("one"))

    assert Writer(tmp_path, "one").is_stopped() is obeyed


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
    put(tmp_path, "one.json", entry("one"))

    found = journal.read(tmp_path, "one")

    assert found and (found["state"], found["reason"]) == ("finished", "failed")


def test_the_newest_comes_first_and_old_ones_are_forgotten(tmp_path: Path) -> None:
    for n in range(journal.KEPT + 3):
        finish(tmp_path, f"job{n}", started=float(n))

    assert [one["job"] for one in journal.jobs(tmp_path)] == [
        f"job{n}" for n in range(journal.KEPT + 2, 2, -1)
    ]


def test_of_forgotten_runs_nothing_stays_though_they_were_killed(tmp_path: Path) -> None:
    for n in range(journal.KEPT + 1):
        Writer(tmp_path, f"job{n}").write(entry(f"job{n}", started=float(n), state="finished"))
    for suffix in ("stop", "new", "log"):
        (tmp_path / "realtime" / f"job0.{suffix}").touch()

    Writer(tmp_path, "last").close()

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
        finish(tmp_path, f"job{n}")

    assert journal.read(tmp_path, "oldest") == entry("oldest", started=0.0)


@pytest.mark.parametrize("text", ['{"job": "to', "[]", "{}"])
def test_a_file_that_is_no_journal_is_none(tmp_path: Path, text: str) -> None:
    put(tmp_path, "torn.json", None).write_text(text)

    assert journal.read(tmp_path, "torn") is None
    assert journal.jobs(tmp_path) == []


def test_a_file_that_no_run_can_have_the_name_of_is_left_alone(tmp_path: Path) -> None:
    odd = put(tmp_path, "odd name.json", entry("odd name"))

    finish(tmp_path, "one")

    assert [one["job"] for one in journal.jobs(tmp_path)] == ["one"]
    assert odd.exists()


@pytest.mark.parametrize("name", ["", "../one", "a/b", ".hidden", "a" * 101, "quo\x00ka", "Ä"])
def test_a_name_must_be_one_of_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="is not valid"):
        journal.read(tmp_path, name)
