"""An index crawl, `Crawl`, and what it holds open while it runs; `LiveLine` shows it on a terminal."""

from webcrawler.crawl.run.crawl import Crawl, CrawlPart, PagePipeline
from webcrawler.crawl.run.live import LiveLine
from webcrawler.crawl.run.outcomes import Decided, Outcomes
from webcrawler.crawl.run.rules import LinkRules
from webcrawler.crawl.run.stores import lock_folder

__all__ = [
    "Crawl",
    "CrawlPart",
    "Decided",
    "LinkRules",
    "LiveLine",
    "Outcomes",
    "PagePipeline",
    "lock_folder",
]
