"""A process whose signal handler raises while it writes many numbers to Redis: URL or "", and folder."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from webcrawler.connection import connect

NUMBERS = range(300_000)
PROCESSOR_SECONDS = 0.02  # less than writing them takes


def run(url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Prints whether a command was interrupted and Redis answered afterwards."""
    command = [sys.executable, __file__, url, str(folder)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)


def main(url: str, folder: str) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGVTALRM, interrupt)
    interrupted = 0
    with connect(url or None, Path(folder)) as connection:
        for _ in range(20):
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, PROCESSOR_SECONDS)
                connection.client.sadd("numbers", *NUMBERS)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
        print(interrupted > 0, connection.client.ping())


if __name__ == "__main__":
    main(*sys.argv[1:])
