"""`webcrawler report` shows what it waits for on a terminal, and only there."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from crawled import crawled, fetched, link
from inprocess import command
from localweb import PROJECT, environment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl that is not indexed yet."""
    urls = [f"http://a.test/{n}" for n in range(50)]
    return crawled(tmp_path, *(fetched(url, link("http://a.test/0")) for url in urls))


@pytest.mark.slow
def test_on_a_terminal_it_shows_how_far_the_index_is(folder: Path) -> None:
    terminal, theirs = pty.openpty()
    command = [sys.executable, "-m", "scrapy", "report"]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=environment(folder, TERM="xterm"), stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    told = b""
    while some := _read(terminal):
        told += some

    assert b"Crawled 50 documents" in process.communicate()[0]
    assert b"indexing" in told and b"100%" in told
    assert b"gathering words for suggestions" in told


@pytest.mark.slow
def test_elsewhere_it_prints_nothing_but_the_report(folder: Path) -> None:
    told = command("report", folder=folder)

    assert "Crawled 50 documents" in told.out
    assert told.err == ""


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is closed
        return b""
