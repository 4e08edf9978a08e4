"""Parses pages in processes of their own (WC), each page with a deadline and a memory limit.

A worker ends itself when its page goes too far: the kernel's timer and the kernel's limit hold inside C
libraries too, and cannot hit another page. Pebble notices and starts the next worker.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool
from pebble.pool import process

from webcrawler import metrics
from webcrawler.errors import ParserKilled, Unavailable
from webcrawler.parsing.forkserver import CleanContext
from webcrawler.parsing.page import parse
from webcrawler.parsing.sitemap import parse_sitemap
from webcrawler.records import Page, Sitemap

_OUT_OF_MEMORY = 77  # exit status of a worker
# From outside, by a person or the kernel: a page that goes too far is ended by its worker's own limits.
_STOPPED = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGKILL)
_ATTEMPTS = 3  # of a page whose worker was stopped from outside
_ANSWERS = 2  # attempts where a worker stays silent: its own timers did not fire, so the page may be fine
_PAGES_PER_WORKER = 2_000  # then a fresh one, whose heap is in one piece
_M_MMAP_THRESHOLD, _LARGE_BYTES = -3, 2**20  # <malloc.h>
_WALL = 2  # times the processor time that a page may take
_GRACE_S = 5.0  # pebble's own deadline, behind the worker's timers


@dataclass(eq=False, slots=True)
class _Job:
    parse: Callable[..., Any]
    page: tuple[Any, ...]  # its arguments
    future: Future[Any] = field(default_factory=Future)
    attempts: int = 0


class ParserPool:
    """Parses pages in processes, which start with the first page.

    They ignore Ctrl-C, and end when the owner dies: a busy one by its page's deadline. Thread-safe.
    """

    def __init__(
        self,
        workers: int,
        timeout_s: float = 10.0,
        memory_mb: int = 512,
        robot: str = "",
    ) -> None:
        """Make a pool of that many processes.

        Args:
            timeout_s: processor time that a page may take in its worker, of wall time twice as much: a busy
                machine is not a fault of the page. Waiting for a worker does not count.
            memory_mb: address space that a worker may add to what it starts with (Linux only).
            robot: name by which pages address this crawler, lower case.
        """
        self.workers, self._timeout_s, self._memory_mb = workers, timeout_s, memory_mb
        self.robot = robot
        self._lock = threading.Lock()
        # The first page waits a second for its worker: that must not stop the caller's event loop.
        self._submitter = ThreadPoolExecutor(1, "parser pool")
        self._jobs: set[_Job] = set()  # in hand: pebble forgets those it has not started when it breaks
        self._closed = False
        self._pool = self._new_pool()

    def parse(
        self,
        body: bytes,
        url: str,
        content_type: str = "",
        protocols: Collection[str] = ("http", "https"),
        forms: bool = False,
    ) -> Future[Page]:
        """Like `parsing.parse`; the future cannot be cancelled, its callbacks run in a thread of the pool.

        Raises, through the future:
            ParserKilled: the page passed its deadline or its memory limit, or killed its process.
            Unavailable: the pool was closed, or its processes are stopped again and again from outside.
        """
        return self._begin(_Job(parse, (body, url, content_type, tuple(protocols), forms, self.robot)))

    def parse_sitemap(
        self, body: bytes, url: str, content_type: str, now: float, protocols: Collection[str]
    ) -> Future[Sitemap | None]:
        """Like `parsing.parse_sitemap`; the rest is as for `parse`."""
        return self._begin(_Job(parse_sitemap, (body, url, content_type, now, tuple(protocols))))

    def _begin(self, job: _Job) -> Future[Any]:
        job.future.set_running_or_notify_cancel()
        try:
            self._submitter.submit(self._submit, job)
        except RuntimeError:
            self._fail(job, Unavailable("the parser pool is closed"))
        return job.future

    @property
    def pages(self) -> int:
        """How many are being parsed, or wait for it."""
        return len(self._jobs)

    def close(self) -> None:
        """Finish the pages in hand and end the processes."""
        self._submitter.shutdown()
        self._end(ProcessPool.close)

    def kill(self) -> None:
        """End the processes at once; pages in hand end in Unavailable."""
        self._end(ProcessPool.stop)
        self._submitter.shutdown()

    def _end(self, stop: Any) -> None:
        with self._lock:
            self._closed = True
            pool = self._pool
        stop(pool)
        pool.join()
        for job in tuple(self._jobs):
            self._fail(job, Unavailable("the parser pool is closed"))

    def _new_pool(self) -> ProcessPool:
        context = CleanContext("webcrawler.parsing.pool", "webcrawler.parsing.preload")
        return ProcessPool(self.workers, _PAGES_PER_WORKER, _prepare_worker, (self._memory_mb,), context)

    def _submit(self, job: _Job) -> None:
        with self._lock:
            pool, closed = self._pool, self._closed
            self._jobs.add(job)
            job.attempts += 1
        if closed or job.attempts > _ATTEMPTS:
            self._fail(job, Unavailable("the parser pool is closed or cannot keep a process alive"))
            return
        try:
            work = (self._timeout_s, job.parse, *job.page)
            task = pool.schedule(_work, work, timeout=_WALL * self._timeout_s + _GRACE_S)
        except RuntimeError:
            self._renew(pool)
        else:
            task.add_done_callback(partial(self._finish, job, pool))

    def _finish(self, job: _Job, pool: ProcessPool, task: Future[Any]) -> None:
        if pool is not self._pool:
            return  # it broke, and the job went to the next one
        error = None if task.cancelled() else task.exception()
        status = error.exitcode if isinstance(error, ProcessExpired) else None
        # What the kernel ends again and again, for want of memory say, may be the page's fault.
        is_stopped = status in _STOPPED and (status != -signal.SIGKILL or job.attempts < _ATTEMPTS)
        if isinstance(error, BrokenProcessPool):
            self._renew(pool)
        elif is_stopped or (isinstance(error, TimeoutError) and job.attempts < _ANSWERS):
            self._submit(job)
        elif error is not None or task.cancelled():
            self._fail(job, self._verdict(job, error))
        else:
            self._jobs.discard(job)
            seconds, parsed = task.result()
            metrics.parse_seconds.observe(seconds)
            job.future.set_result(parsed)

    def _verdict(self, job: _Job, error: BaseException | None) -> BaseException:
        url = job.page[1]
        status = error.exitcode if isinstance(error, ProcessExpired) else None
        if status == -signal.SIGPROF:
            return ParserKilled(f"{url}: not parsed in {self._timeout_s:g} s of processor time")
        if isinstance(error, TimeoutError) or status == -signal.SIGALRM:
            how = "" if status else " (it does not answer)"
            return ParserKilled(f"{url}: not parsed within {_WALL * self._timeout_s:g} s{how}")
        if status == _OUT_OF_MEMORY:
            return ParserKilled(f"{url}: its parser wanted more than {self._memory_mb} MB")
        if status is not None:
            return ParserKilled(f"{url}: its parser died (exit status {status})")
        if error is None or self._closed:  # killed while it wrote to a worker, pebble trips over itself
            return Unavailable("the parser pool is closed")
        return error  # ours: fail loudly

    def _fail(self, job: _Job, error: BaseException) -> None:
        self._jobs.discard(job)
        metrics.parsers_killed.inc(isinstance(error, ParserKilled))
        if not job.future.done():
            job.future.set_exception(error)

    def _renew(self, broken: ProcessPool) -> None:
        """Start a new pool: pebble gives up when a worker dies outside of a task."""
        with self._lock:
            if self._pool is not broken or self._closed:
                return
            self._pool = self._new_pool()
            jobs = tuple(self._jobs)
        threading.Thread(target=_discard, args=(broken,), daemon=True).start()
        for job in jobs:
            self._submit(job)


def _discard(pool: Any) -> None:
    pool.stop()
    pool.join()


# In the worker.

_address_space = resource.RLIM_INFINITY  # bytes that this process may have while it parses
_grown = resource.RLIM_INFINITY  # bytes with which it takes no further page
_fetch = process.fetch_task
_STATM = Path("/proc/self/statm")


def _prepare_worker(memory_mb: int) -> None:
    global _address_space, _grown
    process.fetch_task = _fetch_unless_grown
    free_large_blocks()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # pebble's handler would wait for C code to return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if _STATM.exists():
        _address_space = _size() + memory_mb * 2**20
        _grown = _size() + memory_mb * 2**18


def _fetch_unless_grown(channel: Any) -> Any:
    """Take the next page, or end well: memory left by earlier pages must not count against this one.

    Pebble has no hook between two tasks. A worker that ended with a page in hand could have the page before
    blamed for it, whose answer pebble may not have read yet.
    """
    if _STATM.exists() and _size() > _grown:
        raise EOFError
    return _fetch(channel)


def free_large_blocks() -> None:
    """Make large blocks of memory go back to the system when they are freed, instead of leaving holes."""
    with contextlib.suppress(AttributeError, OSError):  # a C library without it
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)


def _size() -> int:
    """Return the size of this process' address space, in bytes."""
    return int(_STATM.read_text().split()[0]) * resource.getpagesize()


def _work(timeout_s: float, parse: Callable[..., Any], *page: Any) -> tuple[float, Any]:
    """Parse a page under the limits; returns how many seconds that took, too.

    The limits hold for the page alone: to receive and to return it must not fail.
    """
    began = time.perf_counter()
    _limit(timeout_s, _address_space)
    try:
        sys.audit("webcrawler.parser.before")
        parsed = parse(*page)
        sys.audit("webcrawler.parser.after")
        return time.perf_counter() - began, parsed
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)  # a heap that was full is not a place for the next page
    finally:
        _limit(0, resource.RLIM_INFINITY)


def _limit(seconds: float, address_space: int) -> None:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, _WALL * seconds)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bounds = [bound for bound in (address_space, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds, default=resource.RLIM_INFINITY), hard))
