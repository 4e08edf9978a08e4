"""Watches a crawl from without: the most memory that each of its processes has had."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EVERY_SECONDS = 0.1


class Memory:
    """The peak of each Python process of a crawl, MiB, by process id."""

    def __init__(self, root: int) -> None:
        self.crawl = root
        self.peaks: dict[int, float] = {}

    def sample(self) -> None:
        for process in _family(self.crawl):
            status = _status(process)
            if status.get("Name", "").startswith(("python", "scrapy")) and "VmHWM" in status:
                self.peaks[process] = int(status["VmHWM"].split()[0]) / 1024


@contextmanager
def watched(root: int) -> Iterator[Memory]:
    memory, end = Memory(root), threading.Event()

    def run() -> None:
        while not end.wait(EVERY_SECONDS):
            memory.sample()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        end.set()
        thread.join()


def _family(root: int) -> Iterator[int]:
    yield root
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:  # it has ended
            continue
        for child in found:
            yield from _family(int(child))


def _status(process: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
