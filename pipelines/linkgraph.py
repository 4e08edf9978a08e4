"""Who links to whom: for the catalog, and for the frontier what to follow."""

from __future__ import annotations

from dataclasses import replace

from webcrawler.crawl import CrawledPage
from webcrawler.crawl.run import PagePipeline
from webcrawler.records import Entry


class LinkGraphPipeline(PagePipeline):
    """Every outlink is recorded; those refused, nofollow, or out of the job's bounds are not followed."""

    def add(self, entry: Entry, item: CrawledPage) -> Entry:
        links = self._crawl.rules.apply_to_all(item.page.links)
        if item.page.nofollow:
            links = tuple(link._replace(rel="nofollow") for link in links)
        return replace(entry, links=links, refused=item.page.refused)
