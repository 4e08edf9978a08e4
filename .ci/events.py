"""A plugin of pytest: what becomes of each test is in a file at once, whatever ends the run (`--events`).

It also leaves out what is deep (`--without-deep`), and shuffles the files and the tests of each
(`--shuffled`). What tests start knows nothing of it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest


class Event(NamedTuple):
    test: str
    became: str  # "begun", "over", and between them as pytest counts it: passed, failed, error, skipped, …
    place: str = ""
    text: str = ""  # why it is red


def read(path: Path) -> list[Event]:
    """None where pytest did not get so far."""
    text = path.read_text("utf-8") if path.exists() else ""
    return [Event(*json.loads(line)) for line in text.splitlines()]


class Writer:
    """In the process that all reports come to; a line is written in one piece."""

    def __init__(self, path: Path, config: pytest.Config) -> None:
        self._file = path.open("ab", buffering=0)
        self._config = config

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self._write(Event(nodeid, "begun", _place(location)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        became, *_ = self._config.hook.pytest_report_teststatus(report=report, config=self._config)
        if became:
            why = report.longreprtext if report.failed else ""
            self._write(Event(report.nodeid, became, _place(report.location), why))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write(Event(nodeid, "over"))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(Event(report.nodeid, "error", report.nodeid, report.longreprtext))

    def _write(self, event: Event) -> None:
        self._file.write(json.dumps(event).encode() + b"\n")


def _place(location: tuple[str, int | None, str]) -> str:
    path, line, _ = location
    return f"{path}:{(line or 0) + 1}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--events", help="file of what becomes of each test")
    parser.addoption("--shuffled", type=int, help="seed of the order of tests")
    parser.addoption("--without-deep", action="store_true", help="leave out what has the mark deep")


def pytest_configure(config: pytest.Config) -> None:
    if (path := config.getoption("events")) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(Path(path), config))


@pytest.hookimpl(tryfirst=True)  # before pytest brings together what shares a fixture
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The same, in the same order, in all processes of xdist."""
    if config.getoption("without_deep"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("deep")])
        items[:] = [item for item in items if not item.get_closest_marker("deep")]
    seed = config.getoption("shuffled")
    if seed is not None:
        chance = Random(seed)
        files = {path: chance.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (files[item.path], chance.random()))


def pytest_collection_finish() -> None:
    """What tests start does not take our options. Processes of xdist, which collect, still do."""
    for name in ("PYTEST_ADDOPTS", "PYTHONPATH"):
        os.environ.pop(name, None)
