"""Each test belongs to one stage, of those that have tests."""

from __future__ import annotations

import argparse
import shlex
import subprocess

import pytest
from _pytest.mark import MarkMatcher
from _pytest.mark.expression import Expression
from layers import STAGES, Stage
from localweb import PROJECT


class Choice:
    """The tests that a command of pytest chooses."""

    def __init__(self, options: list[str]) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("-m", type=Expression.compile)
        parser.add_argument("--ignore", action="append", default=[])
        parser.add_argument("-n"), parser.add_argument("--dist")
        parser.add_argument("--no-loadscope-reorder", action="store_true")
        parser.add_argument("paths", nargs="*", default=["tests"])
        self._given = parser.parse_args(options)

    def takes(self, item: pytest.Item, marks: MarkMatcher) -> bool:
        file = f"{item.nodeid.partition('::')[0]}/"
        return (
            file.startswith(tuple(f"{path}/" for path in self._given.paths))
            and not file.startswith(tuple(f"{path}/" for path in self._given.ignore))
            and self._given.m.evaluate(marks)
        )


def choice(stage: Stage) -> Choice | None:
    """None where it runs no tests."""
    command = list(stage.command)
    if command[0] == "make":
        printed = ["make", "--just-print", "--no-print-directory", "-o", "dev", *command[1:]]
        command = shlex.split(subprocess.check_output(printed, cwd=PROJECT, text=True))
    is_of_tests = command[0].endswith("pytest") and "--collect-only" not in command
    return Choice(command[1:]) if is_of_tests else None


@pytest.fixture
def stages_of(collected: list[pytest.Item]) -> dict[pytest.Item, list[Stage]]:
    """Of each test that is collected: all, where `make test` collects, or some."""
    choices = [(stage, found) for stage in STAGES if (found := choice(stage))]
    stages = {}
    for item in collected:
        marks = MarkMatcher.from_markers(item.iter_markers())
        stages[item] = [stage for stage, choice in choices if choice.takes(item, marks)]
    return stages


def test_each_test_is_in_one_stage(stages_of: dict[pytest.Item, list[Stage]]) -> None:
    assert [item.nodeid for item, stages in stages_of.items() if len(stages) != 1] == []


def test_what_is_not_in_ci_says_what_else_holds_its_rule(stages_of: dict[pytest.Item, list[Stage]]) -> None:
    """As the mark of a test that is deep does; CI leaves out these, and whole stages of them."""
    deep = [item for item, stages in stages_of.items() if any(stage.deep for stage in stages)]

    assert [item.nodeid for item in deep if not item.get_closest_marker("deep")] == []
