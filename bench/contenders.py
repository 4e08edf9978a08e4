"""Who is measured, and by which rules: the same for all (issue: "all with the same rules")."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from processes import Measured, measure
from serving import ROOT

from webcrawler.archive.catalog import Catalog
from webcrawler.connection import connect
from webcrawler.index import applied_seq
from webcrawler.settings import SETTINGS

PEERS = Path(__file__).resolve().parent / "peers"
SEED = "http://directory.test/"
PEER_PACKAGES = ("crawlee[parsel]==1.11.0",)
CATCH_UP_SECONDS = 600.0

# The caller's settings of a crawl; and everybody may keep compiled modules, as a newcomer's Python does.
NOT_PASSED_ON = {*SETTINGS, "SCRAPY_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE"}
NOT_PASSED_ON |= {"no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"}
# No robots.txt, no delays, 32 connections to a server, http only, no retries.
RULES = {
    "ROBOTSTXT_OBEY": "no",
    "PROTOCOLS": "http",
    "CONCURRENT_REQUESTS": "32",
    "FRONTIER_SERVER_CONCURRENCY": "32",
    "FRONTIER_DELAY": "0",
    "CRAWL_DELAY_MAX": "0",
    "FRONTIER_TRIES": "1",
    "LOG_LEVEL": "WARNING",
}
SCRAPY_REDIS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "SCHEDULER_FLUSH_ON_START": "True",
}


class Web(NamedTuple):
    """What all of them crawl, and where they may write."""

    proxy: str
    peer_env: Path
    mode: str
    pages: int = 0  # of each crawl; 0: all


class Result(NamedTuple):
    """One crawl."""

    wall_seconds: float
    cpu_seconds: float  # of the crawling process
    others_cpu_seconds: float  # of the processes it started: parsers, Redis, follower
    requests: int
    documents: int
    catch_up_seconds: float | None = None  # from its exit until the index held all


def ours(web: Web, folder: Path) -> Result:
    """Everything on: frontier, parser pool, duplicates, WARC, catalog, index follower."""
    command, environment = our_crawl(web, folder)
    measured = _run(command, environment, folder, ROOT)
    return _result(measured, folder, catch_up(folder / "crawl"))


def plain(web: Web, folder: Path, spider: str = "plain", **settings: str) -> Result:
    """Bare Scrapy."""
    settings |= {"CLOSESPIDER_PAGECOUNT": str(web.pages)}
    command = _scrapy("runspider", PEERS / f"{spider}.py", folder, **settings)
    return _result(_run(command, _environment(web), folder), folder)


def scrapy_redis(web: Web, folder: Path, spider: str = "plain") -> Result:
    """The same spider over scrapy-redis, on a server of our own."""
    with connect(None, folder / "crawl") as connection:
        socket = connection.client.connection_pool.connection_kwargs["path"]
        result = plain(web, folder, spider, **SCRAPY_REDIS, REDIS_URL=f"unix://{socket}")
        used = connection.client.info("cpu")  # the server is ours, not the crawl's
        return result._replace(others_cpu_seconds=used["used_cpu_user"] + used["used_cpu_sys"])


def crawlee(web: Web, folder: Path) -> Result:
    """crawlee-python, in an environment of its own."""
    python = peer_program(web.peer_env, "python")
    command = [str(python), str(PEERS / "crawlee_peer.py"), SEED, str(folder / "counts.json"), str(web.pages)]
    environment = _environment(web)
    del environment["PYTHONPATH"]
    return _result(_run(command, environment, folder), folder)


CONTENDERS: dict[str, Callable[[Web, Path], Result]] = {
    "plain": plain,
    "scrapy-redis": scrapy_redis,
    "crawlee": crawlee,
    "ours": ours,
}


def our_crawl(web: Web, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Command and environment of our crawl; its data go to `folder`/crawl."""
    command = _scrapy("crawl", "index", folder)
    command += ["-a", f"mode={web.mode}", *(["-a", f"max_pages={web.pages}"] if web.pages else [])]
    return command, _environment(web) | RULES | {"CRAWL_DIR": str(folder / "crawl")}


def peer_program(environment: Path, name: str) -> Path:
    """A program of the peers' environment, which is made and filled at the first call."""
    ready = environment / "ready"
    if not ready.exists() or ready.read_text() != str(PEER_PACKAGES):
        venv.create(environment, with_pip=True)
        pip = [
            str(environment / "bin/python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, *PEER_PACKAGES], check=True, stderr=subprocess.DEVNULL)
        ready.write_text(str(PEER_PACKAGES))
    return environment / "bin" / name


def _scrapy(command: str, what: str | Path, folder: Path, **settings: str) -> list[str]:
    settings |= {"STATS_CLASS": "counts.CountsFile", "COUNTS_FILE": str(folder / "counts.json")}
    words = [
        sys.executable,
        "-m",
        "scrapy",
        command,
        str(what),
        "-a",
        f"seed{'s' * (command == 'crawl')}={SEED}",
    ]
    return words + [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


def _environment(web: Web) -> dict[str, str]:
    """The caller's, without his settings of a crawl."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
    return kept | {
        "http_proxy": web.proxy,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PEERS.parent, PEERS))),
    }


def _run(
    command: list[str], environment: dict[str, str], folder: Path, project: Path | None = None
) -> Measured:
    """Peers run outside of our project: its settings are not theirs."""
    log = folder / "log"
    measured = measure(command, environment, project or folder, log)
    if measured.status or not (folder / "counts.json").exists():
        sys.exit(f"bench: {' '.join(command)} ended with {measured.status}:\n{log.read_text()[-3000:]}")
    return measured


def _result(measured: Measured, folder: Path, catch_up_seconds: float | None = None) -> Result:
    counts = json.loads((folder / "counts.json").read_text())
    _, wall, cpu, others = measured
    return Result(wall, cpu, others, counts["requests"], counts["documents"], catch_up_seconds)


def catch_up(crawl_dir: Path) -> float:
    """Seconds until the follower, which goes on by itself, has applied all that the catalog holds."""
    started = time.perf_counter()
    catalog = Catalog(crawl_dir / "catalog.sqlite", readonly=True)
    last = catalog.last_seq()
    catalog.close()
    while applied_seq(crawl_dir / "index") < last:
        if time.perf_counter() - started > CATCH_UP_SECONDS:
            sys.exit(f"bench: the index has not caught up within {CATCH_UP_SECONDS:.0f} s")
        time.sleep(0.05)
    seconds = time.perf_counter() - started
    with (crawl_dir / "views.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # it tidies up before it ends; the next run shall have the machine
    return seconds
