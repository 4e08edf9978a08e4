"""Our commands in the test's own process, with the stores, parsers and views that they have elsewhere.

A crawl here takes .13 s of processor time. In a process of its own it takes 1.25 s, most of it to start
Python and import Scrapy. Views are a thread that does what their process would; it has ended when a
command has.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import pytest
from scrapy import cmdline
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.resolver import dnscache

from webcrawler import background, metrics, settings, views
from webcrawler.background import Views, is_held

PROJECT = Path(__file__).parents[1]


class Answered(NamedTuple):
    """What a command of ours said at its end."""

    status: int
    out: str
    err: str


def command(
    *arguments: str,
    folder: Path,
    variables: Mapping[str, object] = {},
    project: Path = PROJECT,
    module: str = "webcrawler.settings",
    **given: object,
) -> Answered:
    """`scrapy ARGUMENTS` on this data folder, to its end; a crawl to that of its views.

    Args:
        variables: of the environment.
        project, module: the folder and the settings of another project, which are imported anew.
        given: settings.
    """
    options = [f"-s{name}={value}" for name, value in {"CRAWL_DIR": folder, "CRAWL_NICE": 0, **given}.items()]
    out, err = io.StringIO(), io.StringIO()
    # What other commands start beside a crawl that goes on has to outlive them, and may be told to end.
    outlives = arguments[0] != "crawl" and is_held(folder / "crawls.lock")
    beside = nullcontext() if outlives else _views_in_threads()
    with _as_if_alone(variables, project, module), redirect_stdout(out), redirect_stderr(err), beside:
        try:
            cmdline.execute(["scrapy", *arguments, *options])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Answered(status, out.getvalue(), err.getvalue())


@contextmanager
def _as_if_alone(variables: Mapping[str, object], project: Path, module: str) -> Iterator[None]:
    """What a process would begin with, and nothing left of what Scrapy changes in one."""
    from webcrawler.commands import crawl

    dnscache.clear()  # another resolver of Scrapy's may have left something else in it
    metrics.fetches.clear()  # outcomes of other crawls
    logs = [logging.getLogger(name) for name in (None, "scrapy", "twisted")]
    before = [(log.handlers[:], log.level) for log in logs]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        patch.syspath_prepend(project)
        for name in os.environ:
            if name.lower().endswith("_proxy") or name == "REDIS_URL":
                patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, str(value))
            if name in settings.SETTINGS:  # the module was imported before
                patch.setattr(settings, name, str(value))
        patch.setenv("SCRAPY_SETTINGS_MODULE", module)  # as Scrapy would, and leave it behind
        # With a handler of its own, Scrapy sets the level of all logs for each crawler that is made later.
        patch.setattr("scrapy.utils.log._scrapy_root_handler", None)
        for user in (crawl, cmdline):
            patch.setattr(user, "AsyncCrawlerProcess", _Crawls)
        try:
            yield
        finally:
            for log, (handlers, level) in zip(logs, before, strict=True):
                log.handlers[:] = handlers
                log.setLevel(level)
            for name in [name for name in sys.modules if project != PROJECT and _is_of(name, module)]:
                del sys.modules[name]


def _is_of(name: str, module: str) -> bool:
    """Is it a module of the package that this one is in?"""
    return name.partition(".")[0] == module.partition(".")[0]


class _Crawls(AsyncCrawlerProcess):
    """Runs its crawls on the one reactor that a process can have, which goes on afterwards."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        _reactor()
        super().__init__(*arguments, **options)

    def start(self, *_: object, **__: object) -> None:
        reactor, loop = _reactor()
        resolver = reactor.nameResolver
        self._setup_reactor(install_signal_handlers=False)
        try:
            loop.run_until_complete(self.join())
        finally:
            reactor.installNameResolver(resolver)
            reactor._stopThreadPool()  # its threads would keep the process of the tests from ending


def _reactor(made: list[Any] = []) -> Any:  # noqa: B006  (made once)
    """The reactor and its event loop."""
    if not made:
        loop = asyncio.new_event_loop()
        from twisted.internet import asyncioreactor

        asyncioreactor.install(loop)
        from twisted.internet import reactor

        reactor.startRunning(installSignalHandlers=False)  # type: ignore[attr-defined]
        made += reactor, loop
    asyncio.set_event_loop(made[1])
    return made


class _Beside(threading.Thread):
    """Views at work, as their process would be known to who starts it."""

    def __init__(self, crawl_dir: Path, stdin: bytes) -> None:
        super().__init__(name="views")
        self.crawl_dir = crawl_dir
        self.stopped = threading.Event()
        self.returncode = 1
        self.error: BaseException | None = None
        self._settings = {**json.loads(stdin or "{}"), "CRAWL_DIR": str(crawl_dir)}
        self.start()

    def run(self) -> None:
        """What `main` does, without the priority and the signals of a process."""
        from webcrawler.views import derive

        try:
            derive(self.crawl_dir, self._settings, self.stopped.is_set)
            self.returncode = 0
        except BaseException as error:
            self.error = error

    def poll(self) -> int | None:
        return None if self.is_alive() else self.returncode

    def wait(self) -> int:
        self.join()
        return self.returncode


_ALL: list[_Beside] = []  # those of crawls that go on beside each other in threads of a test


@contextmanager
def _views_in_threads() -> Iterator[None]:
    """Views that are started become threads, which have ended when the block has."""
    started: list[_Beside] = []

    def start(self: Views, stdin: bytes, lock: IO[str]) -> _Beside:
        lock.close()  # the thread takes its own
        started.append(_Beside(self.crawl_dir, stdin))
        _ALL.append(started[-1])
        return started[-1]

    def take_over(self: Views) -> IO[str]:
        while (lock := self.lock()) is None:
            for thread in list(_ALL):  # a signal would end the tests
                if thread.crawl_dir == self.crawl_dir:
                    thread.stopped.set()
                    thread.join()
            with suppress(ValueError, ProcessLookupError):
                if (process := int((self.crawl_dir / "views.lock").read_text())) != os.getpid():
                    os.kill(process, signal.SIGTERM)
            time.sleep(0.01)
        return lock

    def is_ours(record: logging.LogRecord) -> bool:  # a process of its own would write to views.log
        return record.threadName != "views"

    def end_all(number: int, frame: object) -> None:
        """A crawl in a process of its own starts other views, and tells these to end."""
        for thread in list(_ALL):
            thread.stopped.set()

    is_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, end_all) if is_main else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background.logger, "filters", [is_ours])
        patch.setattr(views, "kept", lambda folder: nullcontext())  # the crawl writes it
        patch.setattr(Views, "_start", start)
        patch.setattr(Views, "take_over", take_over)
        try:
            yield
        finally:
            for thread in started:
                thread.join()
                _ALL.remove(thread)
            if is_main:
                signal.signal(signal.SIGTERM, before)
        for thread in started:
            if thread.error:
                raise AssertionError("the views failed") from thread.error
