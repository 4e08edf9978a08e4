"""A process at work on a frontier: its membership, leases out and reports in, for any spider."""

from webcrawler.crawl.worker.base import Worker
from webcrawler.crawl.worker.membership import (
    for_thread,
    join,
    read_budgets,
    read_politeness,
    release_dead_searches,
    release_dead_workers,
)
from webcrawler.crawl.worker.open_leases import OpenLeases
from webcrawler.crawl.worker.resolver import GuardedResolver
from webcrawler.crawl.worker.responses import (
    Refused,
    codings_of,
    headers_of,
    is_other_type,
    reason_of,
    reason_of_error,
    report_of,
)

__all__ = [
    "GuardedResolver",
    "OpenLeases",
    "Refused",
    "Worker",
    "codings_of",
    "for_thread",
    "headers_of",
    "is_other_type",
    "join",
    "read_budgets",
    "read_politeness",
    "reason_of",
    "reason_of_error",
    "release_dead_searches",
    "release_dead_workers",
    "report_of",
]
