"""The commands of the documentation, typed as a reader would: in a folder, from the top of a page down."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from localweb import PROJECT, environment
from marked import Mark
from ports import free_port

from webcrawler.connection.embedded import installed_binaries

# A reader has several terminals: what runs on is put into the background, and ends with the page.
TERMINALS = """
set -eE
trap 'status=$?; echo "status $status: $BASH_COMMAND" >&2; exit $status' ERR
trap 'status=$?; trap - ERR; set +e; kill $(jobs -p) 2>/dev/null; wait; exit $status' EXIT
answering() {
    for _ in $(seq 600); do (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return; sleep .1; done
    return 1
}
webcrawler() {
    if [ "$1" != serve ]; then command webcrawler "$@"; return; fi
    [ -z "$page" ] || { kill "$page"; wait "$page" || true; }
    command webcrawler "$@" --port "$PAGE_PORT" >&2 & page=$!
    answering "$PAGE_PORT"
}
python() {
    if [ "$2" = webcrawler.demo ]; then command python "$@" >&2 & else command python "$@"; fi
}
valkey-server() { "$VALKEY" "$@" >&2 & answering "$REDIS_PORT"; }
timeout() { # -s SIGNAL SECONDS COMMAND: counted from when the crawl has its Redis, however slow the machine
    command "${@:4}" & crawl=$!
    for _ in $(seq 600); do [ ! -S crawl/redis/redis.sock ] || break; sleep .1; done
    sleep "$3"; kill -s "$2" "$crawl"
    wait "$crawl" || test $? = 137
}
"""


VALKEY = str(next(installed_binaries()))
A_COMMAND = re.compile(
    r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*"
    r"(?:(?:\.venv/bin/)?(?:webcrawler|scrapy|python3?|pip|pytest|buildah|twine)|curl|docker|git|make|uvx) "
)
EXAMPLE = r"(?:(?:[\w-]+\.)*example\.(?:org|com|net)|10\.0\.0\.5)"


class Block(NamedTuple):
    """A piece of code of a page: its language ("" is output, or a file), and its lines."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Those of a page of the documentation, from top to bottom."""
    text = (PROJECT / page).read_text("utf-8")
    return [Block(*found) for found in re.findall(r"(?ms)^```(\w*)\n(.*?)^```", text)]


def commands(page: str) -> list[str]:
    """What is to be typed; a line that goes on, and a here-document, is one command."""
    lines = iter("".join(one.text for one in blocks(page) if one.language == "sh").splitlines(keepends=True))
    return [_whole(line, lines) for line in lines if line.strip()]


def outside(page: str) -> list[str]:
    """Lines that look like commands and stand in no block that is labelled `sh`."""
    text = (PROJECT / page).read_text("utf-8")
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    lines = [line for line in prose.splitlines() if line.startswith("    ")]
    lines += [line for one in blocks(page) if one.language != "sh" for line in one.text.splitlines()]
    return [line for line in lines if A_COMMAND.match(line)]


def _whole(line: str, following: Iterator[str]) -> str:
    while line.endswith(("\\\n", "|\n")):
        line += next(following)
    if begun := re.search(r"<<'?(\w+)", line):
        while not line.endswith(f"\n{begun[1]}\n"):
            line += next(following)
    return line


@dataclass
class Reader:
    """Has `programs` first on the path and types what pages say.

    Args:
        site: stands for example.org.
        demo_port: the first of a demo web that is served all the time; pages show it at 18080.
    """

    folder: Path
    programs: Path
    site: str
    demo_port: int = 18080

    def __post_init__(self) -> None:
        self._page, self._redis = str(free_port()), str(free_port())

    def types(self, typed: list[str]) -> subprocess.CompletedProcess[str]:
        """Fails where a command does, with all that was printed."""
        script = self.here("".join(typed))
        mark = Mark()
        done = subprocess.run(
            ["bash", "-c", TERMINALS + script],
            cwd=self.folder, env=self._environment() | mark.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=1800,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}"
        assert not mark.leftovers(120)  # what works beside a crawl ends after it
        return done

    def here(self, text: str) -> str:
        """With addresses of this machine in place of examples."""
        for example, real in (
            ("127.0.0.1 10.0.0.5", "127.0.0.1"),
            ("10.0.0.0/8", "127.0.0.1/32"),
            ("/var/lib/crawl", "crawl-here"),
            (":8000", f":{self._page}"),
        ):
            text = text.replace(example, real)
        text = re.sub(r"\b6379\b", self._redis, text)
        text = re.sub(r":180[89]\d\b", lambda port: f":{int(port[0][1:]) - 18080 + self.demo_port}", text)
        text = re.sub(rf"https?://({EXAMPLE})(?=[/ ,'*]|$)", self.site, text)
        return re.sub(rf"(?<!you@)(?<![\w.]){EXAMPLE}", "127.0.0.1", text)

    def _environment(self) -> dict[str, str]:
        variables = environment(self.folder, PAGE_PORT=self._page, REDIS_PORT=self._redis)
        variables |= {"ADDRESSES_ALLOWED": "127.0.0.1/32", "FRONTIER_DELAY": "0", "PARSER_WORKERS": "1"}
        variables |= {"VALKEY": VALKEY, "PATH": f"{self.programs}:{variables['PATH']}"}
        return {name: value for name, value in variables.items() if name not in ("CRAWL_DIR", "PYTHONPATH")}


def api_names(section: str) -> set[str]:
    """The parameters or keys that the tables in a section of the API's reference page name first."""
    text = (PROJECT / "docs/reference/search-api.md").read_text("utf-8")
    (found,) = re.findall(rf"(?ms)^##+ {section}\b(?:[:,].*?)?$(.*?)(?=^#|\Z)", text)
    return {name for cell in re.findall(r"(?m)^\| (`.*?) \|", found) for name in re.findall("`(.*?)`", cell)}
