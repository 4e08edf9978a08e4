"""Scrapy's side: what Scrapy makes for a crawl, one by one, and what these share while it runs.

`run/` is an index crawl and what it holds open, `worker/` what any spider needs of a frontier, `dropin/`
other people's spiders, `middlewares/` and `robots/` what stands between frontier and download.
"""

from webcrawler.crawl import wiring
from webcrawler.crawl.items import CrawledPage

__all__ = ["CrawledPage", "wiring"]
