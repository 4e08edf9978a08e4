"""Scrapy's side: what Scrapy makes for a crawl, one by one, and what these share while it runs.

`run/` is an index crawl and what it holds open, `dropin/` the worker of other people's spiders,
`middlewares/` and `robots/` stand between frontier and download. `base` (what Scrapy's scheduler asks of a worker),
`membership`, `open_leases`, `resolver` and `responses` are for any spider at work on a frontier.
"""

from webcrawler.crawl import wiring
from webcrawler.crawl.items import CrawledPage

__all__ = ["CrawledPage", "wiring"]
