"""What time is it, how often does a process look what others have done, and what is drawn by lot?

Tests set each of them, for a process and those that it starts. WEBCRAWLER_CLOCK sets the time: `+86400` or
`-3600`, seconds from the clock of the machine, or `@1700000000.55`, a moment at which it stands.
WEBCRAWLER_PACE multiplies the times between two looks: with 0.1 a process waits a tenth as long. None of them
is a limit that work has to keep, on however slow a machine, and none is politeness. WEBCRAWLER_SEED makes a
process draw the same again.

A clock may be set back, or have been ahead when something was stored. So durations go by `time.monotonic`,
and what lies in the future is now: a stored time is never taken for later than the present (`past`), and what
is said to have happened then is done again (`happened`).

It does not set the clocks of others: that of durations (`time.monotonic`), of Redis, by which leases and
politeness go, of the file system, and of libraries.
"""

from __future__ import annotations

import os
import re
import time
from random import Random
from typing import Any

NAME = "WEBCRAWLER_CLOCK"
PACE = "WEBCRAWLER_PACE"
SEED = "WEBCRAWLER_SEED"

draws = Random()

_seconds, _runs = 0.0, True


def now() -> float:
    """Seconds since 1970."""
    return _seconds + (time.time() if _runs else 0.0)


def past(moment: float) -> float:
    """A time that was stored, or that others tell, as one that is over."""
    return min(moment, now())


def happened(moment: Any, since: float) -> Any:
    """Between that time and now? For each time of an array, too. What lies in the future did not."""
    return (since <= moment) & (moment <= now())


def age(file: os.stat_result) -> float:
    """Seconds since a file was changed, by the clock of file systems: `now` may be another."""
    return time.time() - file.st_mtime


def set_to(to: str) -> None:
    """Set the clock of this process, as WEBCRAWLER_CLOCK does; empty: it is the machine's.

    Raises SystemExit: it is none of these.
    """
    global _seconds, _runs
    if not re.fullmatch(r"([+-]\d+(\.\d+)?|@\d+(\.\d+)?)?", to):
        raise SystemExit(f"{NAME}={to[:60]} is not valid: +SECONDS, -SECONDS, or @SECONDS since 1970")
    _seconds, _runs = float(to.lstrip("@") or 0), not to.startswith("@")


set_to(os.environ.get(NAME, ""))


def seed(agent: int = 1) -> None:
    """Begin to draw anew: by WEBCRAWLER_SEED, where it is set, and then differently for each agent."""
    text = os.environ.get(SEED)
    draws.seed(f"{text} {agent}" if text else None)


seed()


def _factor(said: str) -> float:
    """Raises SystemExit: it is no number above 0."""
    if not re.fullmatch(r"\d+(\.\d+)?", said) or not float(said):
        raise SystemExit(f"{PACE}={said[:60]} is not valid: a number above 0, such as 0.1")
    return float(said)


_PACE = _factor(os.environ.get(PACE) or "1")

# ---- Crawls

SCHEDULER_POLL_SECONDS = 1.0 * _PACE  # other workers may find something, or end the crawl
SEEDS_POLL_SECONDS = 1.0 * _PACE  # between looks at the seeds' key
FORMS_POLL_SECONDS = 1.0 * _PACE  # another process may have fetched the last page that a form waits for
ROBOTS_PAUSE_SECONDS = 0.5 * _PACE  # while Redis, which keeps the rules, is away
CATALOG_WAIT_SECONDS = 10.0 * _PACE  # to wait until the log says why, and between two such lines
SEEDS_FIRST_SECONDS = 2.0 * _PACE  # before a new data folder gets the demo web: others may name seeds
METRICS_WRITE_SECONDS = 2.0 * _PACE

# ---- Processes beside them

WATCH_SECONDS = 5.0 * _PACE  # between two looks whether they are at work
COMPANION_POLL_SECONDS = 0.5 * _PACE  # between two looks for something to do, and for crawls
INDEX_POLL_SECONDS = 0.5 * _PACE
RESULTS_POLL_SECONDS = 60.0 * _PACE  # between two looks for what jobs over all folders have found
RANKS_NEWS_SECONDS = 5.0 * _PACE  # after the last look, if there is any news at all
RANKS_RETRY_SECONDS = 2.0 * _PACE  # Redis is away
RANKS_IDLE_SECONDS = 20.0 * _PACE  # the ordering follows no ranks, or fails; a later one may do better
PUTTING_RETRY_SECONDS = 5.0 * _PACE  # the store of WARC files is away; longer with each try in vain

# ---- Searches of the web, and the search page

SEARCH_POLL_SECONDS = 0.25 * _PACE  # between two steps
LIVE_WATCH_SECONDS = 0.5 * _PACE  # between two checks of a search that the page has started
