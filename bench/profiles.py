"""Where the time of our crawl goes: every process of it, each thread, sampled by py-spy."""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from contenders import Web, our_crawl, peer_program
from rich.console import Console
from rich.table import Table
from serving import ROOT

RATE = 100  # samples a second
ROLES = {"webcrawler.index.follower": "follower", "forkserver": "parser", "scrapy": "main"}
_PART = re.compile(r";(?=process |thread )")
_THREAD = re.compile(r"thread \(\w+\): ([^;]*);?(.*)")


class Thread(NamedTuple):
    process: str
    name: str


Profile = dict[Thread, Counter[str]]  # samples by function, of its own code


def record(web: Web, folder: Path) -> Profile:
    """Crawls once; the follower is looked at as long as the crawl lasts."""
    command, environment = our_crawl(web, folder)
    spy = [
        str(peer_program(web.peer_env, "py-spy")),
        "record",
        "--format",
        "raw",
        "--subprocesses",
        "--threads",
    ]
    output = folder / "profile"
    spy += ["--rate", str(RATE), "--output", str(output), "--"]
    subprocess.run(spy + command, env=environment, cwd=ROOT, check=True, capture_output=True)
    return read(output)


def read(file: Path) -> Profile:
    """From py-spy's raw format: frames from the outermost inwards, and how often they were seen."""
    profile: Profile = defaultdict(Counter)
    for line in file.read_text().splitlines():
        stack, _, samples = line.rpartition(" ")
        parts = _PART.split(stack)
        found = _THREAD.match(parts[-1])
        if found:
            function = re.sub(r":\d+\)$", ")", found[2].rpartition(";")[2])
            profile[Thread(_role(parts), found[1])][function] += int(samples)
    return profile


def print_profile(profile: Profile, top: int) -> None:
    """Seconds in which a thread ran, or wanted to: waiting for another thread's Python counts, too."""
    console = Console()
    for thread, functions in sorted(profile.items(), key=lambda entry: -entry[1].total()):
        seconds = functions.total() / RATE
        if seconds < 1:
            continue
        table = Table("seconds", "%", "function", title=f"{thread.process}, {thread.name}: {seconds:.1f} s")
        for function, samples in functions.most_common(top):
            table.add_row(f"{samples / RATE:.2f}", f"{samples / functions.total():.1%}", function)
        console.print(table)


def _role(parts: list[str]) -> str:
    process = [part for part in parts if part.startswith("process ")][-1]
    return next((role for word, role in ROLES.items() if word in process), process)
