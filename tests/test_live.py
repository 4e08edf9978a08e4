"""What a person sees of a crawl, on a terminal and in the mail of a timer."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from localweb import PROJECT, crawl, page, sites

from webcrawler.commands.crawl import told_at_end

WITHOUT_LEVEL = {name: value for name, value in os.environ.items() if name != "LOG_LEVEL"}


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """What `scrapy` writes to a standard error that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=PROJECT,
        env={**WITHOUT_LEVEL, "CRAWL_DIR": str(folder), "COLUMNS": "100", "TERM": "xterm"},
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


@pytest.mark.slow
def test_without_a_terminal_only_what_needs_attention_is_logged(tmp_path: Path) -> None:
    given = [sys.executable, "-m", "scrapy", "crawl", "index", "-a", "max_pages=20"]
    variables = {**WITHOUT_LEVEL, "CRAWL_DIR": str(tmp_path)}

    done = subprocess.run(given, cwd=PROJECT, env=variables, stderr=subprocess.PIPE, text=True, check=True)

    demo, last = done.stderr.splitlines()
    assert "WARNING: no seeds given: crawling the demo web" in demo
    assert last.startswith("crawled 20 new documents, ") and last.endswith("; ended: max_pages")


def test_a_crawl_ends_with_what_it_has_brought(tmp_path: Path) -> None:
    with sites(web={"/": page("/1", "/gone"), "/1": page()}) as opened:
        crawled = crawl(tmp_path, f"{opened['web'].url}/")

    assert crawled.log.splitlines()[-1] == "crawled 2 new documents, 1 URLs failed; ended: finished"


BROUGHT = {"webcrawler/done/document": 2, "webcrawler/failed/not-found": 3, "finish_reason": "finished"}
CHECKED = {"webcrawler/checked/not-modified": 5, "webcrawler/checked/gone": 1}


@pytest.mark.parametrize(
    ("stats", "has_line", "told"),
    [
        (BROUGHT, False, "crawled 2 new documents, 3 URLs failed; ended: finished"),
        (BROUGHT, True, ""),
        (BROUGHT | CHECKED, False, "checked 6 documents: 1 gone, 5 unchanged; 2 new"),
        (BROUGHT | CHECKED, True, "checked 6 documents: 1 gone, 5 unchanged; 2 new"),
    ],
)
def test_what_the_live_line_has_shown_is_not_said_again(
    stats: dict[str, object], has_line: bool, told: str
) -> None:
    assert told_at_end(stats, has_line=has_line) == told
