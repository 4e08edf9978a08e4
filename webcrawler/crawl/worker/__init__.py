"""A process at work on a frontier: its membership, leases out and reports in, for any spider."""

from webcrawler.crawl.worker import parts
from webcrawler.crawl.worker.answers import (
    SLOW_DOWN,
    Refused,
    headers_of,
    is_other_type,
    reason_of,
    reason_of_error,
    retry_after_seconds,
)
from webcrawler.crawl.worker.leases import Leases
from webcrawler.crawl.worker.member import Member, bury_searches, bury_the_dead
from webcrawler.crawl.worker.resolver import GuardedResolver
from webcrawler.crawl.worker.worker import Worker

__all__ = [
    "SLOW_DOWN",
    "GuardedResolver",
    "Leases",
    "Member",
    "Refused",
    "Worker",
    "bury_searches",
    "bury_the_dead",
    "headers_of",
    "is_other_type",
    "parts",
    "reason_of",
    "reason_of_error",
    "retry_after_seconds",
]
