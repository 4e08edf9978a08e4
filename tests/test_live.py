"""What a person sees of a crawl on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from localweb import PROJECT


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What `scrapy` writes to a standard error that is a terminal."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "LOG_LEVEL"}
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=PROJECT,
        env={**environment, "CRAWL_DIR": str(folder), "COLUMNS": "100", "TERM": "xterm"},
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal, suppress(OSError):  # the other end is closed
        while data := terminal.read(65536):
            written += data
    assert process.wait() == 0
    return written.decode()


@pytest.mark.slow
def test_a_crawl_shows_one_live_line_and_no_log_beside_it(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, "crawl", "index", "-a", "max_pages=20")

    last = shown.rsplit("\x1b[2K", 1)[-1]
    assert last.startswith("20 pages  ")
    for label in ("pages/s", "servers", "waiting", "leased", "failed", "indexed"):
        assert label in last
    assert "INFO" not in shown
