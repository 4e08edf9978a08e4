"""Processes beside the crawls: one of a kind for each data folder, and the locks that say who is at work."""

from webcrawler.background.locks import (
    hold_crawl,
    hold_search,
    is_crawling,
    is_held,
    is_searched,
    may_end,
    try_lock,
)
from webcrawler.background.process import (
    FOLLOWER,
    POLL_SECONDS,
    RANKER,
    VOCABULARY,
    give_way,
    settle_in,
    when_made,
)
from webcrawler.background.renewal import Renewal

__all__ = [
    "FOLLOWER",
    "POLL_SECONDS",
    "RANKER",
    "VOCABULARY",
    "Renewal",
    "give_way",
    "hold_crawl",
    "hold_search",
    "is_crawling",
    "is_held",
    "is_searched",
    "may_end",
    "settle_in",
    "try_lock",
    "when_made",
]
