"""What a crawl holds open (`Crawl`) and what a person sees of it (`LiveLine`)."""

from webcrawler.extensions.crawl import Crawl, CrawlPart
from webcrawler.extensions.live import LiveLine

__all__ = ["Crawl", "CrawlPart", "LiveLine"]
