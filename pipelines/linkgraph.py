"""Who links to whom: for the catalog, and for the frontier what to follow."""

from __future__ import annotations

from webcrawler.extensions import CrawlPart
from webcrawler.items import CrawledPage


class LinkGraphPipeline(CrawlPart):
    """Every outlink is recorded; those refused, nofollow, or out of the job's bounds are not followed."""

    def process_item(self, item: object) -> object:
        if isinstance(item, CrawledPage):
            page, within_job = item.page, self._crawl.within_job
            links = page.links
            if self._crawl.is_bounded:
                links = tuple(map(within_job, links))
            if page.nofollow:
                links = tuple(link._replace(rel="nofollow") for link in links)
            item.entry.links = links
            item.entry.refused = page.refused
        return item
