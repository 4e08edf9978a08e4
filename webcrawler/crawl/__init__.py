"""Scrapy's side: what Scrapy makes for a crawl, one by one, and what these share while it runs.

`run/` is an index crawl and what it holds open, `dropin/` the worker of other spiders, of any Scrapy project;
`middlewares` and `robots` stand between frontier and download. Any spider at work on a frontier uses
`base` (what Scrapy's scheduler asks), `membership`, `open_leases`, `peers` and `responses`.
"""

from webcrawler.crawl import wiring
from webcrawler.crawl.responses import (
    CODINGS_MAX,
    PARSED,
    has_many_members,
    headers_of,
    reason_of,
    redirect_target,
)
from webcrawler.crawl.robots import RobotsCache, RobotsMiddleware
from webcrawler.crawl.wiring import CrawledPage

__all__ = [
    "CODINGS_MAX",
    "PARSED",
    "CrawledPage",
    "RobotsCache",
    "RobotsMiddleware",
    "has_many_members",
    "headers_of",
    "reason_of",
    "redirect_target",
    "wiring",
]
