"""An index crawl, `Crawl`, and what it holds open while it runs; `LiveLine` shows it on a terminal."""

from webcrawler.crawl.run.crawl import Crawl, CrawlPart
from webcrawler.crawl.run.live import LiveLine

__all__ = ["Crawl", "CrawlPart", "LiveLine"]
