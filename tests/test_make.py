"""What README says of `make` in a clone; the environment is there already."""

from __future__ import annotations

import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from localweb import PROJECT, environment

BIN = Path(sys.executable).parent
IS_SET_UP = ("-o", ".venv/ready", "-o", "dev", f"BIN={BIN}")


def make(*arguments: str, folder: Path) -> str:
    environ = environment(folder, FRONTIER_DELAY=0, PARSER_WORKERS=1)
    command = ["make", "--no-print-directory", *IS_SET_UP, *arguments]
    done = subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_make_crawl_crawls_the_demo_web_and_shows_a_search(tmp_path: Path) -> None:
    shown = make("crawl", "MAX_PAGES=20", folder=tmp_path / "crawl")

    assert shown.startswith("Crawled 20 documents")
    assert 'Search results for the query "molecular biology":\n' in shown
    assert (tmp_path / "crawl/demo.json").exists()


def test_make_serve_crawls_first_where_nothing_was_crawled(tmp_path: Path) -> None:
    crawls, *_, serves = make("--just-print", "serve", folder=tmp_path).splitlines()

    assert crawls.startswith("test -e ") and "make --no-print-directory crawl" in crawls
    assert shlex.split(serves) == [f"{BIN}/scrapy", "serve"]


def test_ci_runs_make_test_and_no_other_fast_tests() -> None:
    layers = runpy.run_path(str(PROJECT / ".ci/layers.py"))

    [command] = [stage.command for stage in layers["STAGES"] if stage.name == "fast tests"]
    assert command == ("make", "test")
