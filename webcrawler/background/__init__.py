"""Processes beside the crawls, and when each makes its view of the catalog anew."""

from webcrawler.background.companions import (
    FOLLOWER,
    POLL_SECONDS,
    RANKER,
    VOCABULARY,
    hold_crawl,
    hold_search,
    is_crawling,
    is_held,
    is_searched,
    lower_priority,
    may_end,
    prepare,
    try_lock,
    wait_for,
)
from webcrawler.background.renewal import Renewal

__all__ = [
    "FOLLOWER",
    "POLL_SECONDS",
    "RANKER",
    "VOCABULARY",
    "Renewal",
    "hold_crawl",
    "hold_search",
    "is_crawling",
    "is_held",
    "is_searched",
    "lower_priority",
    "may_end",
    "prepare",
    "try_lock",
    "wait_for",
]
