"""A process at work on a frontier: its membership, leases out and reports in, for any spider."""

from webcrawler.crawl.worker.answers import (
    SLOW_DOWN,
    Refused,
    headers_of,
    is_other_type,
    reason_of,
    reason_of_error,
    retry_after_seconds,
)
from webcrawler.crawl.worker.configuration import read_budgets, read_politeness, read_user_agent, read_words
from webcrawler.crawl.worker.leases import Leases
from webcrawler.crawl.worker.membership import Member, release_dead_searches, release_dead_workers
from webcrawler.crawl.worker.resolver import GuardedResolver
from webcrawler.crawl.worker.worker import Worker

__all__ = [
    "SLOW_DOWN",
    "GuardedResolver",
    "Leases",
    "Member",
    "Refused",
    "Worker",
    "headers_of",
    "is_other_type",
    "read_budgets",
    "read_politeness",
    "read_user_agent",
    "read_words",
    "reason_of",
    "reason_of_error",
    "release_dead_searches",
    "release_dead_workers",
    "retry_after_seconds",
]
