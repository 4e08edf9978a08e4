"""Who runs a search of the web? A child process, or a Scrapyd (scrapyd.py) where one is configured."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from webcrawler.web.config import Config
from webcrawler.web.failures import NotNow, log_fault

BROKE = "the search could not begin; the operator finds more in its log"
NO_PROCESS = "no search of the web can be started now: try again later"


class Launcher(Protocol):
    """Each method may wait for a process or a server: not for the event loop.

    Attributes:
        patience_seconds: for a search to begin, from when it was started.
    """

    patience_seconds: float

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        """Raises NotNow: it could not."""

    def is_over(self, job: str) -> bool:
        """Whether nothing of it runs, or will."""

    def end(self, job: str, at_once: bool) -> None:
        """In good order; where that was tried, at once."""

    def complaint(self, job: str) -> str:
        """Why one that is over has left no journal, for visitors: nothing of this machine."""

    def forget(self, job: str) -> None:
        """One that is over."""


class Children:
    """Processes in sessions of their own: Ctrl-C at the server is for the server, which asks them to end."""

    patience_seconds = 60.0

    def __init__(self, config: Config) -> None:
        self._crawl_dir = config.crawl_dir.absolute()
        self._told = dict(config.told)
        self._folder = Path.cwd()  # of the project
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, job: str, arguments: Mapping[str, str]) -> None:
        words = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
        try:
            with self._file(job, "log").open("ab") as log:
                self._processes[job] = subprocess.Popen(
                    [sys.executable, "-m", "scrapy", "crawl", "realtime", *words],
                    cwd=self._folder,
                    env=os.environ | self._told | {"CRAWL_DIR": str(self._crawl_dir)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            log_fault(f"cannot start a search of the web: {error}")
            raise NotNow(NO_PROCESS) from error

    def is_over(self, job: str) -> bool:
        process = self._processes.get(job)
        return process is None or process.poll() is not None

    def end(self, job: str, at_once: bool) -> None:
        if not self.is_over(job):
            self._processes[job].send_signal(signal.SIGKILL if at_once else signal.SIGTERM)

    def complaint(self, job: str) -> str:
        log_fault(f"a search of the web could not begin: see {self._file(job, 'log')}")
        return BROKE

    def forget(self, job: str) -> None:
        """Its log, too, unless it has begun: then that is kept as long as its journal."""
        self._processes.pop(job, None)
        if not self._file(job, "json").exists():
            self._file(job, "log").unlink(missing_ok=True)

    def _file(self, job: str, suffix: str) -> Path:
        return self._crawl_dir / "realtime" / f"{job}.{suffix}"
