"""What the stages of CI tell, and how they end: with all that is red, also where the end comes early."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from layers import LANES, Stage
from localweb import PROJECT

pytestmark = pytest.mark.slow

XDIST = ("-p", "xdist.plugin", "-n", "1")
PROGRAM = """
import sys
sys.path.insert(0, {ci!r})
from layers import Stage
from stages import main
sys.exit(main(stages={stages}))
"""
RULES = """
import os, pytest
from pathlib import Path

def test_good():
    assert not {"PYTEST_ADDOPTS", "PYTHONPATH"} & {*os.environ}

def test_bad():
    assert "crooked" == "straight"

def test_left_out():
    pytest.skip("nothing to hold")

@pytest.fixture
def broken():
    raise OSError("no room")

def test_on_what_is_broken(broken):
    pass

@pytest.mark.deep
def test_for_another_day():
    assert False
"""
UNSTEADY = """
from pathlib import Path

def test_unsteady():
    again = Path("again").exists()
    Path("again").touch()
    assert again
"""
WAITING = """
def test_bad():
    assert "crooked" == "straight"

def test_that_hangs():
    open("begun", "w").write("")
    with open("held", "w") as held:
        held.write("")
        held.flush()
        open("never").read()
"""


def begin(
    folder: Path, *stages: Stage, given: tuple[str, ...] = (), **variables: str
) -> subprocess.Popen[str]:
    program = PROGRAM.format(ci=str(PROJECT / ".ci"), stages=stages)
    return subprocess.Popen(
        [sys.executable, "-c", program, *given],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "WEBCRAWLER_SEED": ""} | variables,
        stdout=subprocess.PIPE,
        text=True,
    )


def outcome(folder: Path, *stages: Stage, **given: Any) -> tuple[int, str]:
    """The status, and what was told."""
    with begin(folder, *stages, **given) as process:
        told, _ = process.communicate()
    return process.returncode, told


def why(told: str, test: str) -> str:
    """What stands below the name of a red test at the end."""
    [text] = re.findall(rf"(?m)^FAILED {test}\n((?:    .*\n|\n)*)", told)
    return text


def of_tests(name: str, text: str, folder: Path, *options: str) -> Stage:
    (folder / f"test_{name}.py").write_text(text)
    return Stage(name, ("pytest", *options, f"test_{name}.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


@pytest.fixture(scope="module")
def red(folder: Path) -> str:
    """What two stages tell, of which one has tests in processes of their own."""
    style = Stage("style", ("sh", "-c", "echo line 7 is crooked; false"))
    rules = of_tests("rules", RULES, folder, *XDIST)
    status, told = outcome(folder, style, rules)
    assert status == 1
    return told


def test_the_output_of_a_stage_is_in_a_file_and_that_of_a_red_one_on_the_terminal(
    folder: Path, red: str
) -> None:
    written = (folder / "build/ci/style.log").read_text()

    assert written == "line 7 is crooked\n"
    assert "-- style begins\n" in red
    assert f"\n{written}== style: FAILED in 0 s, 1 error\n" in red
    assert "test_left_out" in (folder / "build/ci/rules.xml").read_text()


def test_the_end_names_what_is_red_and_why(red: str) -> None:
    assert "\nFAILED style\n    line 7 is crooked\n" in red
    assert "AssertionError: assert 'crooked' == 'straight'" in why(red, r"test_rules\.py::test_bad \(.*:8\)")
    assert "OSError: no room" in why(red, r"test_rules\.py::test_on_what_is_broken \(.*:18\)")


def test_the_last_line_counts_all_tests_and_stages_that_are_red_without_one(red: str) -> None:
    assert re.search(r"\n2 errors, 1 failed, 1 passed, 1 skipped in [\d.]+s \(\d+:\d\d\)\n$", red)


def test_what_passes_once_more_alone_is_called_unsteady_and_is_red(tmp_path: Path) -> None:
    status, told = outcome(tmp_path, of_tests("unsteady", UNSTEADY, tmp_path))

    assert status == 1
    assert "\nUNSTEADY, red, then passed alone: test_unsteady.py::test_unsteady (" in told
    assert told.splitlines()[-1].startswith("1 failed in ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_who_ends_it_is_told_what_was_red_and_what_was_under_way(
    tmp_path: Path, number: signal.Signals
) -> None:
    for name in ("begun", "held", "never"):
        os.mkfifo(tmp_path / name)
    waiting = of_tests("waiting", WAITING, tmp_path)

    with begin(tmp_path, waiting, Stage("rest", ("true",), phase=4)) as process:
        (tmp_path / "begun").read_text()
        with (tmp_path / "held").open() as held:
            process.send_signal(number)
            held.read()  # until nobody holds it any more
        told, _ = process.communicate()

    assert process.returncode == 1
    assert "assert 'crooked' == " in why(told, r"test_waiting\.py::test_bad \(.*\)")
    assert re.findall(r"\nUNDER WAY (.*)\n", told) == ["test_waiting.py::test_that_hangs (test_waiting.py:5)"]
    assert f"== all stages, ended by {number.name}\n" in told
    assert "\nrest: not run\n" in told
    assert told.splitlines()[-1].startswith("1 failed in ")


def test_it_ends_at_its_time_limit(tmp_path: Path) -> None:
    status, told = outcome(tmp_path, Stage("endless", ("sleep", "1000")), given=("--minutes", "0.001"))

    assert status == 1
    assert "== all stages, ended by the time limit\nendless: ENDED in " in told


@pytest.mark.parametrize("given", [(), ("--all",), ("--deep",)])
def test_a_red_phase_is_the_last_one_unless_all_are_asked_for(tmp_path: Path, given: tuple[str, ...]) -> None:
    status, told = outcome(
        tmp_path, Stage("style", ("false",), phase=1), Stage("rest", ("touch", "ran"), phase=2), given=given
    )

    assert status == 1
    assert (tmp_path / "ran").exists() == bool(given)
    assert ("\nrest: not run\n" in told) == (not given)


def test_two_run_side_by_side_the_longest_first_and_who_needs_all_lanes_alone(tmp_path: Path) -> None:
    needs = {"short": (1, 1), "alone": (LANES, 2), "long": (LANES - 1, 3), "first": (LANES, 4)}
    stages = [Stage(name, ("true",), lanes=lanes, seconds=long) for name, (lanes, long) in needs.items()]

    status, told = outcome(tmp_path, *stages)

    begun_and_over = re.findall(r"(?m)^(?:--|==) (\w+)(?: begins|: passed)", told)
    assert status == 0
    assert begun_and_over[:4] == ["first", "first", "long", "short"]
    assert {*begun_and_over[4:6]} == {"long", "short"}
    assert begun_and_over[6:] == ["alone", "alone"]


def test_stages_that_are_asked_for_run_alone_and_have_to_be_there(tmp_path: Path) -> None:
    stages = (Stage("one", ("touch", "one")), Stage("other", ("touch", "other")))

    assert outcome(tmp_path, *stages, given=("one",))[0] == 0
    assert outcome(tmp_path, *stages, given=("one", "nobody"))[0] == 2
    assert {path.name for path in tmp_path.iterdir()} == {"build", "one"}


def test_what_is_deep_runs_there_alone(tmp_path: Path) -> None:
    stages = (Stage("plain", ("touch", "plain")), Stage("deep", ("touch", "deep"), deep=True))

    outcome(tmp_path, *stages)
    assert {path.name for path in tmp_path.iterdir()} == {"build", "plain"}

    outcome(tmp_path, *stages, given=("--deep",))
    assert {path.name for path in tmp_path.iterdir()} == {"build", "plain", "deep"}


def test_deep_runs_have_a_seed_of_their_own_that_is_told_with_what_is_red(tmp_path: Path) -> None:
    says = "echo $WEBCRAWLER_SEED $PYTHONHASHSEED $HYPOTHESIS_PROFILE; false"

    seeds = set()
    for _ in range(2):
        _, told = outcome(tmp_path, Stage("style", ("sh", "-c", says)), given=("--deep",))
        [seed] = re.findall(r"\nFAILED style WEBCRAWLER_SEED=(\d+) ", told)
        assert f"\n{seed} {seed} deep\n" in told
        seeds.add(seed)
    assert len(seeds) == 2


def test_deep_runs_shuffle_the_tests_by_their_seed(tmp_path: Path) -> None:
    """Also in the processes of xdist."""
    text = """
import pytest
@pytest.mark.parametrize("number", range(20))
def test_number(number):
    print(number, file=open(__file__ + ".order", "a"))
"""
    one = of_tests("one", text, tmp_path)
    two = of_tests("two", text, tmp_path, *XDIST)

    status, _ = outcome(tmp_path, one, two, given=("--deep",), WEBCRAWLER_SEED="7")

    order, of_two = ((tmp_path / f"test_{name}.py.order").read_text().split() for name in ("one", "two"))
    assert status == 0
    assert order != sorted(order, key=int)
    assert order == of_two
