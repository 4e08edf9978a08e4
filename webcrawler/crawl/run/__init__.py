"""An index crawl, `Crawl`, and what it holds open while it runs."""

from webcrawler.crawl.run.agents import Agents
from webcrawler.crawl.run.checks import refuse_other_checks
from webcrawler.crawl.run.crawl import AGENTS, Crawl, CrawlPart, PagePipeline
from webcrawler.crawl.run.lost import LOST, fill_again, forget, refuse_if_lost
from webcrawler.crawl.run.outcomes import Decided
from webcrawler.crawl.run.rules import keep_scope
from webcrawler.crawl.run.stores import lock_folder

__all__ = [
    "AGENTS",
    "LOST",
    "Agents",
    "Crawl",
    "CrawlPart",
    "Decided",
    "PagePipeline",
    "fill_again",
    "forget",
    "keep_scope",
    "lock_folder",
    "refuse_if_lost",
    "refuse_other_checks",
]
