"""Crawls in several processes: the same figures, one clear error, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from localweb import PROJECT
from waiting import until

from webcrawler.connection import Connection
from webcrawler.errors import BadInput, WebcrawlerError
from webcrawler.evaluation import Metrics, Recorded, Run, compare
from webcrawler.evaluation.runner import CONTEXT, Progress, each
from webcrawler.linkgraph import Graph


def quiet(step: str, done: int, all: int) -> None:
    pass


@pytest.fixture(scope="module")
def graph() -> Recorded:
    chance = np.random.default_rng(1)
    sources, targets = chance.integers(0, 60, (2, 300))
    urls = [f"http://graph.example/{n}" for n in range(60)]
    return Recorded(Graph.of([*sources, 0], [*targets, 1], 60), np.arange(60), urls)


def without_seconds(runs: list[Run]) -> list[Run]:
    return [run._replace(seconds=0.0) for run in runs]


@pytest.mark.slow
def test_figures_are_the_same_for_any_number_of_jobs(graph: Recorded) -> None:
    orderings, metrics = ["fifo", "random", "blend"], Metrics(hot=("ib:8",))

    one, three = (
        compare(graph, orderings, starts=["0", "1"], seeds=[1, 2], metrics=metrics, jobs=jobs)
        for jobs in (1, 3)
    )

    assert without_seconds([*one.runs]) == without_seconds([*three.runs])
    assert [run.seed for run in one.runs] == [None, 1, 2, 1, 2] * 2


def test_each_process_has_a_redis_of_its_own() -> None:
    together = CONTEXT.Barrier(3)  # so that one process does not take all

    def work(task: int, connection: Connection, progress: Progress) -> tuple[int, int]:
        together.wait()
        return os.getpid(), connection.client.info("server")["process_id"]

    found = dict(result for _, result in each(range(6), work, 3, quiet))

    assert os.getpid() not in found
    assert len(set(found.values())) == len(found) == 3


def test_progress_is_that_of_all_tasks_together() -> None:
    told: list[tuple[str, int, int]] = []

    results = dict(each(range(4), lambda task, connection, progress: task, 2, lambda *one: told.append(one)))

    assert results == {0: 0, 1: 1, 2: 2, 3: 3}
    assert told == [("4 crawls, 2 at a time", done, 4) for done in range(5)]


def test_an_error_ends_all_and_keeps_its_kind() -> None:
    def work(task: int, connection: Connection, progress: Progress) -> int:
        if task == 2:
            raise BadInput("two is wrong")
        return task

    with pytest.raises(BadInput, match="two is wrong"):
        list(each(range(4), work, 2, quiet))


def test_a_process_that_is_killed_is_an_error_in_one_line() -> None:
    def work(task: int, connection: Connection, progress: Progress) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(WebcrawlerError, match="a process of --jobs was killed"):
        list(each(range(4), work, 2, quiet))


@pytest.mark.slow
def test_processes_and_servers_end_with_a_laboratory_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import signal\n"
        "from webcrawler.evaluation.runner import each\n"
        "def work(task, connection, progress):\n"
        "    print('begun', flush=True)\n"
        "    signal.pause()\n"
        "for _ in each(range(2), work, 2, lambda *told: None): pass"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()

    process.kill()
    process.communicate()  # ends when nobody holds the other end of its output: its processes ended

    until(lambda: not list(tmp_path.iterdir()), "their folders to be gone")
