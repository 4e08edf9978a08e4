"""What a run with `refresh=` shares with others of its frontier, and what it says of its checks and waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

from webcrawler import clock
from webcrawler.connection import Connection
from webcrawler.crawl.membership import release_dead_workers
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, inspect

logger = logging.getLogger(__name__)
ENDLESS = ("yes", "only")
IDLE_SECONDS = 5.0  # without anything to do, before a run says what it waits for
TELL_SECONDS = 60.0
SHOWN = 3  # servers, by name


def refuse_other_checks(connection: Connection, frontier: Frontier, refresh: str) -> None:
    """Raises BadInput: crawls are at work whose checks are made in another way; a frontier has one way."""
    now = frontier.refresh.partition(" ")[0]
    if refresh == "no" or now in ("", refresh):
        return
    release_dead_workers(connection, frontier.name)
    frontier.expire()
    if frontier.workers():
        raise BadInput(
            f"other crawls of this frontier are at work, with refresh={now}: "
            f"end them first, or say refresh={now} here, too"
        )


def begin(frontier: Frontier, refresh: str, left: Callable[[float], int]) -> None:
    """Tell the refresher what to do. A pass over all documents that was interrupted is gone on with.

    Args:
        left: how many documents are to be checked that have not been fetched since a time.
    """
    now = frontier.refresh
    if refresh == "once" and now.startswith("once "):
        since = float(now.partition(" ")[2])
        begun = datetime.fromtimestamp(since, UTC)
        logger.warning(
            "going on with the checks of %s UTC: %s left", f"{begun:%d %b %H:%M}", f"{left(since):,}"
        )
    elif refresh == "once":
        frontier.refresh = f"once {clock.now()}"
    elif refresh in ENDLESS:
        frontier.refresh = refresh


def end(frontier: Frontier) -> None:
    """After the last of the crawls that make checks without end, none are made."""
    if not frontier.workers():
        frontier.refresh = ""


class Waits:
    """Says in the log, at most once a minute, for which servers that have failed a run waits idly."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._idle_since = time.monotonic()
        self._told = self._asked = float("-inf")

    def note(self, is_idle: bool) -> None:
        """To be called at every lease; blocks."""
        now = time.monotonic()
        if not is_idle:
            self._idle_since = now
        latest = max(self._idle_since, self._asked)
        if now - latest < IDLE_SECONDS or now - self._told < TELL_SECONDS:
            return
        self._asked = now
        if failing := inspect.failing(self._frontier):
            logger.warning("waiting for retries of %s", _in_words(failing))
            self._told = now


def _in_words(failing: list[inspect.Failing]) -> str:
    some = [
        f"{one.server} ({one.urls:,} URL{'s' * (one.urls != 1)}, next in {one.due_seconds:.0f} s)"
        for one in failing[:SHOWN]
    ]
    more = len(failing) - SHOWN
    return ", ".join(some) + (f" and {more:,} more servers" if more > 0 else "")
