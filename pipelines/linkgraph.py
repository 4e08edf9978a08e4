"""Who links to whom: for the catalog, and for the frontier what to follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webcrawler.extensions import Crawl
from webcrawler.items import CrawledPage

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class LinkGraphPipeline:
    """Every outlink is recorded; those refused, nofollow, or out of the job's domains are not followed."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LinkGraphPipeline:
        return cls(Crawl.of(crawler))

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            page, within_job = item.page, self._crawl.within_job
            links = page.links
            if self._crawl.job.domains:
                links = tuple(map(within_job, links))
            if page.nofollow:
                links = tuple(link._replace(rel="nofollow") for link in links)
            item.entry.links = links
            item.entry.refused = page.refused
        return item
