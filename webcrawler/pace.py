"""How often does a process look what others have done?

WEBCRAWLER_PACE multiplies these times, for a process and those that it starts: with 0.1 it waits a tenth as
long, as in tests. None is a limit that work has to keep, on however slow a machine, and none is politeness.
"""

from __future__ import annotations

import os
import re

NAME = "WEBCRAWLER_PACE"


def _factor(said: str) -> float:
    """Raises SystemExit: it is no number above 0."""
    if not re.fullmatch(r"\d+(\.\d+)?", said) or not float(said):
        raise SystemExit(f"{NAME}={said[:60]} is not valid: a number above 0, such as 0.1")
    return float(said)


_PACE = _factor(os.environ.get(NAME) or "1")

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
RANKS_NEWS_SECONDS = 5.0 * _PACE  # after the last look, if there is any news at all
RANKS_RETRY_SECONDS = 2.0 * _PACE  # Redis is away
RANKS_IDLE_SECONDS = 20.0 * _PACE  # the ordering follows no ranks, or fails; a later one may do better

# ---- Searches of the web, and the search page

SEARCH_POLL_SECONDS = 0.25 * _PACE  # between two steps
LIVE_WATCH_SECONDS = 0.5 * _PACE  # between two checks of a search that the page has started
