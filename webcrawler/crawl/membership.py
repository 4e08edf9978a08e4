"""A process as a worker of a frontier: from its first heartbeat to the return of its leases."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings

from webcrawler.connection import Connection, attempt, retry
from webcrawler.errors import WebcrawlerError
from webcrawler.frontier import (
    Budgets,
    Client,
    Frontier,
    Politeness,
    folder_name,
    maintenance,
    now_ms,
    ordering,
)
from webcrawler.orderings import guarded

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.5
ALIVE_SECONDS = 6.0  # a dead worker's leases are back within 10 s
SEARCHES_EVERY = 4  # beats
BEHIND_SHARE = 8  # one lease in so many goes to what is behind while others wait


def join(
    opened: ExitStack,
    connection: Connection,
    settings: BaseSettings,
    mode: str,
    politeness: Politeness,
    name: str,
) -> Frontier:
    """Makes this process a worker of a frontier. Closing `opened` gives back what is leased, and may block.

    Args:
        settings: for budgets and partitions.
    Raises:
        BadInput: there is no such mode, or the frontier was filled with another one.
    """
    worker = new_name(Path(settings["CRAWL_DIR"]))
    client = new_client(opened, connection)
    budgets, partitions = read_budgets(settings), settings.getint("FRONTIER_PARTITIONS")
    frontier = Frontier(client, guarded(mode), name, politeness, worker, budgets, partitions)
    retry(lambda: frontier.open(mode), connection.revive)
    retry(lambda: now_ms(client, frontier.partitions[0].base), connection.revive)  # may it be asked?
    own = frontier.on(new_client(opened, connection))
    heartbeat = retry(lambda: Heartbeat(own, connection.revive), connection.revive)
    opened.callback(sys.audit, "webcrawler.leave.after")
    opened.callback(attempt, frontier.leave, connection.revive)
    opened.callback(sys.audit, "webcrawler.leave.before")
    opened.callback(heartbeat.stop)
    return frontier


def new_name(folder: Path) -> str:
    """A name for this process as a worker, FOLDER@HOST-PROCESS-TOKEN.

    A restarted container has the host and process id of the one before, and so does not share the token.
    """
    return f"{folder_name(folder)}@{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


def new_client(opened: ExitStack, connection: Connection) -> Client:
    """A client without retries: a lease call sent twice would leave leases that belong to nobody."""
    return opened.enter_context(closing(connection.new_client(retries=0)))


def read_politeness(settings: BaseSettings, no_delay: bool = False) -> Politeness:
    """How servers are treated; the demo web is ours and needs no pauses."""
    return Politeness(
        delay=0.0 if no_delay else settings.getfloat("FRONTIER_DELAY"),
        crawl_delay_max=0.0 if no_delay else settings.getfloat("CRAWL_DELAY_MAX"),
        slowness=settings.getfloat("FRONTIER_SLOWNESS"),
        server_concurrency=settings.getint("FRONTIER_SERVER_CONCURRENCY"),
        tries=settings.getint("FRONTIER_TRIES"),
        backoff=0.2 if no_delay else settings.getfloat("FRONTIER_BACKOFF"),
    )


def read_budgets(settings: BaseSettings) -> Budgets:
    """How many URLs of each server, domain and path prefix are added."""
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
        behind=BEHIND_SHARE,
    )


class Heartbeat:
    """Says that this worker lives, from a thread of its own, as a busy event loop must not lose leases.

    It beats at once and then until `stop`; each beat also takes back the leases of dead workers.
    """

    def __init__(self, frontier: Frontier, revive: Callable[[], object]) -> None:
        self._frontier, self._revive = frontier, revive
        self._end = threading.Event()
        self._beats = count(1)
        self._beat()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(BEAT_SECONDS):
            try:
                self._beat()
            except (RedisError, WebcrawlerError) as error:
                logger.warning("no heartbeat: %s", error)
                try:
                    self._revive()
                except WebcrawlerError as away:
                    logger.warning("Redis is still away: %s", away)

    def _beat(self) -> None:
        sys.audit("webcrawler.heartbeat.before")
        expired = self._frontier.expire(ALIVE_SECONDS)
        self._frontier.meet()
        if next(self._beats) % SEARCHES_EVERY == 0:
            maintenance.look_after_searches(self._frontier.client)
        sys.audit("webcrawler.heartbeat.after")
        if expired:
            logger.info("%d leases of workers that died are back in the queue", expired)


def release_dead_workers(connection: Connection, name: str) -> None:
    """Takes back what dead processes of this machine hold, where all workers are of this machine."""
    if connection.embedded:
        Frontier(connection.client, ordering("fifo"), name).expire_dead(is_dead_process)


def release_dead_searches(connection: Connection) -> None:
    """The same for real-time searches, which have frontiers of their own."""
    known = {"is_dead": is_dead_process} if connection.embedded else {}
    maintenance.look_after_searches(connection.client, **known)


def is_dead_process(worker: str) -> bool:
    """Has the process of a worker of this machine ended? False where that cannot be told."""
    host, _, rest = worker.rpartition("@")[2].rpartition("-")[0].rpartition("-")
    if host != socket.gethostname() or not rest.isdecimal():
        return False
    try:
        os.kill(int(rest), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)  # else it is another user's
    return False
