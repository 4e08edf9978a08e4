"""An index crawl, `Crawl`, and what it holds open while it runs."""

from webcrawler.crawl.run.agents import Agents
from webcrawler.crawl.run.crawl import AGENTS, Crawl, CrawlPart, PagePipeline
from webcrawler.crawl.run.logins import Logins
from webcrawler.crawl.run.lost import (
    LOST,
    begin,
    fill_again,
    forget,
    has_begun,
    keep_begun,
    refuse_if_lost,
    refuse_other_checks,
)
from webcrawler.crawl.run.outcomes import Decided
from webcrawler.crawl.run.rules import LinkRules, Sitemaps, keep_scope
from webcrawler.crawl.run.seeds import claim
from webcrawler.crawl.run.stores import lock_folder, parser_pool, removal_limits

__all__ = [
    "AGENTS",
    "LOST",
    "Agents",
    "Crawl",
    "CrawlPart",
    "Decided",
    "LinkRules",
    "Logins",
    "PagePipeline",
    "Sitemaps",
    "begin",
    "claim",
    "fill_again",
    "forget",
    "has_begun",
    "keep_begun",
    "keep_scope",
    "lock_folder",
    "parser_pool",
    "refuse_if_lost",
    "refuse_other_checks",
    "removal_limits",
]
