"""The programs of bench/ as people call them, at their smallest sizes; what they find out is not judged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from localweb import PROJECT, environment

BENCHES = PROJECT / "bench"
STEPS = "make,write,ranks,export,jobs,status,records,rebuild"
# By program; words in capitals stand for data.
SMALLEST = {
    "answers": "CRAWL_DIR SIX_SITES",
    "count_code": "--rooms",
    "frontier": "--rounds 1 --batches 20 --servers 100",
    "graphjobs": "TABLES --links 3000 --memory 200MB",
    "index": "CATALOG -n 20",
    "known": "CRAWL_DIR --queries 3",
    "navigation": "CRAWL_DIR --queries QUERIES",
    "quality": "COLLECTIONS",
    "realtime": "CRAWL_DIR --rounds 1",
    "scale": f"--documents 200 --steps {STEPS}",
    "search": "CRAWL_DIR -n 20 --queries 3",
    "slowservers": "--servers 5 --answer .1 --pages 2",
    "warc": "PAGE --rounds 2",
}
# crawlee is left out: its environment comes from a package index.
SMALLEST_OF_DOCWEB = {
    "crawl": "--proxy PROXY --pages 20 --only plain,scrapy-redis,ours",
    "focused": "--proxy PROXY --whole WHOLE --rules TOPICS --topics 1 --strategies breadth --pages 10",
    "orderings": "--proxy PROXY --whole WHOLE --documents 10 --modes fifo",
    "refreshing": "--proxy PROXY --domains directory.test",
    "workers": "--proxy PROXY --workers 2 --pages 20",
}
WITHOUT_JSON = ("graphjobs", "warc")  # as a file


def runs(folder: Path, name: str, words: str, data: Mapping[str, object]) -> bool:
    """Does a program end well, and print something? With --json it writes figures, too."""
    figures = folder / "figures.json"
    command = [sys.executable, str(BENCHES / f"{name}.py")]
    command += [str(data.get(word, word)) for word in words.split()]
    command += [] if name in WITHOUT_JSON else ["--json", str(figures)]
    variables = environment(folder / "crawl", TMPDIR=folder)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return bool(done.stdout.strip() and (name in WITHOUT_JSON or json.loads(figures.read_text())))
