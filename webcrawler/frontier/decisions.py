"""Why each URL was added, refused, leased, fetched, tried again or set aside: a line at DEBUG for each.

For people who ask why a crawl does what it does. The logger has a level of its own, since Scrapy has every
record made and drops it in the handler, which would cost one for each link.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from webcrawler.frontier.wire import PRIORITY_STEP
from webcrawler.records import Fetch, Lease

BEHIND = 2**52  # as in _1_names.lua
NAMED = {"retry": "tried again", "failed": "failed", "quarantined": "quarantined", "checked": "checked"}
log = logging.getLogger("webcrawler.decisions")
if log.level == logging.NOTSET:  # else a project's settings have set it
    log.setLevel(logging.INFO)


def are_logged() -> bool:
    return log.isEnabledFor(logging.DEBUG)


def log_leased(leases: Iterable[Lease]) -> None:
    for lease in leases:
        kind = "check" if lease.was else "retry" if lease.tries else "due"
        log.debug("leased %s: %s, priority %d, tries %d", lease.url, kind, lease.priority, lease.tries)


def log_taken_in(added: Sequence[bytes], refused: Sequence[bytes], page: str) -> None:
    """Log what became of links, as _4_intake.lua tells: URLs with scores, and with reasons."""
    where = f"on {page}" if page else "a seed"
    for url, score in zip(added[::2], added[1::2], strict=True):
        number = int(float(score))
        order = "behind others" if number >= BEHIND else f"priority {-(number // PRIORITY_STEP)}"
        log.debug("added %s: %s, %s", url.decode(), where, order)
    reasons = zip(refused[::2], refused[1::2], strict=True)
    log_refused(((url.decode(), why.decode()) for url, why in reasons), page)


def log_refused(links: Iterable[tuple[str, str]], page: str) -> None:
    """Log links that are not followed, and why."""
    for url, why in links:
        log.debug("refused %s: %s, %s", url, why, f"on {page}" if page else "a seed")


def log_fetched(fetches: Iterable[tuple[Fetch, str]]) -> None:
    """Log fetches, and what came of each as the batch tells: "done/document", "retry/timeout", …."""
    for fetch, outcome in fetches:
        state, _, reason = outcome.partition("/")
        if outcome != "stale":  # else somebody else holds the lease by now
            told = NAMED.get(state, "fetched"), fetch.lease.url, reason or state, fetch.status, fetch.seconds
            log.debug("%s %s: %s, status %s, %.3f s", *told)
