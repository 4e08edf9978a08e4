"""The parts of a crawl, made from settings."""

from __future__ import annotations

import logging
import os
import resource
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from scrapy.settings import BaseSettings

from webcrawler.background import hold_crawl
from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Politeness
from webcrawler.parsing import ParserPool

logger = logging.getLogger(__name__)
T = TypeVar("T")

START_SECONDS = 30.0  # that a crawl waits for a Redis that answers and refuses


def words(value: str | Sequence[str]) -> list[str]:
    """The words of a list setting, "http, https" as well; lower case."""
    found = value.split(",") if isinstance(value, str) else value
    return [word.strip().lower() for word in found if word.strip()]


def politeness(settings: BaseSettings, no_delay: bool = False) -> Politeness:
    """How servers are treated; the demo web is ours and needs no pauses."""
    return Politeness(
        delay=0.0 if no_delay else settings.getfloat("FRONTIER_DELAY"),
        crawl_delay_max=0.0 if no_delay else settings.getfloat("CRAWL_DELAY_MAX"),
        slowness=settings.getfloat("FRONTIER_SLOWNESS"),
        server_concurrency=settings.getint("FRONTIER_SERVER_CONCURRENCY"),
        tries=settings.getint("FRONTIER_TRIES"),
        backoff=0.2 if no_delay else settings.getfloat("FRONTIER_BACKOFF"),
        deaths=settings.getint("FRONTIER_DEATHS"),
    )


def budgets(settings: BaseSettings) -> Budgets:
    """How much of each server, domain and path prefix is taken in."""
    share, _, of = str(settings["BUDGET_DOMAIN_SHARE"]).partition("/")
    return Budgets(
        server=settings.getint("BUDGET_SERVER"),
        domain=settings.getint("BUDGET_DOMAIN"),
        domain_servers=settings.getint("BUDGET_DOMAIN_SERVERS"),
        prefix=settings.getint("BUDGET_PREFIX"),
        share=int(share or 0),
        share_of=int(of or 0),
        queued=settings.getint("FRONTIER_MAX_URLS"),
        repeats=settings.getint("BUDGET_REPEATS"),
    )


def user_agent(settings: BaseSettings) -> str:
    """An honest name, and where people can write to."""
    name, contact = settings["USER_AGENT"], settings["USER_AGENT_CONTACT"]
    return f"{name} (+{contact})" if contact and contact not in name else str(name)


def raise_file_limit() -> None:
    """As many descriptors as we may have: a broad crawl keeps connections to many servers open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a limit of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def worker_name() -> str:
    """Of this process and no other: a restarted container has the host and process id of the one before."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def is_dead_process(worker: str) -> bool:
    """Has the process of a worker of this machine ended? False where that cannot be told."""
    host, _, rest = worker.rpartition("-")[0].rpartition("-")
    if host != socket.gethostname() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def parser_pool(settings: BaseSettings) -> ParserPool:
    """As many parsers as the machine has cores beside the crawl's own."""
    workers = settings.getint("PARSER_WORKERS") or max(1, (os.cpu_count() or 2) - 1)
    return ParserPool(workers, settings.getfloat("PARSER_TIMEOUT"), settings.getint("PARSER_MEMORY"))


def crawl_lock(folder: Path) -> IO[str]:
    """Says, as long as it is open, that a crawl of this data folder is alive.

    Raises:
        BadInput: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return hold_crawl(folder)
    except OSError as error:
        raise BadInput(f"cannot write the data folder {folder}: {error.strerror}; set CRAWL_DIR") from None
