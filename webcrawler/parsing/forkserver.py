"""Processes that start clean: forked from a small server, without threads and without the main program."""

from __future__ import annotations

import os
import signal
import sys
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.popen_forkserver import Popen
from multiprocessing.process import BaseProcess
from types import ModuleType


class _CleanPopen(Popen):
    """`multiprocessing` runs the parent's main program in every process, so that functions of it can be
    called there. Here it would import all of Scrapy each time, or start a crawl: the script in Scrapy's own
    documentation has no `if __name__ == "__main__"`. What has no main program has none to run.
    """

    def _launch(self, process_obj: BaseProcess) -> None:
        _start_server()  # before the swap, which thus takes a millisecond
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super()._launch(process_obj)  # type: ignore[misc]
        finally:
            sys.modules["__main__"] = main


class _CleanProcess(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Popen:
        return _CleanPopen(process_obj)


class CleanContext(ForkServerContext):
    """As multiprocessing's "forkserver", for functions that can be imported."""

    Process = _CleanProcess

    def __init__(self, *preload: str) -> None:
        """Name the modules that the server should import once, for all; they must not start threads."""
        super().__init__()
        self.set_forkserver_preload(list(preload))


def _start_server() -> None:
    """Start the server, if there is none, out of Ctrl-C's reach and with our sys.path.

    With SIGINT blocked, since a process is open to it until its function runs. With our path, since Python
    3.11 does not hand it over: what is preloaded would not come from an egg, or from another copy.
    """
    resource_tracker.ensure_running()  # would unblock SIGINT
    before = os.environ.get("PYTHONPATH")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before
