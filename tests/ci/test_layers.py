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


def test_each_test_is_in_one_stage(collected: list[pytest.Item]) -> None:
    """Where only some are collected, of these; `make test` collects all."""
    choices = {stage.name: found for stage in STAGES if (found := choice(stage))}

    stages = {}
    for item in collected:
        marks = MarkMatcher.from_markers(item.iter_markers())
        stages[item.nodeid] = [name for name in choices if choices[name].takes(item, marks)]

    assert {test: names for test, names in stages.items() if len(names) != 1} == {}
