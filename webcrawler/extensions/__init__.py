"""What a run holds open: a `Worker` at a frontier; a `Crawl` is one that archives, with a `LiveLine`."""

from webcrawler.extensions.crawl import Crawl, CrawlPart
from webcrawler.extensions.live import LiveLine
from webcrawler.extensions.worker import Worker

__all__ = ["Crawl", "CrawlPart", "LiveLine", "Worker"]
