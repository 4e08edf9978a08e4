"""Virtual crawls side by side: processes, each with a Redis of its own, share out what is to be done."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import connection as pipes
from multiprocessing import get_context, parent_process
from pathlib import Path
from traceback import format_exception
from typing import Any, NamedTuple, TypeVar

from webcrawler.connection import Connection, connect
from webcrawler.errors import WebcrawlerError

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much
Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Task, Connection, Progress], Result]

SHARES = 1000  # in which the progress of one task is told
CONTEXT = get_context("fork")  # the graph is shared as it is, and nothing has to be pickled but results

STOP_WHEN_ALONE = """
read -r never
kill "$1"
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
rm -rf "$2"
"""


@contextmanager
def private_redis() -> Iterator[Connection]:
    """An embedded server without files; it ends with the block, or with this process if that is killed.

    For the second case a shell waits for the end of a pipe from this process, and then stops the server.
    """
    with (
        tempfile.TemporaryDirectory(prefix="webcrawler-") as folder,
        connect(None, Path(folder), fsync="no") as connection,
    ):
        server = connection.client.info("server")["process_id"]
        command = ["sh", "-c", STOP_WHEN_ALONE, "sh", str(server), folder]
        shell = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        try:
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


class _Told(NamedTuple):
    """What a process says of a task."""

    number: int
    share: int  # of it that is done, in SHARES
    is_over: bool = False
    result: Any = None
    error: Exception | None = None


def _in_processes(
    tasks: Sequence[Task], work: Work[Task, Result], jobs: int, progress: Progress
) -> Iterator[tuple[int, Result]]:
    shares, left = [0] * len(tasks), iter(range(len(tasks)))
    with ExitStack() as ends:
        busy: list[Any] = [ends.enter_context(_process(tasks, work, ends)) for _ in range(jobs)]
        for line in busy:
            line.send(next(left))
        while busy:
            for line in list[Any](pipes.wait(busy)):
                told = _told(line)
                shares[told.number] = max(shares[told.number], told.share)
                progress(f"{len(tasks)} crawls, {jobs} at a time", sum(shares), SHARES * len(tasks))
                if told.is_over:
                    yield told.number, told.result
                    if (number := next(left, None)) is None:
                        busy.remove(line)
                    else:
                        line.send(number)


def _told(line: Any) -> _Told:
    try:
        told: _Told = line.recv()
    except EOFError:
        raise WebcrawlerError("a process of --jobs was killed; if memory ran out, take fewer") from None
    if told.error is not None:
        raise told.error
    return told


@contextmanager
def _process(tasks: Sequence[Task], work: Work[Task, Result], ends: ExitStack) -> Iterator[Any]:
    """The line to a process that waits for numbers of tasks; it is killed with the block."""
    connection = ends.enter_context(private_redis())
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(tasks, work, connection, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        process.kill()
        process.join()


def _serve(tasks: Sequence[Task], work: Work[Task, Result], connection: Connection, line: Any) -> None:
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal sends them to all; the parent decides
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        number = line.recv()

        def tell(step: str, done: int, total: int, number: int = number) -> None:
            line.send(_Told(number, SHARES * done // max(1, total)))

        try:
            result = work(tasks[number], connection, tell)
        except Exception as error:
            error.add_note("".join(format_exception(error)))
            line.send(_Told(number, 0, error=error))
        else:
            line.send(_Told(number, SHARES, True, result))


def _end_with_parent() -> None:
    """Also when that was killed; else it would hold open what its Redis waits for the end of."""
    parent = parent_process()
    assert parent is not None
    pipes.wait([parent.sentinel])
    os._exit(1)
