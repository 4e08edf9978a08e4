"""Threads shared fairly: however much one client asks, the others have their turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class FairPool:
    """Serves clients in turn; the work of one client runs in the order in which it came."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "search")
        self._waiting: OrderedDict[str, deque[tuple[Future[Any], Callable[[], Any]]]] = OrderedDict()
        self._lock = Lock()

    def submit(self, client: str, work: Callable[[], T]) -> Future[T]:
        """Queue work behind earlier work of this client. Work cancelled while it waits costs nothing."""
        future: Future[T] = Future()
        with self._lock:
            self._waiting.setdefault(client, deque()).append((future, work))
        self._pool.submit(self._next)
        return future

    def close(self) -> None:
        """Cancel work that waits; what is running is finished."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for jobs in self._waiting.values():
                for future, _ in jobs:
                    future.cancel()

    def _next(self) -> None:
        with self._lock:
            client, jobs = self._waiting.popitem(last=False)
            future, work = jobs.popleft()
            if jobs:  # the next one of this client comes after those of others
                self._waiting[client] = jobs
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)
