"""Virtual crawls side by side: processes, each with a Redis of its own, share out what is to be done."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from webcrawler.connection import Connection, connect
from webcrawler.errors import WebcrawlerError

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much
Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Task, Connection, Progress], Result]

CONTEXT = get_context("fork")  # the graph is shared as it is, and nothing has to be pickled but results

STOP_WHEN_ALONE = """
read -r never
server=$(cat "$1/redis/server") && kill "$server"
while kill -0 "$server"; do sleep 0.1; done
rm -rf "$1"
"""


@contextmanager
def private_redis() -> Iterator[Connection]:
    """An embedded server without files; it ends with the block, or with this process if that is killed.

    For the second case a shell waits for the end of a pipe from this process, and then stops the server.
    """
    with tempfile.TemporaryDirectory(prefix="webcrawler-") as folder:
        command = ["sh", "-c", STOP_WHEN_ALONE, "sh", folder]
        shell = subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            with connect(None, Path(folder), fsync="no") as connection:
                connection.client.config_set("appendonly", "no")
                yield connection
        finally:
            shell.kill()
            shell.communicate()


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def each(
    tasks: Sequence[Task], work: Work[Task, Result], jobs: int, progress: Progress
) -> Iterator[tuple[int, Result]]:
    """Each task's number and result, as soon as it is over: in order if there is one job.

    Args:
        work: what is done with a task; it may empty the Redis that it is given. An error ends the whole.
        jobs: processes at most; 1: this one alone.
    Raises:
        WebcrawlerError: a process was killed, as when memory runs out.
    """
    jobs = min(jobs, len(tasks))
    if jobs > 1:
        yield from _in_processes(tasks, work, jobs, progress)
        return
    with private_redis() as connection:
        for number, task in enumerate(tasks):
            yield number, work(task, connection, progress)


def _in_processes(
    tasks: Sequence[Task], work: Work[Task, Result], jobs: int, progress: Progress
) -> Iterator[tuple[int, Result]]:
    ours, theirs = CONTEXT.Pipe()
    pool = ProcessPoolExecutor(jobs, CONTEXT, _begin, (tasks, work, ours, theirs))
    tell = partial(progress, f"{len(tasks)} crawls, {jobs} at a time")
    try:
        numbers = {pool.submit(_do, number): number for number in range(len(tasks))}
        tell(0, len(tasks))
        for done, future in enumerate(as_completed(numbers), 1):
            tell(done, len(tasks))
            yield numbers[future], future.result()
    except BrokenProcessPool:
        raise WebcrawlerError("a process of --jobs was killed; if memory ran out, take fewer") from None
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)


_shared: dict[str, Any] = {}  # by a process of the pool with its parent: the tasks, and what is done with one
_stack = ExitStack()


def _begin(tasks: Sequence[Any], work: Work[Any, Any], ours: Any, theirs: Any) -> None:
    """Begin a process, which ends when nobody holds our end of the line: the parent closed it, or is dead."""
    ours.close()
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal sends them to all; the parent decides
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _shared.update(tasks=tasks, work=work)
    threading.Thread(target=_end_with, args=(theirs,), daemon=True).start()


def _end_with(line: Any) -> None:
    line.poll(None)
    os._exit(1)


@cache
def _own_redis() -> Connection:
    return _stack.enter_context(private_redis())


def _do(number: int) -> Any:
    return _shared["work"](_shared["tasks"][number], _own_redis(), lambda step, done, total: None)
